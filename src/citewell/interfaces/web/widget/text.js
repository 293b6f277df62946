/**
 * The words of an answer as elements: paragraphs, lists, quotes, code, bold, links, and `[n]` as a button.
 * The one rule: whatever stands in an answer is text. It is taken apart here, and never parsed as HTML.
 */
import { make, webAddress } from "./dom.js";

/** @typedef {(n: number) => HTMLElement | null} Cite  the button of a source; null where there is none of that number */

const FENCE = /^\s*(```|~~~)/;
const ITEM = /^\s*(?:[-*+•]|(\d{1,4})[.)])\s+(.*)$/;
const HEADING = /^\s{0,3}#{1,6}\s+(.*?)\s*#*$/;
const QUOTE = /^\s*>\s?(.*)$/;
const RULE = /^\s*([-*_])(?:\s*\1){2,}\s*$/;
const INLINE = /`([^`]+)`|\*\*(?=\S)([^*]+?)\*\*|__(?=\S)([^_]+?)__|\[(\d{1,4})\](?!\()|\[([^\][]{1,300})\]\(([^\s()<>]{1,2000})\)|(https?:\/\/[^\s<>"'“”（）。，；、！？)\]]+)/g;

/** @param {string} text @param {Cite} cite @returns {Node[]} */
export function blocks(text, cite) {
  const lines = text.replace(/\r\n?/g, "\n").split("\n");
  /** @type {Node[]} */
  const made = [];
  for (let at = 0; at < lines.length; ) {
    const line = lines[at] ?? "";
    const heading = HEADING.exec(line);
    if (!line.trim() || RULE.test(line)) at += 1;
    else if (FENCE.test(line)) at = code(lines, at, made);
    else if (heading) {
      made.push(make("p", { class: "heading" }, ...inline(heading[1] ?? "", cite)));
      at += 1;
    } else if (ITEM.test(line)) at = list(lines, at, made, cite);
    else if (QUOTE.test(line)) at = gathered(lines, at, (each) => QUOTE.exec(each)?.[1], (said) => made.push(make("blockquote", {}, ...inline(said, cite))));
    else at = gathered(lines, at, plain, (said) => made.push(make("p", {}, ...inline(said, cite))));
  }
  return made;
}

/** A line that goes on with the paragraph it stands in. @param {string} line */
function plain(line) {
  return !line.trim() || FENCE.test(line) || ITEM.test(line) || HEADING.test(line) || QUOTE.test(line) ? undefined : line;
}

/** @param {string[]} lines @param {number} at @param {(line: string) => string | undefined} of @param {(said: string) => void} end */
function gathered(lines, at, of, end) {
  const said = [];
  for (let one; at < lines.length && (one = of(lines[at] ?? "")) !== undefined; at += 1) said.push(one);
  end(said.join("\n"));
  return at;
}

/** @param {string[]} lines @param {number} at @param {Node[]} made */
function code(lines, at, made) {
  const mark = FENCE.exec(lines[at] ?? "")?.[1] ?? "```";
  const said = [];
  for (at += 1; at < lines.length && !(lines[at] ?? "").trim().startsWith(mark); at += 1) said.push(lines[at]);
  made.push(make("pre", { tabindex: 0 }, make("code", {}, said.join("\n"))));
  return at + 1;
}

/** Items of one kind in a row; a line between them goes on with the one before. @param {string[]} lines @param {number} at
 * @param {Node[]} made @param {Cite} cite */
function list(lines, at, made, cite) {
  const first = ITEM.exec(lines[at] ?? "")?.[1];
  /** @type {string[]} */
  const items = [];
  for (; at < lines.length; at += 1) {
    const line = lines[at] ?? "";
    const found = ITEM.exec(line);
    if (found && Boolean(found[1]) === Boolean(first)) items.push(found[2] ?? "");
    else if (!found && /^\s+\S/.test(line) && items.length) items[items.length - 1] += `\n${line.trim()}`;
    else if (line.trim() || !ITEM.test(lines[at + 1] ?? "")) break;
  }
  const inside = items.map((each) => make("li", {}, ...inline(each, cite)));
  made.push(first ? make("ol", { start: Number(first) === 1 ? null : Number(first) }, ...inside) : make("ul", {}, ...inside));
  return at;
}

/** @param {string} text @param {Cite} cite @returns {(Node | string)[]} */
export function inline(text, cite) {
  /** @type {(Node | string)[]} */
  const made = [];
  let done = 0;
  for (const found of text.matchAll(INLINE)) {
    const [whole, tick, star, under, number, label, target, bare] = found;
    const bold = star ?? under;
    /** @type {Node | string | null} */
    let node = whole;
    if (tick !== undefined) node = make("code", {}, tick);
    else if (bold !== undefined) node = make("strong", {}, ...inline(bold, cite));
    else if (number !== undefined) node = cite(Number(number)) ?? whole;
    else if (label !== undefined) node = link(target ?? "", label) ?? label;
    else if (bare !== undefined) node = link(bare, bare) ?? bare;
    made.push(...broken(text.slice(done, found.index)), node);
    done = found.index + whole.length;
  }
  made.push(...broken(text.slice(done)));
  return made;
}

/** @param {string} text @returns {(Node | string)[]} */
function broken(text) {
  return text.split("\n").flatMap((line, n) => (n ? [make("br"), line] : [line]));
}

/** @param {string} target @param {string} label */
function link(target, label) {
  const url = webAddress(target);
  return url ? make("a", { href: url, target: "_blank", rel: "noopener noreferrer nofollow" }, label) : null;
}
