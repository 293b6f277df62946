/**
 * What the server says in English, in the page's language: warnings, errors and hints, reasons, what became of a job.
 * The one rule: names, figures and the words of others stay as they are, and so does a text that has no Chinese; a reader would
 * miss it more than its language. Programs go by the English, so this is called where a text is drawn, and nowhere else.
 */

import { effect, signal } from "@preact/signals";
import { lang } from "./state.js";

/** @typedef {{head: string, tail: string, literal: number, pattern: RegExp, chinese: string}} Template */
/** @typedef {{whole: Map<string, string>, ends: string[], templates: Template[], told: Map<string, string>}} Catalogue */

const DEEPEST = 4; // a warning tells an error, which tells another
const BLANK = /\{(\d)\}/g;
const WIDE = /^[\u3000-\u303f\u4e00-\u9fff\uff00-\uffef“”]$/;
const LONGEST = 4000; // characters: what is longer was not worded by us

/** What is known; nothing until the page is in Chinese, and so has asked for it. */
const catalogue = signal(/** @type {Catalogue | null} */ (null));
let asked = false;

effect(() => {
  if (lang.value !== "zh" || asked) return;
  asked = true;
  import("./words/server/index.js").then(
    ({ CHINESE }) => (catalogue.value = read(CHINESE)),
    () => (asked = false), // the next one asks again; until then the English stands
  );
});

/** A text of the server in the page's language. A component that calls this is drawn again when the language changes.
 * @param {string | null | undefined} text @returns {string} */
export function said(text) {
  if (!text) return "";
  const known = lang.value === "zh" ? catalogue.value : null;
  return known ? chinese(text, known, 0) : text;
}

/** What went wrong and what to do, as one text. @param {any} error an Error, or the shape in which the server tells one */
export function saidOf(error) {
  const stop = lang.value === "zh" ? "。" : ". ";
  return [error?.message, error?.hint].map((text) => said(text)).filter(Boolean).join(stop);
}

/** @param {Record<string, string>} words @returns {Catalogue} */
function read(words) {
  const entries = Object.entries(words);
  const templates = entries.filter(([english]) => english.search(BLANK) >= 0).map(([english, text]) => template(english, text));
  const whole = new Map(entries.filter(([english]) => english.search(BLANK) < 0));
  templates.sort((a, b) => b.literal - a.literal); // the one that says most of itself first
  return { whole, templates, ends: [...whole.keys()].sort((a, b) => b.length - a.length), told: new Map() };
}

/** @param {string} english @param {string} text @returns {Template} */
function template(english, text) {
  const literals = english.split(/\{\d\}/);
  const pattern = new RegExp(`^${literals.map((each) => each.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("([^]*?)")}$`);
  const literal = literals.reduce((sum, each) => sum + each.length, 0);
  return { head: literals[0] ?? "", tail: literals.at(-1) ?? "", literal, pattern, chinese: text };
}

/** @param {string} text @param {Catalogue} known @param {number} depth @returns {string} */
function chinese(text, known, depth) {
  if (depth > DEEPEST || text.length > LONGEST || !/[a-z]/i.test(text)) return text;
  const before = known.told.get(text);
  if (before !== undefined) return before;
  const now = known.whole.get(text) ?? filled(text, known, depth) ?? parts(text, known, depth) ?? joined(text, known, depth) ?? text;
  if (known.told.size > 2000) known.told.clear();
  known.told.set(text, now);
  return now;
}

/** By the template or the ending that says most of it. @param {string} text @param {Catalogue} known @param {number} depth */
function filled(text, known, depth) {
  const ending = known.ends.find((each) => text.endsWith(` ${each}`)) ?? "";
  const end = /[:;] |^it( is)?$/.test(text.slice(0, -ending.length - 1)) ? "" : ending; // a name stands before it, and no text
  const several = text.includes("; ") && text.split("; ").every((each) => chinese(each, known, depth + 1) !== each);
  for (const each of known.templates) {
    if (each.literal < end.length) break;
    if (several && !each.pattern.source.includes("; ")) continue; // it would swallow what comes behind
    if (!text.startsWith(each.head) || !text.endsWith(each.tail)) continue;
    const found = each.pattern.exec(text);
    if (found) return put(each.chinese, (n) => chinese(found[n] ?? "", known, depth + 1));
  }
  return end ? ended(text.slice(0, -end.length - 1), known.whole.get(end) ?? end) : undefined;
}

/** `x.doc is an old Word document (.doc)`, `db: the disk is full`: a name, and one of our texts. @param {string} head @param {string} words */
function ended(head, words) {
  if (!head || /[;,.]$/.test(head)) return undefined; // several texts
  if (head.endsWith(":")) return `${head.slice(0, -1)}：${words}`;
  const is = head.endsWith(" is");
  return put(is ? `{1} 是${words}` : `{1} ${words}`, () => (is ? head.slice(0, -3) : head));
}

/** What is hung on to another text: `, noticed 2026-11-23`. @param {string} text @param {Catalogue} known @param {number} depth */
function joined(text, known, depth) {
  const [, lead = "", rest = ""] = /^([\s,;]+)([^]+)$/.exec(text) ?? [];
  const told = rest && chinese(rest, known, depth + 1);
  return told && told !== rest ? (lead.includes(",") ? "，" : lead.includes(";") ? "；" : "") + told : undefined;
}

/** Values put into Chinese: no space between them and Chinese marks and characters. @param {string} text @param {(n: number) => string} value */
function put(text, value) {
  return text.replace(/( ?)\{(\d)\}( ?)/g, (_, before, n, after) => {
    const told = value(Number(n));
    return (WIDE.test(told.slice(0, 1)) ? "" : before) + told + (WIDE.test(told.slice(-1)) ? "" : after);
  });
}

/** Several texts, or a name before one. @param {string} text @param {Catalogue} known @param {number} depth */
function parts(text, known, depth) {
  for (const [mark, chineseMark] of /** @type {const} */ ([["; ", "；"], [". ", "。"]])) {
    const all = text.split(mark);
    const told = all.map((each) => chinese(each, known, depth + 1));
    if (all.length > 1 && told.some((each, n) => each !== all[n])) return told.join(chineseMark);
  }
  const [, name = "", rest = ""] = /^([^]{1,300}?): ([^]+)$/.exec(text) ?? [];
  const told = rest && chinese(rest, known, depth + 1);
  return told && told !== rest ? `${name}：${told}` : undefined;
}
