/**
 * What a question can be asked with on this page: one row each, from which its field, its chip and what is sent are made. Whatever else
 * `POST /api/ask` takes is for programs, and for the settings file.
 * The one rule: rows say what `service/ask/options.py` says (which agents use it, from where to where); a test compares the two.
 */

/**
 * `own`: it has a field of its own beside the question, and neither a place among the options nor a chip.
 * @typedef {object} Row
 * @property {"number" | "list" | "text" | "day" | "choice"} kind
 * @property {string[]} agents
 * @property {number} [min]
 * @property {number} [max]
 * @property {string[]} [among]  what a choice is among; its words are `ask.option_NAME_VALUE`
 * @property {boolean} [own]
 * @property {number} [longest]  characters of a text
 */

export const FROM_DOCUMENTS = ["auto", "qa", "dual_loop"]; // agents that answer from a collection of documents
const SITE = ["website"];

/** In the order in which they are shown. @type {Record<string, Row>} */
export const OPTIONS = {
  start_urls: { kind: "list", agents: SITE, own: true },
  source: { kind: "text", agents: ["auto", "data"], own: true },
  collections: { kind: "list", agents: FROM_DOCUMENTS, own: true },
  doc_ids: { kind: "list", agents: FROM_DOCUMENTS, own: true },
  types: { kind: "list", agents: FROM_DOCUMENTS },
  langs: { kind: "choice", agents: FROM_DOCUMENTS, among: ["en", "zh"] },
  since: { kind: "day", agents: FROM_DOCUMENTS },
  until: { kind: "day", agents: FROM_DOCUMENTS },
  allowed_domains: { kind: "list", agents: SITE },
  instruction: { kind: "text", agents: SITE, longest: 1000 },
  max_pages: { kind: "number", agents: SITE, min: 1, max: 5000 },
};

/** Names of the options that an agent takes. @param {string} agent */
export function optionsOf(agent) {
  return Object.keys(OPTIONS).filter((name) => OPTIONS[name]?.agents.includes(agent));
}

/** Those that stand among the options: without what has a field beside the question. @param {string} agent */
export function shownOf(agent) {
  return optionsOf(agent).filter((name) => !OPTIONS[name]?.own);
}

/** @param {string} text */
export function listOf(text) {
  return text.split(/[\s,，、;；]+/).filter(Boolean);
}
