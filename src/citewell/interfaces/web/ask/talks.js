/**
 * Conversations: those on the server, and those open here with their answers in the making.
 * The one rule: an answer in the making belongs to its conversation, not to the view, so it goes on while the reader looks elsewhere.
 */
import { del, get, patch } from "../api.js";
import { go, route } from "../state.js";
import { batch, signal } from "../ui/html.js";
import { newRun } from "./stream.js";

/** @typedef {import("./types.js").Answer} Answer */
/** @typedef {import("./types.js").Request} Request */
/** @typedef {import("./types.js").Session} Session */
/** @typedef {import("./stream.js").Run} Run */
/** @template T @typedef {import("@preact/signals").Signal<T>} Signal */
/** @typedef {{trace_id: string, agent: string, question: string, session_id: string, updated_at: number}} Unfinished */

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
 * @property {Signal<string>} id  empty: not kept yet
 * @property {Signal<Turn[]>} turns
 * @property {Signal<string>} text  what stands in the composer
 * @property {Signal<boolean>} loading
 * @property {Signal<unknown>} error
 * @property {Signal<Session | null>} session
 */

export const sessions = signal(/** @type {Session[] | null} */ (null));
export const sessionsError = signal(/** @type {unknown} */ (null));
export const unfinished = signal(/** @type {Unfinished[]} */ ([]));

let talks = new Map(/** @type {[string, Talk][]} */ ([]));
let count = 0;

/** @returns {Talk} */
function newTalk(id = "") {
  return {
    id: signal(id),
    turns: signal(/** @type {Turn[]} */ ([])),
    text: signal(""),
    loading: signal(Boolean(id)),
    error: signal(/** @type {unknown} */ (null)),
    session: signal(/** @type {Session | null} */ (null)),
  };
}

/** The conversation of an id; empty: the one that is being begun. @param {string} id */
export function talkOf(id) {
  let talk = talks.get(id);
  if (!talk) {
    talk = newTalk(id);
    talks.set(id, talk);
    if (id) void load(talk);
  }
  return talk;
}

/** A new one, empty; an answer in the making of the one before goes on, and is found in the list when it is kept. */
export function beginTalk() {
  if (talks.get("")?.turns.value.length) talks.delete("");
}

/** Another person is asking: nothing of the one before stays. */
export function forgetTalks() {
  for (const talk of talks.values()) for (const turn of talk.turns.value) turn.run?.stop();
  talks = new Map();
  sessions.value = null;
  unfinished.value = [];
}

export async function loadSessions() {
  try {
    const [kept, runs] = await Promise.all([get("/sessions"), get("/runs").catch(() => ({ runs: [] }))]);
    batch(() => {
      sessions.value = kept.sessions;
      unfinished.value = runs.runs;
      sessionsError.value = null;
    });
  } catch (error) {
    sessionsError.value = error;
  }
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
      talk.turns.value = [...joined(session.history, answers), ...talk.turns.value.filter((turn) => turn.run?.busy.value)];
      talk.loading.value = false;
    });
  } catch (error) {
    batch(() => {
      talk.error.value = error;
      talk.loading.value = false;
    });
  }
}

/**
 * What was said, each question with its answer where that is kept: traces go after their days, history does not.
 * @param {{role: string, content: string}[]} history
 * @param {{trace_id: string, created_at: number, question: string, request: Partial<Request>, answer: Answer}[]} answers
 * @returns {Turn[]}
 */
export function joined(history, answers) {
  /** @type {Turn[]} */
  const turns = [];
  let next = 0;
  for (const message of history) {
    const last = turns.at(-1);
    if (message.role === "user") {
      turns.push({ key: `h${turns.length}`, question: message.content, request: {}, at: 0 });
    } else if (message.role === "assistant" && last && last.said === undefined) {
      last.said = message.content;
      const at = answers.findIndex((each, n) => n >= next && each.question === last.question && each.answer.answer === message.content);
      const found = answers[at];
      if (!found) continue;
      next = at + 1;
      Object.assign(last, { key: found.trace_id, request: found.request, at: found.created_at, answer: found.answer });
    }
  }
  return turns;
}

/** @param {Talk} talk @param {Request} request */
export async function send(talk, request) {
  const run = newRun();
  /** @type {Turn} */
  const turn = { key: `new${(count += 1)}`, question: request.question, request, at: Date.now() / 1000, run };
  talk.turns.value = [...talk.turns.value, turn];
  await ask(talk, run, request);
}

/** Once more in its place: a run that was stopped goes on, a failed one is asked anew. @param {Talk} talk @param {Turn} turn @param {boolean} goOn */
export async function again(talk, turn, goOn) {
  const run = turn.run ?? newRun();
  const kept = goOn && run.resumable.value && run.traceId.value;
  const request = kept ? { question: turn.question, resume: kept } : { ...turn.request, question: turn.question };
  if (!kept && talk.id.value) request.session_id = talk.id.value;
  await ask(talk, run, request);
}

/** The same question, with what it was asked with, at the end of the conversation. @param {Talk} talk @param {Turn} turn */
export async function askAnew(talk, turn) {
  const { session_id: _, resume: __, ...request } = turn.request;
  await send(talk, { ...request, question: turn.question, ...(talk.id.value ? { session_id: talk.id.value } : {}) });
}

/** Go on with a run that was stopped before this page was opened. @param {Unfinished} left */
export async function goOn(left) {
  beginTalk();
  const talk = talkOf(left.session_id);
  go(left.session_id ? `/ask/${left.session_id}` : "/ask");
  unfinished.value = unfinished.value.filter((each) => each.trace_id !== left.trace_id);
  const run = newRun();
  const request = { question: left.question, agent: left.agent };
  talk.turns.value = [...talk.turns.value, { key: `new${(count += 1)}`, ...{ question: left.question, request, at: left.updated_at, run } }];
  await ask(talk, run, { question: left.question, resume: left.trace_id });
}

/** @param {Talk} talk @param {Run} run @param {Request} request */
async function ask(talk, run, request) {
  const answer = await run.ask(request);
  const id = answer?.session_id ?? "";
  if (id && !talk.id.value) {
    const here = talks.get("") === talk;
    talk.id.value = id;
    talks.set(id, talk);
    if (here) talks.delete("");
    if (here && route.value.path === "/ask") go(`/ask/${id}`, { replace: true });
  }
  await loadSessions();
}

/** @param {string} id @param {string} title */
export async function rename(id, title) {
  const session = await patch(`/sessions/${encodeURIComponent(id)}`, { title });
  sessions.value = (sessions.value ?? []).map((each) => (each.session_id === id ? { ...each, ...session } : each));
}

/** @param {string} id */
export async function remove(id) {
  await del(`/sessions/${encodeURIComponent(id)}`);
  for (const turn of talks.get(id)?.turns.value ?? []) turn.run?.stop();
  talks.delete(id);
  sessions.value = (sessions.value ?? []).filter((each) => each.session_id !== id);
  if (route.value.parts[1] === id) go("/ask", { replace: true });
}
