/**
 * A confirmed answer's document, which is Markdown, as a reader sees it: its facts, then its parts, the quote marked.
 * The one rule: it goes the one way that text becomes HTML here (ui/markdown); where the quote is not found, the text is shown.
 */
import { bytesOf, contentOf } from "./load.js";
import { markQuote } from "./found.js";
import { unitsOf } from "./quote.js";
import { intoView } from "./scroll.js";
import { t } from "../i18n.js";
import { html, useEffect, useLayoutEffect, useRef, useState } from "../ui/html.js";
import { Markdown } from "../ui/markdown.js";

/** @typedef {import("./load.js").Info} Info */
/** @typedef {import("./state.js").Citation} Citation */
/** @typedef {{front: [string, string][], body: string, before: string, after: string}} Parts */

const AROUND = 200; // characters before and after a quote that tell equal places apart
const FACTS = ["title", "tags", "priority"]; // of the front matter; the rest is for programs
const LONGEST = 500_000; // bytes

/** Whether a document is one. @param {Info} info */
export function isConfirmed({ collection, media_type, bytes }) {
  return collection === "confirmed_qa" && media_type === "text/markdown" && bytes <= LONGEST;
}

/** @param {{info: Info, citation: Citation, onMissing: (why: "quote" | "failed") => void}} props */
export function MarkdownView({ info, citation, onMissing }) {
  const frame = useRef(/** @type {HTMLDivElement | null} */ (null));
  const [parts, setParts] = useState(/** @type {Parts | null} */ (null));
  useEffect(() => {
    let left = false;
    loaded(info, citation).then((found) => !left && setParts(found), () => !left && onMissing("failed"));
    return () => void (left = true);
  }, [info.doc_id, info.sha256, citation]);
  useLayoutEffect(() => {
    const shown = frame.current?.querySelector(".md");
    if (!parts || !shown || !citation.quote) return;
    const marks = markQuote(shown, citation.quote, parts);
    if (marks.length) intoView(frame.current, marks[0]);
    else onMissing("quote");
  }, [parts]);
  return html`<div class="panel-scroll panel-markdown" ref=${frame} tabindex="0" role="region" aria-label=${t("source.text")} lang=${info.lang}>
    ${parts
      ? html`<dl class="facts">${parts.front.map(([name, value]) => html`<div key=${name}><dt>${t(`source.front_${name}`)}</dt><dd>${value}</dd></div>`)}</dl>
          <h2 class="unseen">${t("source.text")}</h2>
          <${Markdown} text=${parts.body} />`
      : html`<p class="panel-wait" role="status">${t("source.loading")}</p>`}
  </div>`;
}

/** @param {Info} info @param {Citation} citation @returns {Promise<Parts>} */
async function loaded(info, citation) {
  const [bytes, content] = await Promise.all([bytesOf(info), citation.quote ? contentOf(info).catch(() => null) : null]);
  const text = content?.text ?? "";
  const units = unitsOf(text);
  const [start, end] = [units(citation.start), units(citation.end)];
  const beside = { before: text.slice(Math.max(0, start - AROUND), start), after: text.slice(end, end + AROUND) };
  return { ...split(new TextDecoder().decode(bytes)), ...beside };
}

/** The front matter's facts and what follows it: each field is one line, as `store/confirmed/item_markdown.py` writes it. @param {string} markdown */
export function split(markdown) {
  const found = /^---\n([\s\S]*?)\n---\n?/.exec(markdown);
  const lines = (found?.[1] ?? "").split("\n").map((line) => /^(\w+): (.*)$/.exec(line)).filter((line) => line !== null);
  const front = /** @type {[string, string][]} */ (lines.map(([, name = "", value = ""]) => [name, plain(value)]));
  return { front: front.filter(([name, value]) => FACTS.includes(name) && value), body: bare(markdown.slice(found?.[0].length ?? 0).trim()) };
}

/** Without what our reader would take for math: a formula's signs are text there, and only text. Code stays as it is. @param {string} body */
function bare(body) {
  const pieces = body.split(/^((`{3,})[^`\n]*\n[\s\S]*?^\2`*$)/m); // text, fence, its ticks, text, ...
  const plainly = (/** @type {string} */ text) => text.replaceAll("\\[", "&#91;").replaceAll("\\]", "&#93;").replaceAll("$", "&#36;");
  return pieces.map((piece, n) => (n % 3 === 0 ? plainly(piece) : n % 3 === 1 ? piece : "")).join("");
}

/** A value of YAML on one line: a text in quotes, a list, or as it stands. @param {string} value @returns {string} */
function plain(value) {
  if (/^\[.*\]$/.test(value)) return value.slice(1, -1).split(", ").map(plain).join(", ");
  if (/^'.*'$/.test(value)) return value.slice(1, -1).replaceAll("''", "'");
  if (!/^".*"$/.test(value)) return value;
  try {
    return String(JSON.parse(value));
  } catch {
    return value.slice(1, -1); // an escape that JSON does not know
  }
}
