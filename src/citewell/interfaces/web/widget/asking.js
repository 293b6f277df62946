/** One question on its way: what is being done, the draft, the answer. The one rule: the draft is never the answer. */
import { fill, make } from "./dom.js";
import { problemOf, Refusal, told } from "./line.js";
import { blocks } from "./text.js";

/** @typedef {import("./words.js").Words} Words */
/** @typedef {import("./keep.js").Turn} Turn */
/** @typedef {import("./line.js").Server} Server */

const EVERY = 80; // milliseconds between two looks at the draft
/** What a step is about, by the name of its node. @type {[RegExp, "searching" | "reading" | "writing" | "checking"][]} */
const DOING = [
  [/CrawlAndExtract|AgentDecision/, "reading"],
  [/Refinement|grade_relevance|audit|consolidate/, "checking"],
  [/Generat|generate|Draft|DocumentRetrieval|grade_documents|direct/, "writing"],
  [/Understanding|Memory|memory|route|rewrite|retrieve/, "searching"],
];

/**
 * Ask, and show in `box` how it comes about. What it came to.
 * @param {Server} server @param {Record<string, unknown>} request @param {HTMLElement} box @param {Words} words
 * @param {AbortSignal} signal @returns {Promise<Pick<Turn, "answer" | "problem" | "stopped">>}
 */
export async function askInto(server, request, box, words, signal) {
  const now = make("p", { class: "now" }, words.thinking);
  const draft = make("div", { class: "draft", hidden: true });
  fill(box, now, draft);
  /** @type {import("./keep.js").Answer | undefined} */
  let answer;
  let written = "";
  let fresh = true; // the next token begins a new draft
  let timer = 0;
  const show = () => {
    timer = 0;
    draft.hidden = !written;
    fill(draft, make("p", { class: "small" }, words.draft), ...blocks(written, () => null));
  };
  try {
    for await (const { event, data } of told(server, request, signal)) {
      if (event === "step") {
        const next = DOING.find(([pattern]) => pattern.test(String(data.node)))?.[1]; // the step is done: what comes after it
        fill(now, next ? words[next] : words.thinking);
        fresh = true;
      } else if (event === "progress" && data.kind === "page") fill(now, `${words.reading} ${String(data.title || data.url)}`);
      else if (event === "token") {
        written = fresh ? data.text : written + data.text;
        fresh = false;
        timer ||= window.setTimeout(show, EVERY);
      } else if (event === "answer") answer = data;
      else if (event === "error") throw new Refusal(0, data.error);
    }
    if (!answer) throw new Refusal(0, { code: "cut" });
    return { answer };
  } catch (error) {
    return signal.aborted ? { stopped: true } : { problem: await problemOf(error, words, server) };
  } finally {
    clearTimeout(timer);
  }
}
