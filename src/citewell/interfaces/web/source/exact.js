/**
 * The cited words themselves on a drawn page: the server's boxes are those of whole lines. The one rule: only words that stand in
 * those lines are looked at, so that the same words elsewhere on the page are never marked.
 */
import { findQuote } from "./quote.js";

const ROOM = 2; // pixels around a line in which the middle of its words lies

/**
 * The boxes narrowed to the quote; as they are where it is not found in the words over the page (a row of a table, a scan).
 * @param {HTMLElement} words pdf.js's layer of text
 * @param {number[][]} boxes [page, x0, y0, x1, y1], in shares of the page
 * @param {string} quote
 * @returns {number[][]}
 */
export function exactBoxes(words, boxes, quote) {
  const page = words.getBoundingClientRect();
  if (!quote || !boxes.length || !page.width || !page.height) return boxes;
  const lines = boxes.map(([n = 0, x0 = 0, y0 = 0, x1 = 0, y1 = 0]) => ({
    n, y0, y1,
    left: page.left + x0 * page.width - ROOM,
    right: page.left + x1 * page.width + ROOM,
    top: page.top + y0 * page.height - ROOM,
    bottom: page.top + y1 * page.height + ROOM,
    from: Infinity,
    to: -Infinity,
  }));
  const { text, nodes } = wordsIn(words, lines);
  const span = findQuote(text, quote);
  if (!span) return boxes;
  for (const rect of rectsOf(nodes, span)) {
    const line = lines.find((each) => isIn(rect, each));
    if (!line) continue;
    line.from = Math.min(line.from, rect.left);
    line.to = Math.max(line.to, rect.right);
  }
  const found = lines.filter((line) => line.to > line.from);
  if (!found.length) return boxes;
  return found.map(({ n, y0, y1, from, to }) => [n, (from - page.left) / page.width, y0, (to - page.left) / page.width, y1]);
}

/** The text of those words that stand in the lines. @param {HTMLElement} words @param {readonly Line[]} lines */
function wordsIn(words, lines) {
  /** @type {{node: Text, start: number}[]} */
  const nodes = [];
  let text = "";
  const walker = document.createTreeWalker(words, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const rect = node.parentElement?.getBoundingClientRect();
    if (!rect || !lines.some((line) => touches(rect, line))) continue;
    const piece = /** @type {Text} */ (node);
    nodes.push({ node: piece, start: text.length });
    text += piece.data;
  }
  return { text, nodes };
}

/** @param {{node: Text, start: number}[]} nodes @param {readonly [number, number]} span */
function rectsOf(nodes, [from, to]) {
  return nodes.flatMap(({ node, start }) => {
    const [first, last] = [Math.max(from - start, 0), Math.min(to - start, node.data.length)];
    if (first >= last) return [];
    const range = document.createRange();
    range.setStart(node, first);
    range.setEnd(node, last);
    return [...range.getClientRects()];
  });
}

/** @typedef {{left: number, right: number, top: number, bottom: number}} Line */

/** Whether the middle of a rectangle lies in a line. @param {DOMRect} rect @param {Line} line */
function isIn(rect, line) {
  const [x, y] = [(rect.left + rect.right) / 2, (rect.top + rect.bottom) / 2];
  return x >= line.left && x <= line.right && y >= line.top && y <= line.bottom;
}

/** Whether a rectangle stands at the height of a line and shares some of its width. @param {DOMRect} rect @param {Line} line */
function touches(rect, line) {
  const y = (rect.top + rect.bottom) / 2;
  return y >= line.top && y <= line.bottom && rect.right > line.left && rect.left < line.right;
}
