/**
 * A light on words of a PDF's page whose boxes are not known: the quote of a step, a caption, an entry of the references.
 * The one rule: it is laid over the page by the browser's own highlights; the page itself is not touched.
 */

import { findQuote } from "../source/quote.js";
import { intoView } from "../source/scroll.js";

/** @typedef {import("./types.js").Look} Look */

const NAME = "paper-light";
const SCROLLING = ["wheel", "pointerdown", "keydown"]; // by these a reader does

/**
 * Light the quote as soon as its page is drawn, and again when it is drawn anew (a zoom, another width). It is brought into view until
 * the reader scrolls. Returns what takes the light away.
 * @param {HTMLElement} pane
 * @param {Look} look
 */
export function light(pane, look) {
  const highlights = /** @type {any} */ (CSS).highlights;
  if (!highlights || !look.quote || look.boxes.length || !look.page) return undefined;
  /** @type {Range | null} */
  let lit = null;
  let scrolled = false;
  const tried = () => {
    if (lit && !lit.collapsed) return; // one whose words are gone has collapsed to where they were
    lit = rangeIn(pane, look);
    if (!lit) return;
    highlights.set(NAME, new /** @type {any} */ (window).Highlight(lit));
    if (!scrolled) intoView(scrollerOf(lit.startContainer), lit.startContainer.parentElement);
  };
  const letGo = (/** @type {Event} */ event) => {
    if (event.target instanceof Element && event.target.closest(".panel-scroll")) scrolled = true;
  };
  const watch = new MutationObserver(tried);
  watch.observe(pane, { childList: true, subtree: true });
  for (const kind of SCROLLING) pane.addEventListener(kind, letGo);
  tried();
  return () => {
    watch.disconnect();
    for (const kind of SCROLLING) pane.removeEventListener(kind, letGo);
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
