/** What is on this machine, counted, each with the way to it. */

import { get } from "../api.js";
import { t } from "../i18n.js";
import { Icon, coded, figure } from "../ui/index.js";
import { html, useEffect, useState } from "../ui/html.js";

/** Each: the part it leads to, its sign, and how it is counted. A part that does not answer shows a dash.
 * @type {{part: string, icon: string, word: string, count: () => Promise<number>}[]} */
const COUNTS = [
  { part: "library", icon: "library", word: "settings.documents", count: () => get("/collections").then(documents) },
  { part: "sites", icon: "site", word: "settings.sites", count: () => get("/sites").then((found) => found.sites.length) },
  { part: "papers", icon: "paper", word: "settings.papers", count: () => get("/papers").then((found) => found.papers.length) },
  { part: "data", icon: "data", word: "settings.sources", count: () => get("/data/sources").then((found) => found.sources.length) },
];

export function Kept() {
  const [counts, setCounts] = useState(/** @type {(number | null)[]} */ ([]));
  useEffect(() => {
    let here = true;
    Promise.all(COUNTS.map((each) => each.count().catch(() => null))).then((all) => here && setCounts(all));
    return () => {
      here = false;
    };
  }, []);
  return html`<section class="card" aria-labelledby="settings-kept">
    <h2 id="settings-kept">${t("settings.kept")}</h2>
    <ul class="kept">
      ${COUNTS.map(
        (each, n) => html`<li key=${each.part}>
          <a href=${`#/${each.part}`}><${Icon} name=${each.icon} /><strong>${figure(counts[n])}</strong> <span>${t(each.word, { n: counts[n] ?? 0 })}</span></a>
        </li>`,
      )}
    </ul>
    <p class="hint">${coded(t("settings.kept_hint"))}</p>
  </section>`;
}

/** @param {{collections: {documents: number}[]}} found */
function documents(found) {
  return found.collections.reduce((sum, each) => sum + each.documents, 0);
}
