/** The numbered sources under an answer. The one rule: each opens at the very sentence that is quoted. */
import { t } from "../i18n.js";
import { html, useState } from "../ui/html.js";
import { day, Icon, time } from "../ui/index.js";
import { placed, webAddress } from "./place.js";

/** @typedef {import("./types.js").Citation} Citation */

const SHOWN = 6; // sources before the rest is folded away
const MARKS = { document: "file", web: "site", memory: "memory", table: "table", confirmed: "check" };

/** @param {{citations: Citation[], onCite: (citation: Citation) => void}} props */
export function Sources({ citations, onCite }) {
  const [all, setAll] = useState(false);
  if (!citations.length) return null;
  const shown = all || citations.length <= SHOWN + 1 ? citations : citations.slice(0, SHOWN);
  return html`<div class="sources">
    <h3 class="sources-head">${t("ask.sources")}</h3>
    <ol class="sources-list">
      ${shown.map((citation) => html`<${Source} key=${citation.n} citation=${citation} onCite=${onCite} />`)}
    </ol>
    ${shown.length < citations.length && html`<button type="button" class="link" onClick=${() => setAll(true)}>
      ${t("ask.more_sources", { n: citations.length - shown.length })}</button>`}
  </div>`;
}

/** @param {{citation: Citation, onCite: (citation: Citation) => void}} props */
function Source({ citation, onCite }) {
  const address = webAddress(citation);
  return html`<li class=${`source source-${citation.status}`}>
    <button type="button" class="source-open" onClick=${() => onCite(citation)}>
      <span class="source-n" aria-hidden="true">${citation.n}</span>
      <span class="source-words">
        <span class="source-place"><${Icon} name=${MARKS[citation.origin] ?? "file"} />${" "}${placed(citation)}
          ${citation.status === "weak" && html`<span class="source-weak">${t("ask.weak")}</span>`}
          ${citation.as_of != null && html`<small class="source-as-of" title=${time(citation.as_of)}>${t("ask.as_of", { day: day(citation.as_of) })}</small>`}
          ${citation.gives_orders && html`<span class="source-weak">${t("ask.gives_orders")}</span>`}</span>
        <q class="source-quote">${citation.quote}</q>
      </span>
    </button>
    ${address && html`<a class="source-web" href=${address} target="_blank" rel="noopener noreferrer">
      ${hostOf(address)}${citation.fetched_at != null && html`<small>${" "}${t("ask.fetched", { day: time(citation.fetched_at) })}</small>`}
    </a>`}
  </li>`;
}

/** @param {string} address */
function hostOf(address) {
  try {
    const { host, pathname } = new URL(address);
    return host + (pathname === "/" ? "" : decodeURI(pathname));
  } catch {
    return address;
  }
}
