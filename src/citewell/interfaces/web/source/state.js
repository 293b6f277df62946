/** Which source is open. The one rule: `openSource` and `openDocument` are all that other parts of the page call. */
import { signal } from "../ui/html.js";

/** @typedef {import("../ask/types.js").Citation} Citation */
/** @typedef {import("../ask/types.js").Answer} Answer */
/** @typedef {{doc_id: string, title?: string, uri?: string, page?: number | null, fetched_at?: number | null}} Opening */
/**
 * @typedef {object} Opened
 * @property {Citation} citation what is shown; of a whole document one without a quote
 * @property {Citation[]} all the citations of the same answer, in order; empty for a document
 * @property {number} call how often a source was opened; the focus goes into the panel each time
 * @property {Answer | null} answer the answer they belong to, where it is known: it has the statement behind a table's rows
 */

export const opened = signal(/** @type {Opened | null} */ (null));

/** @type {HTMLElement | null} */
let from = null; // what had the focus when the panel was opened
let calls = 0;

/**
 * Show where a citation stands. `all`: the citations of the same answer (or that answer), to go through them.
 * @param {Citation} citation
 * @param {Citation[] | Answer} [all]
 * @param {Answer | null} [answer]
 */
export function openSource(citation, all = [], answer = null) {
  const whole = Array.isArray(all) ? answer : all;
  const listed = Array.isArray(all) ? all : all.citations;
  remember();
  opened.value = { citation, all: listed, answer: whole, call: (calls += 1) };
}

/** Show a document from its beginning, or at a page of it. @param {Opening} doc */
export function openDocument(doc) {
  remember();
  opened.value = { citation: wholeOf(doc), all: [], answer: null, call: (calls += 1) };
}

/** Close the panel; the focus goes back to where it was. */
export function closeSource() {
  if (!opened.value) return;
  opened.value = null;
  const back = from;
  from = null;
  if (back?.isConnected) back.focus();
}

/** Go to another citation of the same answer. @param {number} step */
export function turn(step) {
  const now = opened.value;
  if (!now) return;
  const next = now.all[now.all.findIndex((each) => each.n === now.citation.n) + step];
  if (next) opened.value = { ...now, citation: next };
}

function remember() {
  const now = document.activeElement;
  if (now instanceof HTMLElement && !now.closest(".panel")) from = now;
}

/** @param {Opening} doc @returns {Citation} */
function wholeOf({ doc_id, title = "", uri = "", page = null, fetched_at = null }) {
  const origin = /^https?:\/\//i.test(uri) ? /** @type {const} */ ("web") : /** @type {const} */ ("document");
  const nowhere = { n: 0, quote: "", start: 0, end: 0, boxes: [], score: 0, section: "" };
  return { ...nowhere, origin, doc_id, title, uri, page, status: "verified", fetched_at };
}
