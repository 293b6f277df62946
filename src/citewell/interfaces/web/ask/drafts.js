/**
 * What is half written, kept in this tab: another part of the page, or a reload, loses none of it.
 * The one rule: what one person wrote is never shown to another.
 */
import { me, user } from "../state.js";

const NAME = "citewell.drafts";
const MOST = 20; // conversations

/** @param {string} talk its id or its place; empty: the one that is being begun */
export function draftOf(talk) {
  return read()[keyOf(talk)] ?? "";
}

/** @param {string} talk @param {string} text */
export function keepDraft(talk, text) {
  const { [keyOf(talk)]: before, ...others } = read();
  if (text === (before ?? "")) return;
  const all = text ? { ...others, [keyOf(talk)]: text } : others;
  try {
    if (Object.keys(all).length) sessionStorage.setItem(NAME, JSON.stringify(Object.fromEntries(Object.entries(all).slice(-MOST))));
    else sessionStorage.removeItem(NAME);
  } catch {
    // then a reload loses it
  }
}

/** @param {string} talk */
function keyOf(talk) {
  return `${me.peek()?.user_id ?? ""} ${user.peek()} ${talk}`;
}

/** @returns {Record<string, string>} */
function read() {
  try {
    return JSON.parse(sessionStorage.getItem(NAME) ?? "{}") ?? {};
  } catch {
    return {};
  }
}
