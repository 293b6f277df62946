/**
 * What became of a question whose line was lost, or that was stopped: being answered, answered, to be gone on with, or none of them.
 * The one rule: only the server says so; that a run has a name does not mean that anything of it is kept.
 */
import { ApiError, get } from "../api.js";
import { online } from "../state.js";
import { effect } from "@preact/signals";

/** @typedef {import("./types.js").Answer} Answer */
/** @typedef {import("./types.js").Step} Step */
/** @typedef {{answer: Answer, steps: Step[]} | {live: string} | {resumable: true} | null} Became  `live`: it is being answered, under this name */
/** @typedef {{traceId: string, question: string, since: number, signal: AbortSignal}} Lost  `since`: seconds since the epoch */

const LOST = [0, 500, 1000, 2000, 4000]; // milliseconds before each look
const STOPPED = [100, 400, 1000, 2500]; // the server needs a moment to see that nobody listens any more
const SLACK = 5; // seconds by which two clocks may differ
/** Agents that keep what they have done after each step; what the others have done is gone with the line. */
const KEEPING = ["dual_loop", "website", "paper"];
/** Errors after which the answer may be there, or still come. */
const LOSSES = ["offline", "cut_off", "stopping", "under_way", "reloaded"];

/** Whether an error leaves open what became of the question. @param {unknown} error @param {boolean} known it was under way before: what is no longer there may have been answered */
export function leavesOpen(error, known) {
  return error instanceof ApiError && (LOSSES.includes(error.code) || (known && [404, 409].includes(error.status)));
}

/** Whether what an agent has done is kept. @param {string} agent */
export function keepsItsWork(agent) {
  return KEEPING.includes(agent);
}

/** After a lost line: waits for the server, then looks a few times. @param {Lost} lost @returns {Promise<Became>} */
export function afterLoss(lost) {
  return looked(lost, LOST, true);
}

/** After a stop of one's own. @param {Lost} lost @returns {Promise<Became>} */
export function afterStop(lost) {
  return looked(lost, STOPPED, false);
}

/** @param {Lost} lost @param {number[]} waits @param {boolean} patient */
async function looked(lost, waits, patient) {
  for (let n = 0; n < waits.length && !lost.signal.aborted; n += 1) {
    await pause(waits[n] ?? 0, lost.signal);
    if (patient) await untilOnline(lost.signal);
    if (lost.signal.aborted) return null;
    try {
      const found = await look(lost);
      if (found) return found;
    } catch (error) {
      if (!(error instanceof ApiError) || error.status === 401 || !patient) return null;
      if (error.status === 0 || error.status === 503) n -= 1; // not back yet
      if (error.status === 503) await pause(2000, lost.signal);
    }
  }
  return null;
}

/** @param {Lost} lost @returns {Promise<Became>} */
async function look({ traceId, question, since, signal }) {
  const { runs, live = [] } = await get("/runs", undefined, { signal });
  const mine = (/** @type {{trace_id: string, question: string, started_at: number}} */ run) =>
    traceId ? run.trace_id === traceId : run.question === question && run.started_at > since - SLACK;
  const underway = live.find(mine);
  if (underway) return { live: underway.trace_id };
  const id = traceId || (await newest(question, since, signal));
  if (!id) return null;
  try {
    const { answer, steps } = await get(`/traces/${encodeURIComponent(id)}`, undefined, { signal });
    return { answer, steps };
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 404) throw error;
  }
  return runs.some((/** @type {{trace_id: string}} */ run) => run.trace_id === id) ? { resumable: true } : null;
}

/** The id of an answer to this very question that was kept since it was asked; empty where there is none.
 * @param {string} question @param {number} since @param {AbortSignal} signal */
async function newest(question, since, signal) {
  const { traces } = await get("/traces", { q: question.trim().slice(0, 200), limit: 5 }, { signal });
  const mine = (/** @type {{question: string, created_at: number}} */ each) => each.question.trim() === question.trim() && each.created_at > since - SLACK;
  return /** @type {string} */ (traces.find(mine)?.trace_id ?? "");
}

/** @param {AbortSignal} signal @returns {Promise<void>} */
function untilOnline(signal) {
  return new Promise((resolve) => {
    /** @type {(() => void) | undefined} */
    let off;
    const done = () => {
      queueMicrotask(() => off?.());
      resolve();
    };
    signal.addEventListener("abort", done, { once: true });
    off = effect(() => {
      if (online.value || signal.aborted) done();
    });
  });
}

/** @param {number} milliseconds @param {AbortSignal} signal @returns {Promise<void>} */
function pause(milliseconds, signal) {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds);
    signal.addEventListener("abort", () => (clearTimeout(timer), resolve()), { once: true });
  });
}
