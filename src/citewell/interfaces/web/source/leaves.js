/**
 * A long text cut into leaves, so that only those near the window are drawn.
 * The one rule: the leaves cover the text without a gap, and none is cut inside a line unless the line is longer than a leaf.
 */
import { before, findQuote, unitsOf } from "./quote.js";

/** @typedef {import("./load.js").Content} Content */
/** @typedef {import("./quote.js").Span} Span */
/** @typedef {{title: string, path: string[], at: number}} Part a section: where it begins */
/** @typedef {{kind: "text" | "mark" | "heading", text: string}} Piece */

const LONG = 3000; // characters of a leaf
const AROUND = 200; // characters around a quote that tell equal places apart

/**
 * Where each leaf begins.
 * @param {string} text
 */
export function cut(text) {
  const starts = [0];
  for (let at = LONG; at < text.length; ) {
    let end = text.lastIndexOf("\n", at) + 1;
    if (end <= Number(starts.at(-1))) end = isMiddle(text, at) ? at + 1 : at;
    starts.push(end);
    at = end + LONG;
  }
  return starts;
}

/** Whether a character of two units would be cut in two. @param {string} text @param {number} at */
function isMiddle(text, at) {
  const unit = text.charCodeAt(at);
  return unit >= 0xdc00 && unit < 0xe000;
}

/**
 * Where a citation stands in the text as it is now, and whether that is where it stood.
 * @param {Content} content
 * @param {{quote: string, start: number, end: number}} citation
 * @returns {{span: Span | null, moved: boolean}}
 */
export function located(content, { quote, start, end }) {
  if (!quote) return { span: null, moved: false };
  const units = unitsOf(content.text);
  const [from, to] = [units(start), units(end)];
  if (content.text.slice(from, to) === quote) return { span: [from, to], moved: false };
  const beside = { before: content.text.slice(Math.max(0, from - AROUND), from), after: content.text.slice(to, to + AROUND) };
  return { span: findQuote(content.text, quote, beside), moved: true };
}

/** The sections with a heading of their own. @param {Content} content @returns {Part[]} */
export function partsOf(content) {
  const units = unitsOf(content.text);
  /** @type {Part[]} */
  const parts = [];
  for (const { heading_path, start } of content.sections) {
    const title = heading_path.at(-1)?.trim();
    if (title) parts.push({ title, path: heading_path, at: units(start) });
  }
  return parts;
}

/** The leaf that holds a place. @param {readonly number[]} starts @param {number} at */
export function leafAt(starts, at) {
  return Math.max(0, before(starts, at + 1) - 1);
}

/**
 * A leaf in pieces: headings, marked and plain text.
 * @param {string} text
 * @param {number} from
 * @param {number} to
 * @param {readonly Part[]} parts
 * @param {Span | null} span
 * @returns {Piece[]}
 */
export function piecesOf(text, from, to, parts, span) {
  /** @type {Piece[]} */
  const pieces = [];
  let at = from;
  const add = (/** @type {number} */ end, /** @type {Piece["kind"]} */ kind) => {
    const stop = Math.min(end, to);
    if (stop <= at) return;
    if (kind === "text" && span) {
      for (const [edge, inside] of /** @type {[number, boolean][]} */ ([[span[0], false], [span[1], true], [stop, false]])) {
        const next = Math.min(edge, stop);
        if (next > at) pieces.push({ kind: inside ? "mark" : "text", text: text.slice(at, next) });
        at = Math.max(at, next);
      }
    } else pieces.push({ kind, text: text.slice(at, stop) });
    at = Math.max(at, stop);
  };
  for (const part of parts) {
    const end = part.at + part.title.length;
    if (part.at < at || part.at >= to || !text.startsWith(part.title, part.at)) continue;
    if (span && span[0] < end && span[1] > part.at) continue; // a heading that is cited is marked, not dressed
    add(part.at, "text");
    add(end, "heading");
  }
  add(to, "text");
  return pieces;
}
