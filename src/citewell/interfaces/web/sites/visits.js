/** The visited pages as a list, nested as they were found, each with why it was read. The one rule: addresses and titles are text. */
import { html, useMemo } from "../ui/html.js";
import { t } from "../i18n.js";
import { said } from "../said.js";
import { Icon } from "../ui/icon.js";
import { webAddress } from "../source/snapshot.js";
import { advice } from "./advice.js";
import { shortAddress, treeOf } from "./tree.js";

/** @typedef {import("./tree.js").Visit} Visit */
/** @typedef {import("./tree.js").Place} Place */

const SIGNS = { failed: "warning", reused: "clock", unchanged: "check", fetched: "check" };

/** @param {{visits: readonly Visit[], onOpen: (visit: Visit) => void}} props */
export function VisitList({ visits, onOpen }) {
  const places = useMemo(() => treeOf(visits), [visits]);
  return html`<${Branch} places=${places} parent=${null} onOpen=${onOpen} label=${t("sites.visited")} />`;
}

/** @param {{places: Place[], parent: Place | null, onOpen: (visit: Visit) => void, label?: string}} props */
function Branch({ places, parent, onOpen, label }) {
  const here = places.filter((place) => place.parent === parent);
  if (!here.length) return null;
  return html`<ol class="visits" aria-label=${label}>${here.map((place) => html`<li key=${place.n}>
    <${Entry} visit=${place.visit} onOpen=${onOpen} />
    <${Branch} places=${places} parent=${place} onOpen=${onOpen} />
  </li>`)}</ol>`;
}

/** @param {{visit: Visit, onOpen: (visit: Visit) => void}} props */
function Entry({ visit, onOpen }) {
  const title = visit.title || shortAddress(visit.url);
  const address = webAddress(visit.url);
  const what = advice(visit.code);
  return html`<div class=${`visit ${visit.how}`}>
    <${Icon} name=${SIGNS[/** @type {keyof typeof SIGNS} */ (visit.how)] ?? "info"} size=${18} />
    <div>
      <p class="visit-title">${visit.doc_id
        ? html`<button type="button" class="link" onClick=${() => onOpen(visit)}>${title}</button>`
        : html`<span>${title}</span>`}
        <span class="visit-how">${t(`sites.how_${visit.how || "fetched"}`)}</span></p>
      ${address && html`<p class="visit-url"><a href=${address} target="_blank" rel="noopener noreferrer">${shortAddress(visit.url)}</a></p>`}
      ${visit.problem
        ? html`<p class="visit-problem">${said(visit.problem)}${what && html`<br /><strong>${what}</strong>`}</p>`
        : visit.why && html`<p class="visit-why">${said(visit.why)}</p>`}
    </div>
  </div>`;
}
