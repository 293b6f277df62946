/** A statement with the quotes that prove it. The one rule: what the audit did not prove says so. */

import { html } from "../ui/html.js";
import { t } from "../i18n.js";

/** @typedef {import("./types.js").Citation} Citation */
/** @typedef {import("./types.js").Sentence} Sentence */

/** What a quote's button says: its page, and its words. @param {Citation} citation */
export function citeLabel({ n, page, quote }) {
  return page ? t("papers.cite.label", { n, page, quote }) : t("papers.cite.plain", { n, quote });
}

/** Buttons that show the quotes. @param {{numbers: number[], citations: Citation[], onCite: (citation: Citation) => void}} props */
export function Cites({ numbers, citations, onCite }) {
  const found = numbers.map((n) => citations.find((each) => each.n === n));
  return found.map(
    (citation) =>
      citation &&
      html`<button type="button" class="paper-cite" key=${citation.n} title=${citation.quote}
        aria-label=${citeLabel(citation)} onClick=${() => onCite(citation)}>${citation.n}</button>`,
  );
}

/** @param {{sentence: Sentence, citations: Citation[], onCite: (citation: Citation) => void}} props */
export function Statement({ sentence, citations, onCite }) {
  const proved = sentence.verdict === "supported";
  return html`<span class=${proved ? "" : "paper-unsure"}>${sentence.text}</span>
    ${" "}<${Cites} numbers=${sentence.citations} citations=${citations} onCite=${onCite} />
    ${!proved && html`<span class="paper-verdict">${t(`papers.verdict.${sentence.verdict}`)}</span>`}`;
}

/** Pages in words; empty where there are none. @param {number} first @param {number} [last] */
export function pagesOf(first, last = first) {
  if (!first) return "";
  return last > first ? t("papers.pages", { from: first, to: last }) : t("papers.page", { n: first });
}
