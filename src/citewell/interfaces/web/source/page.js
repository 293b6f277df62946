/**
 * A web page as it was when it was read: its stored bytes, cleaned, in a tree of its own (a shadow root) with the quote marked.
 * The one rule: where the quote is not found in it, or it cannot be shown, the parsed text is shown instead.
 */
import { html, useEffect, useLayoutEffect, useRef, useState } from "../ui/html.js";
import { t } from "../i18n.js";
import { bytesOf, contentOf } from "./load.js";
import { markQuote } from "./found.js";
import { unitsOf } from "./quote.js";
import { LONGEST, decoded, safeFragment } from "./snapshot.js";
import { intoView } from "./scroll.js";

/** @typedef {import("./load.js").Info} Info */
/** @typedef {import("./state.js").Citation} Citation */

const AROUND = 200; // characters before and after a quote that tell equal places apart
const STYLE = `
  :host { display: block; color: var(--ink, #1b1b1f); }
  .page { font: 400 1rem/1.65 var(--font, system-ui, sans-serif); overflow-wrap: anywhere; }
  h1 { font-size: 1.4rem; } h2 { font-size: 1.2rem; } h3, h4, h5, h6 { font-size: 1.05rem; }
  h1, h2, h3, h4, h5, h6 { line-height: 1.3; margin-block: 1.2em 0.5em; }
  p, ul, ol, dl, table, pre, blockquote, figure { margin-block: 0.7em; }
  figure, blockquote { margin-inline: 0; } blockquote { padding-inline-start: 1em; border-inline-start: 3px solid var(--line, #ccc); }
  ul, ol { padding-inline-start: 1.6em; }
  a { color: inherit; text-decoration-color: color-mix(in srgb, currentcolor 40%, transparent); }
  a[href] { color: var(--accent, #1f5fae); }
  table { display: block; overflow-x: auto; max-inline-size: 100%; border-collapse: collapse; font-size: 0.92em; }
  th, td { border: 1px solid var(--line, #ccc); padding: 0.3em 0.6em; text-align: start; vertical-align: top; }
  pre { overflow-x: auto; white-space: pre-wrap; } code, pre, kbd, samp { font-family: var(--mono, monospace); font-size: 0.92em; }
  hr { border: 0; border-block-start: 1px solid var(--line, #ccc); }
  .picture { display: inline-block; padding: 0 0.5em; border: 1px dashed var(--line, #bbb); border-radius: 4px; font-size: 0.88em; }
  mark { background: var(--mark, #ffe58a); color: var(--mark-ink, #1b1b1f); border-radius: 2px; padding-block: 0.1em;
    box-shadow: 0 0 0 2px var(--mark, #ffe58a); }
`;

/** @type {CSSStyleSheet | undefined} */
let sheet; // made once: a sheet that is built by script needs no word of the content security policy

/**
 * @param {{info: Info, citation: Citation, onMissing: (why: "quote" | "large" | "empty" | "failed") => void}} props
 */
export function PageView({ info, citation, onMissing }) {
  const host = useRef(/** @type {HTMLDivElement | null} */ (null));
  const [page, setPage] = useState(/** @type {{markup: string, before: string, after: string, key: string} | null} */ (null));
  const key = `${info.doc_id} ${info.sha256} ${citation.start} ${citation.end}`;
  useEffect(() => {
    let left = false;
    if (info.bytes > LONGEST) onMissing("large");
    else
      loaded(info, citation).then(
        (found) => !left && setPage({ ...found, key }),
        () => !left && onMissing("failed"),
      );
    return () => void (left = true);
  }, [key]);
  useLayoutEffect(() => {
    if (!host.current || page?.key !== key) return;
    const why = draw(host.current, page, info, citation);
    if (why) onMissing(why);
  }, [page]);
  return html`<div class="panel-scroll panel-page" tabindex="0" role="region" aria-label=${t("source.snapshot")}>
    ${!page && html`<p class="panel-wait" role="status">${t("source.loading")}</p>`}
    <div ref=${host} class="panel-snapshot"></div>
  </div>`;
}

/** @param {Info} info @param {Citation} citation */
async function loaded(info, citation) {
  const [bytes, content] = await Promise.all([bytesOf(info), citation.quote ? contentOf(info).catch(() => null) : null]);
  const units = unitsOf(content?.text ?? "");
  const [start, end] = [units(citation.start), units(citation.end)];
  const text = content?.text ?? "";
  return { markup: decoded(bytes), before: text.slice(Math.max(0, start - AROUND), start), after: text.slice(end, end + AROUND) };
}

/**
 * @param {HTMLElement} host @param {{markup: string, before: string, after: string}} page @param {Info} info @param {Citation} citation
 * @returns {"quote" | "empty" | ""} why it is not as it should be
 */
function draw(host, page, info, citation) {
  const root = host.shadowRoot ?? host.attachShadow({ mode: "open" });
  if (!sheet) {
    sheet = new CSSStyleSheet();
    sheet.replaceSync(STYLE);
  }
  root.adoptedStyleSheets = [sheet];
  const article = document.createElement("div");
  article.className = "page";
  article.lang = info.lang;
  article.append(safeFragment(page.markup, info.uri));
  if (!article.textContent?.trim()) return "empty";
  const marks = citation.quote ? markQuote(article, citation.quote, page) : [];
  if (citation.quote && !marks.length) return "quote";
  root.replaceChildren(article);
  intoView(host.parentElement, marks[0]);
  return "";
}
