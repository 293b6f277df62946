/**
 * Every option that a question can be asked with: one row each, from which its field, its chip and what is sent are made.
 * The one rule: rows say what `service/ask/options.py` says (which agents use it, from where to where); a test compares the two.
 */

/**
 * `own`: it has a field of its own beside the question, and neither a place among the options nor a chip.
 * @typedef {object} Row
 * @property {"number" | "switch" | "list" | "text" | "day" | "choice"} kind
 * @property {"filters" | "site" | "way" | "budget"} group
 * @property {string[]} agents
 * @property {number} [min]
 * @property {number} [max]
 * @property {number} [step]  `any` figure where there is none
 * @property {string[]} [among]  what a choice is among; its words are `ask.option_NAME_VALUE`
 * @property {boolean} [many]  the server takes several, and one is chosen here
 * @property {boolean} [own]
 * @property {number} [longest]  characters of a text
 */

export const FROM_DOCUMENTS = ["auto", "qa", "dual_loop"]; // agents that answer from a collection of documents
const LOOP = ["dual_loop"];
const SITE = ["website"];
const KNOWING = [...FROM_DOCUMENTS, "data"];
const ALL = [...KNOWING, "website"];

/** In the order in which they are shown. @type {Record<string, Row>} */
export const OPTIONS = {
  start_urls: { kind: "list", group: "site", agents: SITE, own: true },
  source: { kind: "text", group: "way", agents: ["data"], own: true },
  collections: { kind: "list", group: "filters", agents: FROM_DOCUMENTS, own: true },
  types: { kind: "list", group: "filters", agents: FROM_DOCUMENTS },
  langs: { kind: "choice", group: "filters", agents: FROM_DOCUMENTS, among: ["en", "zh"], many: true },
  since: { kind: "day", group: "filters", agents: FROM_DOCUMENTS },
  until: { kind: "day", group: "filters", agents: FROM_DOCUMENTS },
  least_priority: { kind: "number", group: "filters", agents: FROM_DOCUMENTS, min: 0, max: 10, step: 1 },
  doc_ids: { kind: "list", group: "filters", agents: FROM_DOCUMENTS },
  allowed_domains: { kind: "list", group: "site", agents: SITE },
  instruction: { kind: "text", group: "site", agents: SITE, longest: 1000 },
  max_pages: { kind: "number", group: "site", agents: SITE, min: 1, max: 5000, step: 1 },
  max_iterations: { kind: "number", group: "site", agents: SITE, min: 0, max: 50, step: 1 },
  max_urls_per_iteration: { kind: "number", group: "site", agents: SITE, min: 1, max: 50, step: 1 },
  content_max_chars: { kind: "number", group: "site", agents: SITE, min: 200, step: 1 },
  strategy: { kind: "choice", group: "way", agents: FROM_DOCUMENTS, among: ["direct_chunk_search", "hierarchical_search"] },
  recency: { kind: "number", group: "way", agents: FROM_DOCUMENTS, min: 0, max: 5 },
  diversity: { kind: "number", group: "way", agents: FROM_DOCUMENTS, min: 0, max: 1 },
  inner_loop: { kind: "switch", group: "way", agents: LOOP },
  outer_loop: { kind: "switch", group: "way", agents: LOOP },
  corrections: { kind: "number", group: "way", agents: LOOP, min: 0, max: 5, step: 1 },
  web: { kind: "switch", group: "way", agents: ["auto", ...LOOP] },
  memory: { kind: "switch", group: "way", agents: ["auto", ...LOOP] },
  knowledge: { kind: "switch", group: "way", agents: KNOWING },
  max_seconds: { kind: "number", group: "budget", agents: ALL, min: 1, step: 1 },
  max_calls: { kind: "number", group: "budget", agents: ALL, min: 1, step: 1 },
  max_tokens: { kind: "number", group: "budget", agents: ALL, min: 1, step: 1 },
};

export const GROUPS = /** @type {const} */ (["filters", "site", "way", "budget"]);

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
