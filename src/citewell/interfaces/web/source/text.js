/**
 * The parsed text of a document with the cited words marked. The one rule: however long it is, only a window of it is drawn; more
 * comes as one scrolls, and what one looks at stays where it is.
 */
import { Problem } from "../ui/notice.js";
import { html, useEffect, useLayoutEffect, useMemo, useRef, useState } from "../ui/html.js";
import { t } from "../i18n.js";
import { contentOf } from "./load.js";
import { cut, leafAt, located, partsOf, piecesOf } from "./leaves.js";
import { intoView } from "./scroll.js";

/** @typedef {import("./load.js").Info} Info */
/** @typedef {import("./load.js").Content} Content */
/** @typedef {import("./state.js").Citation} Citation */
/** @typedef {{from: number, to: number}} Drawn leaves, the last one not included */

const STEP = 4; // leaves more at a time
const MOST = 24; // leaves drawn at once
const NEAR = 1200; // pixels from an end at which more is drawn
const LISTED = 800; // sections that can be chosen

/** @param {{info: Info, citation: Citation}} props */
export function TextView({ info, citation }) {
  const [content, setContent] = useState(/** @type {Content | null} */ (null));
  const [error, setError] = useState(/** @type {unknown} */ (null));
  useEffect(() => {
    let left = false;
    setError(null);
    contentOf(info).then(
      (found) => !left && setContent(found),
      (problem) => !left && setError(problem),
    );
    return () => void (left = true);
  }, [info.doc_id, info.sha256]);
  if (error) return html`<${Problem} error=${error} />`;
  if (!content) return html`<p class="panel-wait" role="status">${t("source.loading")}</p>`;
  return html`<${Leaves} content=${content} citation=${citation} />`;
}

/** @param {{content: Content, citation: Citation}} props */
function Leaves({ content, citation }) {
  const starts = useMemo(() => cut(content.text), [content]);
  const parts = useMemo(() => partsOf(content), [content]);
  const found = useMemo(() => located(content, citation), [content, citation]);
  const first = found.span?.[0] ?? content.pages.find((page) => page.number === citation.page)?.start ?? 0;
  const frame = useRef(/** @type {HTMLDivElement | null} */ (null));
  const [goal, setGoal] = useState({ at: first });
  const [drawn, setDrawn] = useState(() => around(leafAt(starts, first), starts.length));
  const held = useRef(/** @type {{leaf: number, top: number} | null} */ (null));
  const shown = useRef(drawn);
  const staying = useRef(false);
  if (shown.current !== drawn) {
    // looked at just before the leaves change: between a scroll and this one may have scrolled on
    held.current = staying.current && frame.current ? anchorOf(frame.current, shown.current, drawn) : null;
    shown.current = drawn;
  }

  const goTo = (/** @type {number} */ at) => {
    staying.current = false;
    setDrawn(around(leafAt(starts, at), starts.length));
    setGoal({ at });
  };
  useEffect(() => goTo(first), [found]);
  useLayoutEffect(() => reveal(frame.current, goal.at, starts, found.span?.[0] ?? -1), [goal]);
  useLayoutEffect(() => hold(frame.current, held), [drawn]);

  const scrolled = () => {
    const next = frame.current && more(frame.current, drawn, starts.length);
    if (!next || !frame.current) return;
    staying.current = true;
    setDrawn(next);
  };
  // who scrolled on before the last window was drawn may be at its very end, where no scrolling is heard of
  useEffect(scrolled, [drawn]);
  const leaves = Array.from({ length: drawn.to - drawn.from }, (_, n) => drawn.from + n);
  return html`${parts.length > 1 && html`<${Contents} parts=${parts} onGo=${goTo} />`}
    <div class="panel-scroll panel-text" ref=${frame} onScroll=${scrolled} tabindex="0" role="region" aria-label=${t("source.text")}
      lang=${content.lang}>
      ${leaves.map((n) => html`<${Leaf} key=${n} n=${n} text=${content.text} from=${starts[n]} to=${starts[n + 1] ?? content.text.length}
        parts=${parts} span=${found.span} />`)}
      ${drawn.to < starts.length && html`<p class="panel-wait">${t("source.goes_on")}</p>`}
    </div>`;
}

/** @param {{n: number, text: string, from: number, to: number, parts: import("./leaves.js").Part[], span: import("./quote.js").Span | null}} props */
function Leaf({ n, text, from, to, parts, span }) {
  const pieces = useMemo(() => piecesOf(text, from, to, parts, span), [text, from, to, parts, span]);
  return html`<div class="panel-leaf" data-leaf=${n}>${pieces.map((piece) =>
    piece.kind === "mark" ? html`<mark>${piece.text}</mark>`
      : piece.kind === "heading" ? html`<strong class="panel-heading">${piece.text}</strong>` : piece.text)}</div>`;
}

/** @param {{parts: import("./leaves.js").Part[], onGo: (at: number) => void}} props */
function Contents({ parts, onGo }) {
  const listed = parts.slice(0, LISTED);
  return html`<div class="panel-contents">
    <select aria-label=${t("source.section")} onChange=${(/** @type {any} */ event) => {
      const at = event.currentTarget.value;
      if (at !== "") onGo(Number(at));
      event.currentTarget.value = "";
    }}>
      <option value="">${t("source.section")}</option>
      ${listed.map((part) => html`<option value=${part.at} key=${part.at}>${"\u2003".repeat(part.path.length - 1) + part.title}</option>`)}
    </select>
  </div>`;
}

/** @param {number} leaf @param {number} count @returns {Drawn} */
function around(leaf, count) {
  return { from: Math.max(0, leaf - STEP), to: Math.min(count, leaf + STEP + 1) };
}

/** What is to be drawn where one has scrolled near an end; null where nothing changes. @param {HTMLElement} frame @param {Drawn} drawn @param {number} count */
function more(frame, { from, to }, count) {
  const below = frame.scrollHeight - frame.scrollTop - frame.clientHeight;
  if (below < NEAR && to < count) {
    const end = Math.min(count, to + STEP);
    return { from: Math.max(from, end - MOST), to: end };
  }
  if (frame.scrollTop < NEAR && from > 0) {
    const start = Math.max(0, from - STEP);
    return { from: start, to: Math.min(to, start + MOST) };
  }
  return null;
}

/** A leaf that stays, and where it is now. @param {HTMLElement} frame @param {Drawn} now @param {Drawn} next */
function anchorOf(frame, now, next) {
  const leaf = next.to > now.to ? Math.min(now.to, next.to) - 1 : now.from;
  const top = frame.querySelector(`[data-leaf="${leaf}"]`)?.getBoundingClientRect().top;
  return top === undefined ? null : { leaf, top };
}

/** Put the leaf that stayed where it was. @param {HTMLElement | null} frame @param {{current: {leaf: number, top: number} | null}} held */
function hold(frame, held) {
  const kept = held.current;
  held.current = null;
  const leaf = kept && frame?.querySelector(`[data-leaf="${kept.leaf}"]`);
  if (leaf && frame) frame.scrollTop += leaf.getBoundingClientRect().top - kept.top;
}

/** @param {HTMLElement | null} frame @param {number} at @param {readonly number[]} starts @param {number} marked */
function reveal(frame, at, starts, marked) {
  if (!frame) return;
  const mark = at === marked ? frame.querySelector("mark") : null;
  if (mark || at === 0) return intoView(frame, mark);
  const n = leafAt(starts, at);
  const leaf = frame.querySelector(`[data-leaf="${n}"]`);
  const place = leaf && placeIn(leaf, at - Number(starts[n]));
  if (place) frame.scrollTop += place.getBoundingClientRect().top - frame.getBoundingClientRect().top - 16;
}

/** The place of a character in a leaf. @param {Element} leaf @param {number} offset */
function placeIn(leaf, offset) {
  const walker = document.createTreeWalker(leaf, NodeFilter.SHOW_TEXT);
  let left = offset;
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const text = /** @type {Text} */ (node);
    if (left < text.data.length) {
      const range = document.createRange();
      range.setStart(text, left);
      range.setEnd(text, left + 1);
      return range;
    }
    left -= text.data.length;
  }
  return leaf;
}
