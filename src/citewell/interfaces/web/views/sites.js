/** Web sites: those that are kept, and a new one explored with a question. `#/sites`, `#/sites/NAME`. */
import { get } from "../api.js";
import { html, useEffect, useState } from "../ui/html.js";
import { t } from "../i18n.js";
import { me } from "../state.js";
import { Busy, Problem } from "../ui/notice.js";
import { AskHere } from "../ask/asking.js";
import { KeptSites } from "../sites/kept.js";
import { OneSite } from "../sites/pages.js";

/** @param {{parts: string[]}} props */
export default function Sites({ parts }) {
  const [name] = parts;
  return name ? html`<${OneSite} key=${name} name=${name} />` : html`<${AllSites} />`;
}

function AllSites() {
  const [sites, setSites] = useState(/** @type {import("../sites/kept.js").Site[] | null} */ (null));
  const [error, setError] = useState(/** @type {unknown} */ (null));
  const load = () => {
    get("/sites").then(
      (found) => {
        setSites(found.sites);
        setError(null);
      },
      (failed) => setError(failed),
    );
  };
  useEffect(load, []);
  return html`<div class="page">
    <header class="page-head"><h1>${t("sites.title")}</h1></header>
    <p class="site-lead">${t("sites.lead")} ${t("sites.polite")}</p>
    ${me.value?.role === "reader" ? html`<p class="hint">${t("sites.only_kept")}</p>`
      : html`<${AskHere} place="@site" fixed=${{ agent: "website" }} label=${t("sites.title")} onAnswer=${load} />`}
    <h2 class="site-part">${t("sites.kept")}</h2>
    ${error ? html`<${Problem} error=${error} retry=${load} />`
      : !sites ? html`<${Busy} />`
        : sites.length ? html`<${KeptSites} sites=${sites} onChange=${load} />`
          : html`<p class="hint site-none">${t("sites.none")}</p>`}
  </div>`;
}
