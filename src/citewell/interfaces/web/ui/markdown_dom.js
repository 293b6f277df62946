/**
 * Markdown to nodes that may be shown. The one rule: what the text itself brings is text; every element is one of ours, and
 * all of them pass DOMPurify, without styles, ids, pictures or forms.
 */
import DOMPurify from "dompurify";
import { Marked } from "marked";
import { colour, formulas } from "./late.js";
import { markVerdicts } from "./markdown_verdicts.js";

/** @typedef {import("../ask/types.js").Citation} Citation */
/** @typedef {import("../ask/types.js").Sentence} Sentence */
/**
 * @typedef {object} Words  texts of the elements that are added
 * @property {string} copy
 * @property {string} table
 * @property {string} code
 * @property {(n: number) => string} cite
 * @property {(sentence: Sentence) => string} verdict
 * @property {(sentence: Sentence) => string} note
 */
/** @typedef {{citations: Citation[], sentences: Sentence[], words: Words}} Around */

const LAST_WORD = /(?:[^\s\u2e80-\uffef]{1,20}|[\u2e80-\uffef]{1,2})\s*$/u;
const LONGEST = 20_000; // characters that are read as Markdown: the time that the worst of it takes grows with its square
const LONGEST_MATH = 2_000;
const HEADING = 2; // an answer's first level stands below the page's and the question's
const CLEAN = {
  USE_PROFILES: { html: true, mathMl: true },
  FORBID_TAGS: ["style", "form", "input", "img", "picture", "video", "audio", "button", "select", "textarea", "dialog"],
  FORBID_ATTR: ["style", "id", "name", "src", "srcset", "background", "action", "formaction", "tabindex"],
  ALLOW_DATA_ATTR: false,
  ADD_ATTR: ["data-cite"],
  RETURN_DOM_FRAGMENT: /** @type {const} */ (true),
};

let known = new Set(/** @type {number[]} */ ([])); // numbers of the citations of the text that is being read

const reader = new Marked({
  gfm: true,
  breaks: true,
  async: false,
  extensions: [
    {
      name: "cite",
      level: "inline",
      start: (/** @type {string} */ text) => text.search(/\[\d/),
      tokenizer(text) {
        const found = /^\[(\d{1,4}(?:\s*[,，、]\s*\d{1,4})*)\](?!\()/.exec(text);
        const numbers = (found?.[1] ?? "").split(/[,，、]/).map(Number);
        if (!found || !numbers.every((n) => known.has(n))) return undefined;
        return { type: "cite", raw: found[0], numbers };
      },
      renderer: (token) => token["numbers"].map((/** @type {number} */ n) => `<span data-cite="${n}"></span>`).join(""),
    },
    {
      name: "math",
      level: "inline",
      start: (/** @type {string} */ text) => text.search(/\$|\\[([]/),
      tokenizer(text) {
        const shown = /^\$\$([^$]+)\$\$/.exec(text) ?? /^\\\[([\s\S]+?)\\\]/.exec(text);
        const found = shown ?? /^\\\(([\s\S]+?)\\\)/.exec(text) ?? /^\$(?![\s$])((?:\\.|[^\\$\n])+?)(?<!\s)\$(?![\d$])/.exec(text);
        if (!found || found[0].length > LONGEST_MATH) return undefined;
        return { type: "math", raw: found[0], tex: found[1], block: Boolean(shown) };
      },
      renderer: (token) => mathOf(token["tex"], token["block"]),
    },
  ],
  tokenizer: { html: () => undefined, tag: () => undefined }, // HTML is read as text
  renderer: {
    code: ({ text, lang }) => `<pre><code class="hljs">${coloured(text, lang ?? "")}</code></pre>`,
    heading({ tokens, depth }) {
      const level = Math.min(6, depth + HEADING);
      return `<h${level}>${this.parser.parseInline(tokens)}</h${level}>`;
    },
    image: ({ href, text }) => `<a href="${escaped(href)}">${escaped(text || href)}</a>`, // a picture would tell its host who reads
    checkbox: ({ checked }) => (checked ? "☑ " : "☐ "),
  },
});

/**
 * @param {string} text
 * @param {Around} around
 * @returns {DocumentFragment}
 */
export function fragmentOf(text, { citations, sentences, words }) {
  known = new Set(citations.map((each) => each.n));
  const markup = read(text);
  if (markup === null) return plainly(text);
  const fragment = DOMPurify.sanitize(markup, CLEAN);
  markVerdicts(fragment, sentences, words.verdict, words.note);
  for (const mark of fragment.querySelectorAll("[data-cite]")) mark.replaceWith(citeButton(mark, words));
  for (const button of fragment.querySelectorAll(".cite")) holdToWord(button);
  for (const link of fragment.querySelectorAll("a")) checkLink(link);
  for (const code of fragment.querySelectorAll("pre")) code.replaceWith(framed(code, words));
  for (const table of fragment.querySelectorAll("table")) table.replaceWith(scrolled(table, words.table));
  return fragment;
}

/** HTML; null for what is too long or too deep to be read. @param {string} text @returns {string | null} */
function read(text) {
  if (text.length > LONGEST) return null;
  try {
    return /** @type {string} */ (reader.parse(text));
  } catch (error) {
    if (error instanceof RangeError) return null; // a quote in a quote in a quote, thousands of times
    throw error;
  }
}

/** As it stands, in paragraphs. @param {string} text */
function plainly(text) {
  const fragment = document.createDocumentFragment();
  for (const part of text.split(/\n{2,}/)) {
    const paragraph = document.createElement("p");
    paragraph.textContent = part;
    fragment.append(paragraph);
  }
  return fragment;
}

/** @param {string} text */
export function escaped(text) {
  return text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);
}

/** @param {string} code @param {string} name */
function coloured(code, name) {
  const language = /^[\w+#-]+/.exec(name)?.[0] ?? "";
  return colour(code, language) ?? escaped(code);
}

/** Without its inline styles, which the content security policy refuses; its own words until what draws it is there. @param {string} tex @param {boolean} block */
function mathOf(tex, block) {
  const library = formulas.library.peek();
  if (!library) void formulas.fetch();
  try {
    if (!library) return `<code>${escaped(tex)}</code>`;
    const mathml = library.renderToString(tex, { displayMode: block, throwOnError: true, trust: false, maxExpand: 200 });
    return mathml.replace(/ style="[^"]*"/g, "");
  } catch {
    return `<code>${escaped(tex)}</code>`;
  }
}

/** @param {Element} mark @param {Words} words */
function citeButton(mark, words) {
  const n = Number(mark.getAttribute("data-cite"));
  const button = document.createElement("button");
  button.type = "button";
  button.className = "cite";
  button.dataset["n"] = String(n);
  button.textContent = String(n);
  button.setAttribute("aria-label", words.cite(n));
  return button;
}

/** A number does not begin a line: it goes with the last word before it, or the last two signs of Chinese. @param {Element} button */
function holdToWord(button) {
  const before = button.previousSibling;
  if (before instanceof Element && before.classList.contains("cited")) return before.append(button);
  const gap = before instanceof Text && !before.data.trim() ? before : null;
  const word = gap ? gap.previousSibling : before;
  const text = word instanceof Element && word.matches(".verdict") ? word.firstChild : word;
  const end = text instanceof Text ? LAST_WORD.exec(text.data) : null;
  if (!word || !(text instanceof Text) || !end) return;
  const held = document.createElement("span");
  held.className = "cited";
  const piece = text.splitText(end.index);
  button.before(held);
  if (text === word) held.append(piece);
  else {
    const around = /** @type {Element} */ (word.cloneNode(false));
    around.append(piece, ...[...word.childNodes].slice(1).filter((each) => each !== piece)); // what is said of it stays behind it
    held.append(around);
  }
  held.append(...(gap ? [gap] : []), button);
}

/** Only the web and mail can be gone to; anything else stays as its words. @param {HTMLAnchorElement} link */
function checkLink(link) {
  let to = null;
  try {
    to = new URL(link.getAttribute("href") ?? "");
  } catch {
    to = null; // relative: a place of this page, which no answer sends people to
  }
  if (!to || !["https:", "http:", "mailto:"].includes(to.protocol)) {
    link.replaceWith(...link.childNodes);
    return;
  }
  link.target = "_blank";
  link.rel = "noopener noreferrer nofollow";
  link.title = to.href;
}

/** @param {HTMLPreElement} code @param {Words} words */
function framed(code, words) {
  const frame = document.createElement("div");
  frame.className = "code";
  const button = document.createElement("button");
  button.type = "button";
  button.className = "code-copy";
  button.textContent = words.copy;
  const kept = /** @type {HTMLPreElement} */ (code.cloneNode(true));
  reachable(kept, words.code);
  frame.append(button, kept);
  return frame;
}

/** @param {HTMLTableElement} table @param {string} label */
function scrolled(table, label) {
  const frame = document.createElement("div");
  frame.className = "md-table";
  reachable(frame, label);
  frame.append(table.cloneNode(true));
  return frame;
}

/** What is too wide is scrolled, by the keyboard too. @param {HTMLElement} element @param {string} label */
function reachable(element, label) {
  element.tabIndex = 0;
  element.setAttribute("role", "group");
  element.setAttribute("aria-label", label);
}
