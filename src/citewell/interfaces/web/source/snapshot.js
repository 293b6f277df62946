/**
 * A stored web page as something that is safe to show: its text, headings, lists and tables, and nothing that runs or loads.
 * The one rule: what comes out holds only the tags and attributes listed here; it has no address but those of plain links.
 */
import DOMPurify from "dompurify";
import { plainMarkup } from "./markup.js";

const TAGS = `a abbr address b bdi bdo blockquote br caption cite code col colgroup data dd del details dfn div dl dt em figcaption
  figure h1 h2 h3 h4 h5 h6 hr i img ins kbd li mark ol p pre q rp rt ruby s samp small span strong sub summary sup table tbody td
  tfoot th thead time tr u ul var wbr`.split(/\s+/);
const ATTRIBUTES = ["href", "alt", "colspan", "rowspan", "lang", "dir", "start", "scope", "open"];
// of these nothing is shown, also not what stands in them
const NOTHING_OF = `script style noscript template iframe frame frameset object applet audio video canvas map svg math button select option
  optgroup textarea datalist output progress meter dialog portal title noembed noframes`.split(/\s+/);
const PASSED = new Set([...TAGS, ...NOTHING_OF]); // what is cleaned away needs its place in the tree

/** Pages longer than this are shown as text: their markup would take seconds to clean. */
export const LONGEST = 3_000_000; // bytes

/**
 * @param {string} markup
 * @param {string} uri where the page was found, for its links
 * @returns {DocumentFragment}
 */
export function safeFragment(markup, uri) {
  const clean = DOMPurify.sanitize(plainMarkup(markup, PASSED, new Set(ATTRIBUTES)), {
    ALLOWED_TAGS: [...TAGS],
    ALLOWED_ATTR: [...ATTRIBUTES],
    ALLOW_DATA_ATTR: false,
    ALLOW_ARIA_ATTR: false,
    ALLOW_UNKNOWN_PROTOCOLS: false,
    FORBID_CONTENTS: [...NOTHING_OF],
    KEEP_CONTENT: true,
    RETURN_DOM_FRAGMENT: true,
  });
  for (const link of clean.querySelectorAll("a")) leadOut(link, uri);
  for (const image of clean.querySelectorAll("img")) image.replaceWith(...inWords(image));
  for (const details of clean.querySelectorAll("details")) details.open = true;
  return clean;
}

/** A link of the web opens by itself and says nothing of this page; any other leads nowhere. @param {HTMLAnchorElement} link @param {string} uri */
function leadOut(link, uri) {
  const href = link.getAttribute("href");
  link.removeAttribute("href");
  if (!href || href.startsWith("#")) return;
  const there = webAddress(href, uri);
  if (!there) return;
  link.href = there;
  link.target = "_blank";
  link.rel = "noopener noreferrer nofollow";
}

/** An address of the web in full; empty for what is none. @param {string} href @param {string} [base] */
export function webAddress(href, base) {
  try {
    const url = new URL(href, base);
    return url.protocol === "http:" || url.protocol === "https:" ? url.href : "";
  } catch {
    return "";
  }
}

/** What a picture says for itself; pictures are never loaded. @param {Element} image */
function inWords(image) {
  const alt = image.getAttribute("alt")?.trim();
  if (!alt) return [];
  const words = document.createElement("span");
  words.className = "picture";
  words.textContent = alt;
  return [words];
}

/**
 * The words of stored bytes: by their mark, by what the page says of itself, else the first encoding that fits.
 * @param {ArrayBuffer} data
 */
export function decoded(data) {
  const bytes = new Uint8Array(data);
  const head = new TextDecoder("latin1").decode(bytes.subarray(0, 4096));
  const named = /<meta[^>]+charset\s*=\s*["']?\s*([\w-]+)/i.exec(head)?.[1] ?? /^<\?xml[^>]+encoding\s*=\s*["']([\w-]+)/i.exec(head)?.[1];
  const marked = bytes[0] === 0xff && bytes[1] === 0xfe ? "utf-16le" : bytes[0] === 0xfe && bytes[1] === 0xff ? "utf-16be" : "";
  for (const label of [marked, "utf-8", named, "gb18030"]) {
    if (!label) continue;
    try {
      return new TextDecoder(label, { fatal: true }).decode(bytes);
    } catch {
      continue; // not that one, or none that the browser knows
    }
  }
  return new TextDecoder("windows-1252").decode(bytes);
}

/** The text of a tree, and which node holds each part of it. @param {Node} root */
export function textOf(root) {
  /** @type {{node: Text, start: number}[]} */
  const nodes = [];
  /** @type {string[]} */
  const parts = [];
  let length = 0;
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const text = /** @type {Text} */ (node);
    nodes.push({ node: text, start: length });
    parts.push(text.data);
    length += text.data.length;
  }
  return { text: parts.join(""), nodes };
}

/**
 * Put `<mark>` around a span of a tree's text. Returns the marks.
 * @param {{node: Text, start: number}[]} nodes
 * @param {readonly [number, number]} span
 */
export function mark(nodes, [from, to]) {
  const marks = [];
  for (const { node, start } of nodes) {
    const [first, last] = [Math.max(from - start, 0), Math.min(to - start, node.data.length)];
    if (first >= last || !node.data.slice(first, last).trim()) continue;
    const range = document.createRange();
    range.setStart(node, first);
    range.setEnd(node, last);
    const around = document.createElement("mark");
    range.surroundContents(around);
    marks.push(around);
  }
  return marks;
}
