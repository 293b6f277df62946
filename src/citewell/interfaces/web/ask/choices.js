/**
 * Who is asked, where, and how: the last choice of each agent, kept in this browser.
 * The one rule: an option that an agent does not know is not sent to it.
 */
import { keep, kept, me } from "../state.js";
import { signal } from "../ui/html.js";
import { isShelf } from "./attachments.js";
import { FROM_DOCUMENTS, OPTIONS, optionsOf, shownOf } from "./option_table.js";

/** @typedef {import("./types.js").Request} Request */
/** @typedef {{collection: string, more?: string[] | undefined, options: Record<string, any>}} Choice  of one agent; `collection` empty: the usual one; `more`: those that are asked too */
/** @typedef {{agent: string, collection?: string, options?: Record<string, any>}} Fixed */

export const AGENTS = /** @type {const} */ (["auto", "qa", "dual_loop", "website", "data", "paper"]);

/** @type {{agent: string, of: Record<string, Choice>}} */
const before = read();

export const agent = signal(before.agent);
const choices = signal(before.of);

export const ALL = "*"; // in the place of a collection: every one that has documents

const filled = signal(/** @type {string[]} */ ([]));

/** The collection that is asked where none is chosen: the server's own, or the fullest while that has no documents; empty: there is none. */
export const usual = signal("");

let know = () => {};

/** Until it is known which collections there are, or that the server does not say. @type {Promise<void>} */
export const known = new Promise((resolve) => (know = resolve));

/** @param {{name: string, documents: number}[] | null} collections null: the server does not say @param {string} own the server's */
export function setUsual(collections, own) {
  know();
  if (!collections) return;
  const fullest = [...collections].sort((one, other) => other.documents - one.documents)[0];
  filled.value = collections.filter((each) => each.documents > 0).map((each) => each.name);
  const has = collections.some((each) => each.name === own && each.documents > 0);
  usual.value = has ? own : fullest?.documents ? fullest.name : "";
}

/** @param {string} [name] @returns {Choice} */
export function choice(name = agent.value) {
  return choices.value[name] ?? { collection: "", options: {} };
}

/** The collections that are asked; kept sites are some of them. */
export function collectionsAsked() {
  const { collection, more = [] } = choice();
  if (collection === ALL) return filled.value;
  const there = [collection || usual.value, ...more].filter((each) => filled.value.includes(each));
  return there.length ? there : [collection || usual.value];
}

/** Ask one more collection, or one less; one stays. @param {string} name @param {boolean} yes */
export function tickCollection(name, yes) {
  const { doc_ids, source, ...options } = choice().options;
  const now = doc_ids || source ? [] : collectionsAsked().filter((each) => each !== name);
  const [collection = name, ...more] = yes ? [...now, name] : now;
  choose({ collection, more, options });
}

/** Ask all of them, or the usual one. @param {boolean} yes */
export function tickAll(yes) {
  const { doc_ids: _, source: __, ...options } = choice().options;
  choose({ collection: yes ? ALL : "", more: [], options });
}

/** Ask these tables, or none by name. @param {string} name @param {boolean} yes */
export function tickSource(name, yes) {
  const { doc_ids: _, source: __, ...options } = choice().options;
  choose({ options: yes ? { ...options, source: name } : options });
}

/** Ask this document, and none that is not ticked. @param {string} collection @param {string} id @param {boolean} yes */
export function tickDocument(collection, id, yes) {
  const { doc_ids = [], source: _, ...options } = choice().options;
  const ids = [...doc_ids.filter((/** @type {string} */ each) => each !== id), ...(yes ? [id] : [])];
  const [one = collection, ...more] = doc_ids.length ? [...new Set([...collectionsAsked(), collection])] : [collection];
  choose({ collection: one, more, options: { ...options, ...(ids.length ? { doc_ids: ids } : {}) } });
}

/** @param {string} name */
export function chooseAgent(name) {
  agent.value = name;
  write();
}

/** @param {Partial<Choice>} change @param {string} [name] */
export function choose(change, name = agent.value) {
  choices.value = { ...choices.value, [name]: { ...choice(name), ...change } };
  write();
}

/** Set an option; what says nothing is left out. @param {string} name @param {any} value @param {string} [of] an agent */
export function setOption(name, value, of = agent.value) {
  const { [name]: _, ...others } = choice(of).options;
  const says = value !== null && value !== undefined && value !== "" && !(Array.isArray(value) && !value.length);
  choose({ options: says ? { ...others, [name]: value } : others }, of);
}

/** None is set; what stands beside the question stays: the pages of a site, the tables. @param {string} of an agent */
export function resetOptions(of) {
  choose({ options: Object.fromEntries(Object.entries(choice(of).options).filter(([name]) => OPTIONS[name]?.own)) }, of);
}

/** How many options are set that the choice's own fields do not show. @param {string} name */
export function countOptions(name) {
  return shownOf(name).filter((each) => choice(name).options[each] !== undefined).length;
}

/**
 * `fixed`: what a part of the page is about, in place of what is chosen.
 * @param {string} question @param {import("./talks.js").Talk} talk @param {Fixed | null} [fixed] @returns {Request}
 */
export function requestOf(question, talk, fixed = null) {
  const name = fixed?.agent ?? agent.value;
  const shelf = talk.shelf.value;
  const names = FROM_DOCUMENTS.includes(name) ? collectionsAsked() : name === "website" ? [choice(name).collection] : [];
  const [collection = "", ...more] = fixed ? [fixed.collection] : shelf && !filled.value.length ? [shelf] : shelf ? [...names, shelf] : names;
  const asked = fixed?.options ?? { ...choice(name).options, collections: more.length ? more : undefined };
  const taken = optionsOf(name);
  const options = Object.entries(asked).filter(([option, value]) => value !== undefined && taken.includes(option));
  return {
    question,
    agent: name,
    ...(collection && collection !== me.value?.collection ? { collection } : {}),
    ...(talk.id.value ? { session_id: talk.id.value } : {}),
    ...(options.length ? { options: Object.fromEntries(options) } : {}),
  };
}

/** Take over what a question was asked with. @param {Partial<Request>} request */
export function choiceOf(request) {
  const name = request.agent ?? "";
  if (!(/** @type {readonly string[]} */ (AGENTS).includes(name))) return;
  chooseAgent(name);
  const { collections = [], ...options } = request.options ?? {};
  const more = collections.filter((/** @type {string} */ each) => !isShelf(each));
  const all = more.length > 0 && more.length + 1 === filled.value.length;
  choose({ collection: all ? ALL : (request.collection ?? ""), more: all ? [] : more, options }, name);
}

function read() {
  try {
    const { agent: name, of } = JSON.parse(kept("ask") ?? "{}");
    const known = /** @type {readonly string[]} */ (AGENTS).includes(name) && name !== "paper";
    return { agent: known ? name : "auto", of: of && typeof of === "object" ? of : {} };
  } catch {
    return { agent: "auto", of: {} }; // kept by something else
  }
}

function write() {
  keep("ask", JSON.stringify({ agent: agent.value, of: choices.value }));
}
