/** The pages that a question to a site visited: as a map that grows, and as a list with reasons. */
import { html, useState } from "../ui/html.js";
import { t } from "../i18n.js";
import { Tabs } from "../ui/tabs.js";
import { openDocument } from "../source/panel.js";
import { SiteMap } from "./map.js";
import { VisitList } from "./visits.js";

/** @typedef {import("./tree.js").Visit} Visit */

/** @param {{visits: Visit[], busy: boolean}} props */
export default function Visited({ visits, busy }) {
  const [tab, setTab] = useState("map");
  const open = (/** @type {Visit} */ visit) => openDocument({ doc_id: visit.doc_id ?? "", title: visit.title, uri: visit.url });
  const tabs = [
    { id: "map", label: t("sites.map"), icon: "trace" },
    { id: "list", label: t("sites.list"), icon: "menu", count: visits.length },
  ];
  return html`<${Tabs} tabs=${tabs} value=${tab} onChange=${setTab} label=${t("sites.visited")} class="site-visited">
    ${tab === "map" ? html`<${SiteMap} visits=${visits} busy=${busy} onOpen=${open} />
        <ul class="site-legend" aria-hidden="true">${["fetched", "unchanged", "reused", "failed"].map((how) => html`<li key=${how} class=${how}>${t(`sites.how_${how}`)}</li>`)}</ul>`
      : html`<${VisitList} visits=${visits} onOpen=${open} />`}
  <//>`;
}
