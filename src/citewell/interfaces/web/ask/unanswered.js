/**
 * Questions of which it is not known what became of them, kept in this tab: a page that is loaded anew finds them.
 * The one rule: what one person asked is never shown to another.
 */
import { me, user } from "../state.js";

/** @typedef {import("./types.js").Request} Request */
/** @typedef {{key: string, talk: string, at: number, trace_id: string, request: Request}} Unanswered  `talk`: empty where it is not kept yet */

const NAME = "citewell.unanswered";
const MOST = 10;

/** Those of one conversation, in the order they were asked. @param {string} talk @returns {Unanswered[]} */
export function unansweredIn(talk) {
  return read().filter((each) => each.talk === talk && each.by === person());
}

/** @param {Unanswered} asked */
export function keepUnanswered(asked) {
  const all = read();
  const at = all.findIndex((each) => each.key === asked.key);
  all.splice(at < 0 ? all.length : at, at < 0 ? 0 : 1, { ...asked, by: person() });
  write(all.slice(-MOST));
}

/** Their conversation got its name. @param {string[]} keys @param {string} talk */
export function placeUnanswered(keys, talk) {
  write(read().map((each) => (keys.includes(each.key) ? { ...each, talk } : each)));
}

/** @param {string} key */
export function dropUnanswered(key) {
  write(read().filter((each) => each.key !== key));
}

function person() {
  return `${me.peek()?.user_id ?? ""} ${user.peek()}`; // whoever keeps one is not to keep it again for the next person
}

/** @returns {(Unanswered & {by: string})[]} */
function read() {
  try {
    const all = JSON.parse(sessionStorage.getItem(NAME) ?? "[]");
    return Array.isArray(all) ? all.filter((each) => typeof each?.key === "string" && typeof each.request?.question === "string") : [];
  } catch {
    return []; // a browser that keeps nothing
  }
}

/** @param {unknown[]} all */
function write(all) {
  try {
    if (all.length) sessionStorage.setItem(NAME, JSON.stringify(all));
    else sessionStorage.removeItem(NAME);
  } catch {
    // then a reload loses them, as the tab does when it is closed
  }
}
