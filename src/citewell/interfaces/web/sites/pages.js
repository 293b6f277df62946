/** The pages of one kept site, each opens in the panel as it was when it was read. The one rule: titles and addresses are text. */
import { address, get } from "../api.js";
import { html, useEffect, useState } from "../ui/html.js";
import { t } from "../i18n.js";
import { go } from "../state.js";
import { ago, time } from "../ui/figures.js";
import { Icon } from "../ui/icon.js";
import { Busy, Empty, Problem } from "../ui/notice.js";
import { Table } from "../ui/table.js";
import { openDocument } from "../source/panel.js";
import { webAddress } from "../source/snapshot.js";
import { AskHere } from "../ask/asking.js";
import { Actions, Facts } from "./kept.js";
import { shortAddress } from "./tree.js";
import { said } from "../said.js";
import { advice } from "./advice.js";

/** @typedef {{url: string, title: string, doc_id: string, fetched_at: number, checked_at: number, problem: string, code: string}} SitePage */

/** @param {string} name */
export function exportAddress(name) {
  return address(`/sites/${encodeURIComponent(name)}/export`);
}

/** @param {{name: string}} props */
export function OneSite({ name }) {
  const [state, setState] = useState(/** @type {{site: import("./kept.js").Site, pages: SitePage[]} | null} */ (null));
  const [error, setError] = useState(/** @type {unknown} */ (null));
  const load = () => {
    get(`/sites/${encodeURIComponent(name)}`).then(
      (found) => {
        setState(found);
        setError(null);
      },
      (failed) => setError(failed),
    );
  };
  useEffect(load, [name]);
  return html`<div class="page in-site">
    <p class="site-back"><a href="#/sites"><${Icon} name="arrow-left" size=${16} />${t("sites.all")}</a></p>
    <header class="page-head"><h1>${name}</h1></header>
    ${error ? html`<${Problem} error=${error} retry=${load} />` : !state ? html`<${Busy} />` : html`
      <${Facts} site=${state.site} />
      <${Actions} site=${state.site} onChange=${load} onGone=${() => go("/sites")} />
      <h2 class="site-part">${t("sites.ask_this")}</h2>
      <${AskHere} place=${`@site/${name}`} fixed=${{ agent: "website", collection: name, options: {} }} label=${t("sites.ask_this")} onAnswer=${load} />
      <h2 class="site-part">${t("sites.pages_head")}</h2>
      ${state.pages.length ? html`<${Pages} pages=${state.pages} />` : html`<${Empty} icon="site" title=${t("sites.no_pages")} />`}`}
  </div>`;
}

/** @param {{pages: SitePage[]}} props */
function Pages({ pages }) {
  const columns = [
    { key: "title", label: t("sites.column_page"), render: shown, by: (/** @type {SitePage} */ page) => page.title || page.url },
    { key: "fetched_at", label: t("sites.column_read"), render: (/** @type {SitePage} */ page) => when(page.doc_id ? page.fetched_at : 0) },
    { key: "checked_at", label: t("sites.column_checked"), render: (/** @type {SitePage} */ page) => when(page.checked_at) },
  ];
  return html`<${Table} caption=${t("sites.pages_head")} columns=${columns} rows=${pages} id=${(/** @type {SitePage} */ page) => page.url} class="site-pages" />`;
}

/** @param {number} seconds */
function when(seconds) {
  return html`<span title=${time(seconds)}>${ago(seconds)}</span>`;
}

/** @param {SitePage} page */
function shown({ url, title, doc_id, fetched_at, problem, code }) {
  const web = webAddress(url);
  const what = advice(code);
  const words = title || shortAddress(url);
  const open = () => openDocument({ doc_id, title, uri: url, fetched_at });
  return html`${doc_id ? html`<button type="button" class="link" onClick=${open}>${words}</button>` : html`<span>${words}</span>`}
    ${web && html`<a class="site-url" href=${web} target="_blank" rel="noopener noreferrer">${shortAddress(url)}</a>`}
    ${problem && html`<span class="visit-problem">${said(problem)}${what && html`<br /><strong>${what}</strong>`}</span>`}`;
}
