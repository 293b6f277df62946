/**
 * Conversations: those on the server, and those open here with their answers in the making.
 * The one rule: an answer in the making belongs to its conversation, not to the view, so it goes on while the reader looks elsewhere.
 */
import { del, get, patch } from "../api.js";
import { go, route } from "../state.js";
import { batch, signal } from "../ui/html.js";
import { effect } from "@preact/signals";
import { counts, listing, NEWEST } from "../talks/listing.js";
import { isShelf } from "./attachments.js";
import { draftOf, keepDraft } from "./drafts.js";
import { joined } from "./history.js";
import { leavesOpen } from "./recover.js";
import { newRun } from "./stream.js";
import { dropUnanswered, keepUnanswered, placeUnanswered, unansweredIn } from "./unanswered.js";

/** @typedef {import("./types.js").Answer} Answer */
/** @typedef {import("./types.js").Request} Request */
/** @typedef {import("./types.js").Session} Session */
/** @typedef {import("./stream.js").Run} Run */
/** @template T @typedef {import("@preact/signals").Signal<T>} Signal */
/** @typedef {{trace_id: string, agent: string, question: string, session_id: string, updated_at: number}} Unfinished */
/** @typedef {{trace_id: string, agent: string, question: string, session_id: string, started_at: number}} Underway */

/**
 * A question and what came of it: `run` while it is asked from here, `answer` as it is kept, or only the words that were `said`.
 * @typedef {object} Turn
 * @property {string} key
 * @property {string} question
 * @property {Partial<Request>} request
 * @property {number} at  seconds since the epoch; 0: not known
 * @property {Run} [run]
 * @property {Answer} [answer]
 * @property {string} [said]
 */

/**
 * @typedef {object} Talk
 * @property {string} place  where it is held, such as `@data/costs`; empty: in the part of the page that is for conversations
 * @property {Signal<string>} id  empty: not kept yet
 * @property {Signal<Turn[]>} turns
 * @property {Signal<string>} text  what stands in the composer
 * @property {Signal<import("./attachments.js").Attached[]>} attached
 * @property {Signal<string>} shelf  the collection of what is attached; empty: nothing is
 * @property {Signal<boolean>} loading
 * @property {Signal<unknown>} error
 * @property {Signal<Session | null>} session
 */

export const sessions = signal(/** @type {Session[] | null} */ (null));
export const sessionsError = signal(/** @type {unknown} */ (null));
export const unfinished = signal(/** @type {Unfinished[]} */ ([]));
/** By name. */
export const folders = signal(/** @type {import("./types.js").Folder[]} */ ([]));
/** Questions of this person that are answered now and stand in no conversation that is open here. */
export const underway = signal(/** @type {Underway[]} */ ([]));

let talks = new Map(/** @type {[string, Talk][]} */ ([]));
let count = 0;

/** @returns {Talk} */
function newTalk(id = "", place = "") {
  return {
    place,
    id: signal(id),
    turns: signal(/** @type {Turn[]} */ ([])),
    text: signal(draftOf(place || id)),
    attached: signal(/** @type {import("./attachments.js").Attached[]} */ ([])),
    shelf: signal(""),
    loading: signal(Boolean(id)),
    error: signal(/** @type {unknown} */ (null)),
    session: signal(/** @type {Session | null} */ (null)),
  };
}

/** The conversation of an id, or the one that is held at a place (`@…`); empty: the one that is being begun. @param {string} key */
export function talkOf(key) {
  let talk = talks.get(key);
  if (!talk) {
    const [id, place] = key.startsWith("@") ? ["", key] : [key, ""];
    talk = newTalk(id, place);
    talks.set(key, talk);
    const { id: name, text } = talk;
    effect(() => keepDraft(place || name.value, text.value));
    found(talk);
    if (id) void load(talk);
  }
  return talk;
}

/** A new one, empty; an answer in the making of the one before goes on, and is found in the list when it is kept. */
export function beginTalk(place = "") {
  const before = talks.get(place);
  if (!before?.turns.value.length) return;
  for (const turn of before.turns.value) if (!turn.run?.busy.value) dropUnanswered(turn.key);
  talks.delete(place);
}

/** Another person is asking: nothing of the one before stays. */
export function forgetTalks() {
  for (const talk of talks.values()) for (const turn of talk.turns.value) letGo(turn);
  talks = new Map();
  sessions.value = null;
  listing.value = NEWEST;
  unfinished.value = underway.value = [];
}

export async function loadSessions() {
  try {
    const [kept, runs] = await Promise.all([get("/sessions", listing.value), get("/runs").catch(() => ({ runs: [] }))]);
    batch(() => {
      sessions.value = kept.sessions;
      folders.value = kept.folders;
      counts.value = { total: kept.total, archived: kept.archived, agents: kept.agents };
      unfinished.value = runs.runs;
      underway.value = (runs.live ?? []).filter((/** @type {Underway} */ each) => !isHeard(each));
      sessionsError.value = null;
    });
  } catch (error) {
    sessionsError.value = error;
  }
}

/** What was said meanwhile, in another window or on another device. @param {Talk} talk */
export async function lookAgain(talk) {
  const said = () => sessions.value?.find((each) => each.session_id === talk.id.value)?.messages ?? 0;
  const before = said();
  await loadSessions();
  if (said() > before && !talk.turns.value.some((turn) => turn.run?.busy.value)) await load(talk);
}

/** Its history, with whole answers as far back as they are kept. @param {Talk} talk */
export async function load(talk) {
  const path = `/sessions/${encodeURIComponent(talk.id.value)}`;
  talk.loading.value = true;
  talk.error.value = null;
  try {
    const [session, { answers }] = await Promise.all([get(path), get(`${path}/answers`)]);
    batch(() => {
      talk.session.value = session;
      const asked = answers.flatMap((/** @type {{request: Partial<Request>}} */ each) => each.request.options?.["collections"] ?? []);
      talk.shelf.value ||= asked.findLast(isShelf) ?? "";
      const before = joined(session.history, answers);
      const known = new Set(before.map((turn) => turn.key));
      talk.turns.value = [...before, ...talk.turns.value.filter((turn) => turn.run && !known.has(turn.run.answer.value?.trace_id ?? ""))];
      talk.loading.value = false;
    });
  } catch (error) {
    batch(() => {
      talk.error.value = error;
      talk.loading.value = false;
    });
  }
}

/** @param {Talk} talk @param {Request} request */
export async function send(talk, request) {
  const run = newRun();
  /** @type {Turn} */
  const turn = { key: newKey(), question: request.question, request, at: Date.now() / 1000, run };
  talk.turns.value = [...talk.turns.value, turn];
  await ask(talk, turn, run, request);
}

/** Once more in its place: a run that was stopped goes on, a failed one is asked anew. @param {Talk} talk @param {Turn} turn @param {boolean} goOn */
export async function again(talk, turn, goOn) {
  const run = turn.run ?? newRun();
  const kept = goOn && run.resumable.value && run.traceId.value;
  const request = kept ? { question: turn.question, resume: kept } : { ...turn.request, question: turn.question };
  if (!kept && talk.id.value) request.session_id = talk.id.value;
  await ask(talk, turn, run, request);
}

/** The same question, with what it was asked with, at the end of the conversation. @param {Talk} talk @param {Turn} turn */
export async function askAnew(talk, turn) {
  const { session_id: _, resume: __, ...request } = turn.request;
  await send(talk, { ...request, question: turn.question, ...(talk.id.value ? { session_id: talk.id.value } : {}) });
}

/** Go on with a run that was stopped before this page was opened. @param {Unfinished} left */
export async function goOn(left) {
  const open = talks.get(left.session_id) ?? talks.get("");
  const stands = open?.turns.value.find((each) => each.run?.resumable.value && each.run.traceId.value === left.trace_id);
  if (open && stands) {
    go(open.id.value ? `/ask/${open.id.value}` : "/ask");
    await again(open, stands, true);
    return;
  }
  beginTalk();
  const talk = talkOf(left.session_id);
  go(left.session_id ? `/ask/${left.session_id}` : "/ask");
  unfinished.value = unfinished.value.filter((each) => each.trace_id !== left.trace_id);
  const run = newRun();
  const request = { question: left.question, agent: left.agent };
  const turn = { key: newKey(), question: left.question, request, at: left.updated_at, run };
  talk.turns.value = [...talk.turns.value, turn];
  await ask(talk, turn, run, { question: left.question, resume: left.trace_id });
}

/** Hear a question that was asked in another window, or before this page was closed. @param {Underway} left */
export function hear(left) {
  beginTalk();
  const talk = talkOf(left.session_id);
  go(left.session_id ? `/ask/${left.session_id}` : "/ask");
  underway.value = underway.value.filter((each) => each.trace_id !== left.trace_id);
  if (!isHeard(left)) findAgain(talk, newKey(), left.started_at, left.trace_id, { question: left.question, agent: left.agent });
}

/** @param {Underway} run */
function isHeard(run) {
  return [...talks.values()].some((talk) => talk.turns.value.some((turn) => turn.run?.traceId.value === run.trace_id));
}

/** @param {Talk} talk @param {Turn} turn @param {Run} run @param {Request} request */
async function ask(talk, turn, run, request) {
  const kept = { ...turn.request, question: turn.question };
  const off = effect(() => keepUnanswered({ key: turn.key, talk: talk.id.value || talk.place, at: turn.at, trace_id: run.traceId.value, request: kept }));
  const answer = await run.ask(request);
  off();
  await came(talk, turn, answer);
}

/** The questions that the page asked here before it was loaded anew. @param {Talk} talk */
function found(talk) {
  for (const { key, at, trace_id, request } of unansweredIn(talk.id.value || talk.place)) findAgain(talk, key, at, trace_id, request);
}

/** @param {Talk} talk @param {string} key @param {number} at @param {string} traceId @param {Request} request */
function findAgain(talk, key, at, traceId, request) {
  const run = newRun();
  const turn = { key, question: request.question, request, at, run };
  talk.turns.value = [...talk.turns.value, turn];
  void run.find(request, traceId, at).then((answer) => came(talk, turn, answer));
}

/** @param {Talk} talk @param {Turn} turn @param {Answer | null} answer */
async function came(talk, turn, answer) {
  const { run } = turn;
  if (answer || (run && !run.busy.value && !leavesOpen(run.error.value, false))) dropUnanswered(turn.key);
  if (answer) talk.turns.value = talk.turns.value.filter((each) => each.key !== answer.trace_id); // the history may have it too
  const id = answer?.session_id ?? "";
  if (id && !talk.id.value) {
    const here = !talk.place && talks.get("") === talk;
    talk.id.value = id;
    talks.set(id, talk);
    placeUnanswered(talk.turns.value.map((each) => each.key), id);
    if (here) talks.delete("");
    if (here && route.value.path === "/ask") go(`/ask/${id}`, { replace: true });
  }
  await loadSessions();
}

/** @param {Turn} turn */
function letGo(turn) {
  turn.run?.stop();
  dropUnanswered(turn.key);
}

/** Unlike any of a page before this one. */
function newKey() {
  return `new${Date.now()}-${(count += 1)}`;
}

/** Another title, pinned or archived. @param {string} id @param {Partial<Session>} values */
export async function change(id, values) {
  const session = await patch(`/sessions/${encodeURIComponent(id)}`, values);
  sessions.value = (sessions.value ?? []).map((each) => (each.session_id === id ? { ...each, ...session } : each));
  await loadSessions();
}

/** Others of them, or more. @param {Partial<import("../talks/listing.js").Listing>} wanted */
export function list(wanted) {
  listing.value = { ...listing.value, ...wanted };
  return loadSessions();
}

/** @param {string} id */
export async function remove(id) {
  await del(`/sessions/${encodeURIComponent(id)}`);
  for (const [key, talk] of [...talks]) {
    if (talk.id.value !== id) continue;
    talk.turns.value.forEach(letGo);
    talks.delete(key);
  }
  sessions.value = (sessions.value ?? []).filter((each) => each.session_id !== id);
  void loadSessions();
  if (route.value.parts[1] === id) go("/ask", { replace: true });
}
