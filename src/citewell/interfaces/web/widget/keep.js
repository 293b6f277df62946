/** The conversation over changes of the page, in this tab. The one rule: where nothing may be kept, all else goes on. */

/** @typedef {{n: number, title: string, uri: string, page: number | null, section: string, quote: string}} Source */
/** @typedef {{text: string, citations: number[], verdict: string, problems: string[]}} Sentence */
/** @typedef {{answer: string, sentences: Sentence[], citations: Source[], status: string, trace_id: string, warnings: string[],
 *   session_id: string, error_info?: Record<string, string> | null}} Answer */
/** @typedef {{question: string, answer?: Answer, problem?: import("./line.js").Problem, stopped?: boolean, vote?: boolean}} Turn */
/** @typedef {{session: string, open: boolean | null, turns: Turn[]}} Kept  `open` null: nobody has opened or closed it */

const MOST = 20; // turns
const LARGEST = 400_000; // characters

/** @param {string} key @returns {Kept} */
export function recalled(key) {
  try {
    const kept = JSON.parse(sessionStorage.getItem(key) ?? "null");
    if (kept && Array.isArray(kept.turns) && typeof kept.session === "string") return kept;
  } catch (error) {
    console.debug("citewell: nothing is kept of the conversation", error);
  }
  return { session: "", open: null, turns: [] };
}

/** @param {string} key @param {Kept} kept */
export function keep(key, kept) {
  try {
    let turns = kept.turns.slice(-MOST).map((turn) => (turn.answer ? { ...turn, answer: slim(turn.answer) } : turn));
    let text = JSON.stringify({ ...kept, turns });
    while (text.length > LARGEST && turns.length > 1) {
      turns = turns.slice(1);
      text = JSON.stringify({ ...kept, turns });
    }
    sessionStorage.setItem(key, text);
  } catch (error) {
    console.debug("citewell: nothing is kept of the conversation", error);
  }
}

/** What is shown of an answer. @param {Answer} all @returns {Answer} */
function slim({ answer, sentences, citations, status, trace_id, warnings, session_id, error_info = null }) {
  const sources = citations.map(({ n, title, uri, page, section, quote }) => ({ n, title, uri, page, section, quote }));
  return { answer, sentences, citations: sources, status, trace_id, warnings, session_id, error_info };
}
