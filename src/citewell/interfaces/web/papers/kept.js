/** What this tab keeps of reading sessions, so that a reload loses nothing. The one rule: sessionStorage, never more than words. */

/** @typedef {import("./types.js").Message} Message */

const ACTIVE = "citewell.session_id"; // spec 003, 3.1.2: the active session of this tab

/** @param {string} name @returns {string} */
function read(name) {
  try {
    return sessionStorage.getItem(name) ?? "";
  } catch {
    return ""; // a browser that keeps nothing
  }
}

/** @param {string} name @param {string} value empty: forget it */
function write(name, value) {
  try {
    if (value) sessionStorage.setItem(name, value);
    else sessionStorage.removeItem(name);
  } catch {
    // it lasts until the page is left
  }
}

export const activeSession = () => read(ACTIVE);
/** @param {string} sessionId */
export const setActiveSession = (sessionId) => write(ACTIVE, sessionId);

/** The job that makes the report. @param {string} sessionId */
export const keptJob = (sessionId) => read(`citewell.papers.job.${sessionId}`);
/** @param {string} sessionId @param {string} jobId */
export const keepJob = (sessionId, jobId) => write(`citewell.papers.job.${sessionId}`, jobId);

/** The step of the route at which the reader is. @param {string} sessionId */
export const keptStep = (sessionId) => read(`citewell.papers.step.${sessionId}`);
/** @param {string} sessionId @param {string} stepId */
export const keepStep = (sessionId, stepId) => write(`citewell.papers.step.${sessionId}`, stepId);

/** The message that was sent and has no answer yet. @param {string} sessionId @returns {Message | null} */
export function keptMessage(sessionId) {
  try {
    return JSON.parse(read(`citewell.papers.message.${sessionId}`) || "null");
  } catch {
    return null;
  }
}

/** @param {string} sessionId @param {Message | null} message */
export function keepMessage(sessionId, message) {
  write(`citewell.papers.message.${sessionId}`, message ? JSON.stringify(message) : "");
}

/** All of a session, once it is deleted. @param {string} sessionId */
export function forgetSession(sessionId) {
  keepJob(sessionId, "");
  keepStep(sessionId, "");
  keepMessage(sessionId, null);
  if (activeSession() === sessionId) setActiveSession("");
}

/** A name of a message: nobody has had it before. */
export function newName() {
  return `msg_${Array.from(crypto.getRandomValues(new Uint8Array(9)), (byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}
