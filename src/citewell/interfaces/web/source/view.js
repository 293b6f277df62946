/**
 * A source without its frame: the panel shows it, and so may any other part of the page.
 * The one rule: each kind has a way that fits it, and whatever that way cannot do falls back to pictures, then to text.
 */
import { ApiError } from "../api.js";
import { html, useEffect, useState } from "../ui/html.js";
import { t } from "../i18n.js";
import { Problem } from "../ui/notice.js";
import { contentOf, infoOf } from "./load.js";
import { located } from "./leaves.js";
import { isConfirmed, MarkdownView } from "./markdown.js";
import { PageView } from "./page.js";
import { PdfInAWay } from "./pdf_ways.js";
import { PictureView, isPicture } from "./pictures.js";
import { Spoken, spokenKind } from "./spoken.js";
import { TableRows } from "./table.js";
import { TextView } from "./text.js";

/** @typedef {import("./load.js").Info} Info */
/** @typedef {import("./state.js").Citation} Citation */
/** @typedef {import("./state.js").Answer} Answer */
/** @typedef {"pdf" | "picture" | "page" | "markdown" | "text"} Way */

const PAGES = ["text/html", "application/xhtml+xml"];

/** How a document is shown at first. @param {Info} info @returns {Way} */
export function wayOf(info) {
  const { media_type, pages } = info;
  if (isConfirmed(info)) return "markdown";
  if (media_type === "application/pdf") return pages > 0 ? "pdf" : "text";
  if (PAGES.includes(media_type)) return "page";
  return isPicture(media_type) ? "picture" : "text";
}

/** A citation that has no document behind it. @param {Citation} citation */
export function hasDocument(citation) {
  return citation.origin !== "table" && !spokenKind(citation);
}

/**
 * What is known of a citation's document; `gone`: there is none any more. `call`: changes when it is to be looked up anew.
 * @param {Citation} citation @param {number} [call]
 */
export function useInfo(citation, call = 0) {
  const [state, setState] = useState(/** @type {{id: string, info: Info | null, error: unknown}} */ ({ id: "", info: null, error: null }));
  const [again, setAgain] = useState(0);
  const id = hasDocument(citation) ? citation.doc_id : "";
  useEffect(() => {
    let left = false;
    const set = (/** @type {Info | null} */ info, /** @type {unknown} */ error) => !left && setState({ id, info, error });
    if (id) infoOf(id).then((info) => set(info, null), (error) => set(null, error));
    return () => void (left = true);
  }, [id, call, again]);
  const now = state.id === id ? state : { info: null, error: null };
  const gone = now.error instanceof ApiError && now.error.status === 404;
  return { info: now.info, error: now.error, gone, retry: () => setAgain(again + 1) };
}

/**
 * `asText`: the parsed text is wanted even where there is more.
 * @param {{citation: Citation, answer?: Answer | null, found: ReturnType<typeof useInfo>, asText?: boolean}} props
 */
export function SourceView({ citation, answer = null, found, asText = false }) {
  if (citation.origin === "table") return html`<${TableRows} citation=${citation} answer=${answer} />`;
  if (spokenKind(citation)) return html`<${Spoken} citation=${citation} />`;
  if (found.gone) return html`<${Gone} citation=${citation} />`;
  if (found.error) return html`<div class="panel-scroll"><${Problem} error=${found.error} retry=${found.retry} /></div>`;
  if (!found.info) return html`<p class="panel-wait" role="status">${t("source.loading")}</p>`;
  return html`<${DocumentView} key=${`${found.info.doc_id} ${found.info.sha256}`} info=${found.info} citation=${citation} asText=${asText} />`;
}

/** @param {{citation: Citation}} props */
function Gone({ citation }) {
  return html`<div class="panel-scroll panel-spoken" tabindex="0" role="region" aria-label=${t("source.gone")}>
    <p class="panel-about"><strong>${t("source.gone")}</strong> ${t("source.gone_hint")}</p>
    ${citation.quote && html`<p>${t("source.gone_quote")}</p><blockquote>${citation.quote}</blockquote>`}
  </div>`;
}

/** @param {{info: Info, citation: Citation, asText: boolean}} props */
function DocumentView({ info, citation, asText }) {
  const [way, setWay] = useState(wayOf(info));
  const [why, setWhy] = useState("");
  const stale = useStale(info, citation);
  const fall = (/** @type {Way} */ next, /** @type {string} */ reason) => {
    setWay(next);
    setWhy(reason);
  };
  useEffect(() => {
    // another sentence of the same page may be found where the last one was not
    if (way === "text" && why === "source.page_no_quote") fall(wayOf(info), "");
  }, [citation]);
  const now = asText ? "text" : way;
  const placed = stale ? { ...citation, boxes: [] } : citation;
  return html`${why && !asText && html`<p class="panel-note" role="status">${t(why)}</p>`}
    ${stale && now !== "page" && now !== "markdown" && html`<p class="panel-note" role="status">${t(stale === "moved" ? "source.moved" : "source.changed")}</p>`}
    ${now === "pdf" && html`<${PdfInAWay} info=${info} citation=${placed} onServer=${() => setWhy("source.pdf_failed")}
      onFail=${() => fall("text", "source.pictures_failed")} />`}
    ${now === "picture" && html`<${PictureView} info=${info} citation=${placed} onFail=${() => fall("text", "source.pictures_failed")} />`}
    ${now === "page" && html`<${PageView} info=${info} citation=${citation}
      onMissing=${(/** @type {string} */ what) => fall("text", `source.page_no_${what}`)} />`}
    ${now === "markdown" && html`<${MarkdownView} info=${info} citation=${citation}
      onMissing=${(/** @type {string} */ what) => fall("text", what === "quote" ? "source.page_no_quote" : "source.page_no_failed")} />`}
    ${now === "text" && html`<${TextView} info=${info} citation=${citation} />`}`;
}

/** Whether the document's words are other ones than when it was cited. @param {Info} info @param {Citation} citation */
function useStale(info, citation) {
  const [stale, setStale] = useState(/** @type {"" | "moved" | "changed"} */ (""));
  useEffect(() => {
    let left = false;
    setStale("");
    if (citation.quote) {
      contentOf(info).then((content) => {
        const { span, moved } = located(content, citation);
        if (!left) setStale(moved ? (span ? "moved" : "changed") : "");
      }, () => undefined); // what is shown says so itself
    }
    return () => void (left = true);
  }, [info, citation]);
  return stale;
}
