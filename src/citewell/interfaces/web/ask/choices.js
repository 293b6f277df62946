/**
 * Who is asked, where, and how: the last choice of each agent, kept in this browser.
 * The one rule: an option that an agent does not know is not sent to it.
 */
import { keep, kept } from "../state.js";
import { signal } from "../ui/html.js";
import { isShelf } from "./attachments.js";
import { FROM_DOCUMENTS, OPTIONS, optionsOf, shownOf } from "./option_table.js";

/** @typedef {import("./types.js").Request} Request */
/** @typedef {{collection: string, more?: string[] | undefined, options: Record<string, any>}} Choice  of one agent; `collection` empty: the server's own; `more`: those that are asked too, where they are ticked */

export const AGENTS = /** @type {const} */ (["auto", "qa", "dual_loop", "website", "data", "paper"]);

/** @type {{agent: string, of: Record<string, Choice>}} */
const before = read();

export const agent = signal(before.agent);
const choices = signal(before.of);

export const ALL = "*"; // in the place of a collection: every one that has documents

const filled = signal(/** @type {string[]} */ ([]));

/** The collection that is asked where none is chosen: the server's own (empty), or the fullest while that has no documents. */
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
  usual.value = has || !fullest?.documents ? "" : fullest.name;
}

/** @param {string} [name] @returns {Choice} */
export function choice(name = agent.value) {
  return choices.value[name] ?? { collection: "", options: {} };
}

/** The collections that are ticked, of those that there are. */
export function tickedOf() {
  const { collection, more = [] } = choice();
  return [collection || usual.value, ...more].filter((each) => filled.value.includes(each));
}

/** Ask one more collection, or one less; one stays. @param {string} name */
export function tick(name) {
  const now = tickedOf();
  const [collection, ...more] = now.includes(name) ? now.filter((each) => each !== name) : [...now, name];
  if (collection) choose({ collection, more });
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

/** Set an option; what says nothing is left out. @param {string} name @param {any} value */
export function setOption(name, value) {
  const { [name]: _, ...others } = choice().options;
  const says = value !== null && value !== undefined && value !== "" && !(Array.isArray(value) && !value.length);
  choose({ options: says ? { ...others, [name]: value } : others });
}

/** Back to what the settings say; what stands beside the question stays: the pages of a site, the tables. */
export function resetOptions() {
  choose({ options: Object.fromEntries(Object.entries(choice().options).filter(([name]) => OPTIONS[name]?.own)) });
}

/** How many options are set that the choice's own fields do not show. @param {string} name */
export function countOptions(name) {
  return shownOf(name).filter((each) => choice(name).options[each] !== undefined).length;
}

/** `shelf`: a collection that is asked too. @param {string} question @param {string} sessionId @param {string} [shelf] @returns {Request} */
export function requestOf(question, sessionId, shelf = "") {
  const name = agent.value;
  const { collection: chosen, more: ticked, options } = choice(name);
  const one = chosen === ALL ? filled.value : [chosen || usual.value];
  const names = ticked ? tickedOf() : one;
  const shelves = shelf ? [shelf] : [];
  const [collection = "", ...more] = shelf && !filled.value.length ? shelves : [...names, ...shelves];
  const taken = optionsOf(name);
  const asked = { ...options, collections: more.length ? more : undefined };
  const known = Object.entries(asked).filter(([option, value]) => value !== undefined && taken.includes(option));
  return {
    question,
    agent: name,
    ...(collection && FROM_DOCUMENTS.includes(name) ? { collection } : {}),
    ...(sessionId ? { session_id: sessionId } : {}),
    ...(known.length ? { options: Object.fromEntries(known) } : {}),
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
  choose({ collection: all ? ALL : (request.collection ?? ""), more: all || !more.length ? undefined : more, options }, name);
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
