/** Questions to tables and their answers. The one rule: a talk outlives the view, so that looking at the tables loses nothing. */
import { newRun } from "../ask/stream.js";
import { signal } from "../ui/html.js";

/** @typedef {{n: number, question: string, run: import("../ask/stream.js").Run}} Turn */

/** What was said, by source; the empty name is all of them. */
const talks = new Map(/** @type {[string, import("@preact/signals").Signal<Turn[]>][]} */ ([]));
let turns = 0;

/** @param {string} source @returns {import("@preact/signals").Signal<Turn[]>} */
export function talkOf(source) {
  const known = talks.get(source) ?? signal(/** @type {Turn[]} */ ([]));
  talks.set(source, known);
  return known;
}

/** A follow-up goes on in the session of the last answer. @param {string} source @param {string} question */
export async function askData(source, question) {
  const talk = talkOf(source);
  const session = talk.value.map((turn) => turn.run.answer.value?.session_id).filter(Boolean).at(-1);
  const run = newRun();
  talk.value = [...talk.value, { n: ++turns, question, run }];
  await run.ask({ question, agent: "data", session_id: session ?? null, options: source ? { source } : {} });
}

/** The same question once more, in place of what became of it. @param {string} source @param {Turn} turn */
export function askAgain(source, turn) {
  const talk = talkOf(source);
  talk.value = talk.value.filter((each) => each.n !== turn.n);
  return askData(source, turn.question);
}

/** @param {string} source */
export function forget(source) {
  const talk = talkOf(source);
  for (const turn of talk.value) turn.run.stop();
  talk.value = [];
}
