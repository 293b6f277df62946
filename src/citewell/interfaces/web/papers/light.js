/**
 * A light on words of a PDF's page whose boxes are not known: the quote of a step, a caption, an entry of the references.
 * The one rule: it is laid over the page by the browser's own highlights; the page itself is not touched.
 */

import { findQuote } from "../source/quote.js";
import { intoView } from "../source/scroll.js";

/** @typedef {import("./types.js").Look} Look */

const NAME = "paper-light";
const PATIENCE = 8000; // milliseconds in which the page must have come

/**
 * Light the quote as soon as its page is drawn. Returns what takes the light away.
 * @param {HTMLElement} pane
 * @param {Look} look
 */
export function light(pane, look) {
  const highlights = /** @type {any} */ (CSS).highlights;
  if (!highlights || !look.quote || look.boxes.length || !look.page) return undefined;
  let lit = false;
  const tried = () => {
    const range = lit ? null : rangeIn(pane, look);
    if (!range) return;
    lit = true;
    highlights.set(NAME, new /** @type {any} */ (window).Highlight(range));
    intoView(scrollerOf(range.startContainer), range.startContainer.parentElement);
  };
  const watch = new MutationObserver(tried);
  watch.observe(pane, { childList: true, subtree: true });
  tried();
  const timer = setTimeout(() => watch.disconnect(), PATIENCE);
  return () => {
    watch.disconnect();
    clearTimeout(timer);
    highlights.delete(NAME);
  };
}

/** The frame in which it is scrolled. @param {Node} node */
function scrollerOf(node) {
  let at = node.parentElement;
  while (at && (at.scrollHeight <= at.clientHeight || getComputedStyle(at).overflowY === "visible")) at = at.parentElement;
  return at;
}

/** Where a quote stands in the words of its page; null while they are not there. @param {HTMLElement} pane @param {Look} look */
function rangeIn(pane, { page, quote }) {
  const words = pane.querySelector(`[data-page="${page}"]`);
  if (!words?.textContent) return null;
  const span = findQuote(words.textContent, quote);
  if (!span) return null;
  const range = document.createRange();
  const walker = document.createTreeWalker(words, NodeFilter.SHOW_TEXT);
  let at = 0;
  let begun = false;
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const length = /** @type {Text} */ (node).data.length;
    if (!begun && span[0] < at + length) {
      range.setStart(node, span[0] - at);
      begun = true;
    }
    if (begun && span[1] <= at + length) {
      range.setEnd(node, span[1] - at);
      return range;
    }
    at += length;
  }
  return null;
}
