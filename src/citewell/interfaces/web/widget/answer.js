/**
 * A question with what came of it. The one rule: an answer that is none (refused, not proved, a question back) looks like none, and
 * a draft says that it is one.
 */
import { fill, make, sign, webAddress } from "./dom.js";
import { blocks } from "./text.js";
import { put } from "./words.js";

/** @typedef {import("./words.js").Words} Words */
/** @typedef {import("./keep.js").Turn} Turn */
/** @typedef {import("./keep.js").Answer} Answer */
/** @typedef {import("./keep.js").Source} Source */
/** @typedef {{words: Words, again: () => void, vote: (right: boolean, correction?: string) => Promise<void>}} Ways */

let count = 0; // of answers on this page, for ids

/** @param {string} question @param {Words} words */
export function asked(question, words) {
  return make("p", { class: "asked" }, make("span", { class: "unseen" }, `${words.you}: `), question);
}

/** What a turn came to. @param {HTMLElement} box @param {Turn} turn @param {Ways} ways */
export function showTurn(box, turn, ways) {
  const { words } = ways;
  if (turn.answer) fill(box, ...answered(turn.answer, turn, ways));
  else if (turn.problem) fill(box, problem(turn.problem, ways));
  else fill(box, make("p", { class: "small" }, turn.stopped ? words.stopped : words.left), againButton(ways));
}

/** @param {Answer} answer @param {Turn} turn @param {Ways} ways @returns {Node[]} */
function answered(answer, turn, ways) {
  const { words } = ways;
  const { cite, list, card } = sources(answer, words);
  const said = answer.status === "error" ? answer.error_info?.["message"] || answer.answer : answer.answer;
  return [
    ...(answer.status === "answered" ? [] : [head(answer, words)]),
    make("div", { class: "words", role: "group", "aria-label": words.answer }, ...blocks(said, cite)),
    card,
    ...list,
    ...verdict(answer, words),
    foot(answer, turn, ways),
  ];
}

/** @param {Answer} answer @param {Words} words */
function head({ status, error_info }, words) {
  const kind = /** @type {"refused" | "fallback" | "clarify" | "error"} */ (Object.hasOwn(HEADS, status) ? status : "error");
  const todo = (status === "error" && error_info?.["hint"]) || words[`${kind}_do`];
  return make("div", { class: "head" }, make("strong", {}, sign("warn", 18), words[kind]), make("p", {}, todo));
}

const HEADS = { refused: 1, fallback: 1, clarify: 1, error: 1 };

/** The buttons of its sources, in the text and below it, and the card that they open. @param {Answer} answer @param {Words} words */
function sources({ citations }, words) {
  const id = `card-${(count += 1)}`;
  const card = make("div", { class: "card", id, hidden: true });
  /** @type {{n: number, button: HTMLElement}[]} */
  const buttons = [];
  let shown = 0;
  /** @param {Source} source */
  const toggle = (source) => {
    shown = shown === source.n ? 0 : source.n;
    card.hidden = !shown;
    if (shown) fill(card, ...inside(source, words));
    for (const { n, button } of buttons) button.setAttribute("aria-expanded", String(n === shown));
    if (shown) card.scrollIntoView({ block: "nearest" });
  };
  /** @param {Source} source @param {Record<string, any>} given @param {import("./dom.js").Child[]} children */
  const opens = (source, given, ...children) => {
    const more = { type: "button", "aria-expanded": "false", "aria-controls": id, onclick: () => toggle(source) };
    const button = make("button", { ...given, ...more }, ...children);
    buttons.push({ n: source.n, button });
    return button;
  };
  /** @param {number} n */
  const cite = (n) => {
    const source = citations.find((each) => each.n === n);
    return source ? opens(source, { class: "cite", "aria-label": put(words.source, { n, title: source.title }) }, String(n)) : null;
  };
  const list = citations.length
    ? [make("ul", { class: "sources", "aria-label": words.sources }, ...citations.map((each) => make("li", {}, opens(each, {}, `${each.n}.`, make("span", {}, place(each, words))))))]
    : [];
  return { cite, list, card };
}

/** @param {Source} source @param {Words} words */
function place({ title, page }, words) {
  return page ? `${title}, ${put(words.page, { n: page })}` : title;
}

/** @param {Source} source @param {Words} words @returns {Node[]} */
function inside(source, words) {
  const url = webAddress(source.uri);
  const where = [place(source, words), source.section && source.section !== source.title ? source.section : ""].filter(Boolean);
  const link = url && make("p", {}, make("a", { href: url, target: "_blank", rel: "noopener noreferrer" }, words.go));
  return [make("blockquote", {}, source.quote), make("p", {}, make("strong", {}, `${source.n}. `), where.join(" · ")), ...(link ? [link] : [])];
}

/** What the check of its sentences found. @param {Answer} answer @param {Words} words @returns {Node[]} */
function verdict({ sentences, status }, words) {
  if (!sentences.length || status === "error" || status === "refused") return [];
  const doubtful = sentences.filter((each) => each.verdict !== "supported");
  if (!doubtful.length) return [make("p", { class: "proved" }, sign("check", 16), words.proved)];
  const told = put(words.doubts, { good: sentences.length - doubtful.length, n: sentences.length });
  return [make("details", { class: "doubts" }, make("summary", {}, told), make("ul", {}, ...doubtful.map((each) => make("li", {}, each.text))))];
}

/** Right or wrong, and what would be right. @param {Answer} answer @param {Turn} turn @param {Ways} ways */
function foot(answer, turn, { words, vote, again }) {
  const told = make("span", { class: "small", role: "status" });
  const more = make("form", { class: "correct", hidden: true });
  /** @param {boolean} right */
  const thumb = (right) => {
    const given = { type: "button", "aria-label": right ? words.good : words.bad, title: right ? words.good : words.bad };
    return make("button", { ...given, "aria-pressed": String(turn.vote === right), onclick: () => void give(right) }, sign(right ? "up" : "down", 18));
  };
  const thumbs = [true, false].map(thumb);
  /** @param {boolean} right @param {string} [correction] */
  const give = async (right, correction) => {
    try {
      await vote(right, correction);
      thumbs.forEach((each, n) => each.setAttribute("aria-pressed", String(right === (n === 0))));
      fill(told, words.thanks);
      more.hidden = right || correction !== undefined;
    } catch {
      fill(told, words.not_told);
    }
  };
  const field = make("textarea", { rows: 2, maxlength: 4000 });
  fill(more, make("label", {}, words.correct, field), make("button", { class: "plain", type: "submit" }, words.tell));
  more.addEventListener("submit", (event) => {
    event.preventDefault();
    void give(false, field.value.trim());
  });
  const votes = answer.trace_id && answer.status !== "error";
  return make("div", { class: "foot" }, ...(votes ? [...thumbs, told, more] : [againButton({ words, again })]));
}

/** @param {import("./line.js").Problem} problem @param {Ways} ways */
function problem({ what, todo, told, wait }, ways) {
  const own = told && make("details", { open: what === ways.words.invalid }, make("summary", {}, ways.words.told), make("p", {}, told));
  return make("div", { class: "problem", role: "group" }, make("strong", {}, what), make("p", {}, todo), own, againButton(ways, wait));
}

/** After so many seconds. @param {{words: Words, again: () => void}} ways @param {number} [wait] */
function againButton({ words, again }, wait = 0) {
  const button = make("button", { class: "plain", type: "button", onclick: again }, words.again);
  const ends = Date.now() + wait * 1000;
  const count = () => {
    const left = Math.ceil((ends - Date.now()) / 1000);
    button.disabled = left > 0;
    button.textContent = left > 0 ? put(words.again_in, { n: left }) : words.again;
    if (left > 0) setTimeout(count, 500);
  };
  count();
  return button;
}
