/**
 * Where a quote stands in a cleaned page. The parsed text of a table's row carries the heads of its columns
 * (`Cost: up to €500 | Approved by: your manager`), the page does not. The one rule: whole cells are compared, in their order.
 */
import { findQuote, letters } from "./quote.js";
import { mark, textOf } from "./snapshot.js";

/**
 * Mark a quote in a tree. Returns the marks, none where it is not found.
 * @param {Element} root
 * @param {string} quote
 * @param {{before: string, after: string}} beside
 * @returns {Element[]}
 */
export function markQuote(root, quote, beside) {
  const { text, nodes } = textOf(root);
  const span = findQuote(text, quote, beside);
  if (span) return mark(nodes, span);
  const lines = quote.split("\n").filter((line) => letters(line).said);
  const marks = lines.map((line) => markLine(root, line));
  return marks.filter((each) => each.length).length * 2 > lines.length ? marks.flat() : [];
}

/** A line of a quote: a row of a table, or words. @param {Element} root @param {string} line @returns {Element[]} */
function markLine(root, line) {
  const row = line.includes(": ") ? rowOf(root, line) : null;
  if (row) return [...row.cells].flatMap((cell) => whole(cell));
  const { text, nodes } = textOf(root);
  const span = findQuote(text, line);
  return span ? mark(nodes, span) : [];
}

/** @param {Element} root @param {string} line @returns {HTMLTableRowElement | null} */
function rowOf(root, line) {
  const wanted = line.split(" | ").map((cell) => letters(cell).said);
  for (const row of root.querySelectorAll("tr")) {
    const cells = [...row.cells].map((cell) => letters(cell.textContent ?? "").said).filter(Boolean);
    if (cells.length && cells.length <= wanted.length && inOrder(cells, wanted)) return row;
  }
  return null;
}

/** Whether each cell ends one of the wanted ones, in their order, and none is left over. @param {string[]} cells @param {string[]} wanted */
function inOrder(cells, wanted) {
  let at = 0;
  for (const each of wanted.filter(Boolean)) {
    if (at < cells.length && each.endsWith(/** @type {string} */ (cells[at]))) at += 1;
  }
  return at === cells.length && cells.length * 2 > wanted.filter(Boolean).length;
}

/** @param {Element} cell */
function whole(cell) {
  const { text, nodes } = textOf(cell);
  return mark(nodes, [0, text.length]);
}
