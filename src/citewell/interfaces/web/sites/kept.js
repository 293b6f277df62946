/** Sites that are kept: how many pages, how large, how old; ask, refresh, export, delete. */
import { del, events, post } from "../api.js";
import { html, signal, useState } from "../ui/html.js";
import { t } from "../i18n.js";
import { OnASite } from "../library/on_a_site.js";
import { said, saidOf } from "../said.js";
import { link, me } from "../state.js";
import { Button } from "../ui/button.js";
import { ask } from "../ui/dialog.js";
import { ago, bytes, figure, time } from "../ui/figures.js";
import { Icon } from "../ui/icon.js";
import { Progress } from "../ui/notice.js";
import { toast } from "../ui/toast.js";
import { exportAddress } from "./pages.js";

/**
 * @typedef {object} Site
 * @property {string} collection
 * @property {number} pages
 * @property {number} problems
 * @property {number} bytes
 * @property {number} chunks
 * @property {number} embedded
 * @property {number | null} oldest
 * @property {number | null} newest
 * @property {string[]} start_urls
 * @property {string[]} allowed_domains
 */
/** @typedef {{done: number, total: number, detail: string}} Going */

/** Refreshes under way, by site. */
export const refreshing = signal(/** @type {Record<string, Going>} */ ({}));

/** @param {{sites: Site[], onChange: () => void}} props */
export function KeptSites({ sites, onChange }) {
  return html`<ul class="kept-sites">${sites.map((site) => html`<li key=${site.collection} class="card"><${Kept} site=${site} onChange=${onChange} /></li>`)}</ul>`;
}

/** @param {{site: Site, onChange: () => void}} props */
function Kept({ site, onChange }) {
  return html`<h3><${Icon} name="site" /><a href=${link("sites", site.collection)}>${site.collection}</a></h3>
    <${Facts} site=${site} />
    ${site.start_urls.length > 0 && html`<p class="kept-starts">${site.start_urls.slice(0, 3).join("  ·  ")}</p>`}
    <${Actions} site=${site} onChange=${onChange} onGone=${onChange} />`;
}

/** @param {{site: Site}} props */
export function Facts({ site }) {
  const wait = site.chunks - site.embedded;
  return html`<p class="kept-facts">
    <span>${t("sites.pages_n", { n: figure(site.pages) })}</span><span>${bytes(site.bytes)}</span>
    <span>${t("sites.chunks_n", { n: figure(site.chunks) })}</span>
    ${site.newest && html`<span title=${time(site.newest)}>${t("sites.checked", { ago: ago(site.oldest ?? site.newest) })}</span>`}
    ${site.problems > 0 && html`<span class="badge warn">${t("sites.failed", { n: site.problems })}</span>`}
    ${wait > 0 && html`<span class="badge info" title=${t("sites.waiting_hint")}>${t("sites.waiting", { n: figure(wait) })}</span>`}
  </p>`;
}

/** @param {{site: Site, onChange: () => void, onGone: () => void}} props */
export function Actions({ site, onChange, onGone }) {
  const name = site.collection;
  const going = refreshing.value[name];
  const mayEdit = me.value?.role !== "reader";
  const [placing, setPlacing] = useState(false);
  const remove = async () => {
    const text = t("sites.delete_text", { n: site.pages, name });
    if (!(await ask({ title: t("sites.delete_title"), text, action: t("sites.delete"), danger: true }))) return;
    try {
      await del(`/sites/${encodeURIComponent(name)}`);
      toast(t("sites.deleted", { name }), "good");
      onGone();
    } catch (error) {
      toast(error);
    }
  };
  return html`<div class="row kept-actions">
      ${mayEdit && html`<${Button} small icon="refresh" busy=${Boolean(going)} onClick=${() => refresh(name, onChange)}>${t("sites.refresh")}<//>`}
      <${Button} small kind="quiet" icon="download" href=${exportAddress(name)} download=${`${name}.jsonl`}>${t("sites.export")}<//>
      ${mayEdit && html`<${Button} small kind="quiet" icon="ask" onClick=${() => setPlacing(true)}>${t("library.on_a_site")}<//>`}
      ${mayEdit && html`<${Button} small kind="quiet" icon="trash" disabled=${Boolean(going)} onClick=${remove}>${t("sites.delete")}<//>`}
    </div>
    ${placing && html`<${OnASite} name=${name} kind="site" close=${() => setPlacing(false)} />`}
    ${going && html`<${Progress} label=${t("sites.refreshing")} value=${going.total ? going.done / going.total : null} detail=${said(going.detail)} />`}`;
}

/** Every page asked for anew; what became of them is told at the end. @param {string} name @param {() => void} onChange */
async function refresh(name, onChange) {
  const set = (/** @type {Going | null} */ going) => {
    const { [name]: _, ...others } = refreshing.value;
    refreshing.value = going ? { ...others, [name]: going } : others;
  };
  set({ done: 0, total: 0, detail: "" });
  try {
    const job = await post(`/sites/${encodeURIComponent(name)}/refresh`);
    for await (const { event, data } of events(`/jobs/${encodeURIComponent(job.job_id)}/events`)) {
      if (event === "progress") set({ done: data.done, total: data.total, detail: data.detail });
      else if (event === "done") told(name, data.result ?? {});
      else if (event === "failed") toast(saidOf(data.error), "problem");
      else if (event === "cancelled") toast(t("sites.refresh_cancelled", { name }));
    }
  } catch (error) {
    toast(error);
  } finally {
    set(null);
    onChange();
  }
}

/** @param {string} name @param {any} result */
function told(name, { unchanged = 0, changed = 0, removed = [], failed = [], problem = "" }) {
  const bad = failed.length > 0 || problem;
  const words = t("sites.refreshed", { name, unchanged, changed, removed: removed.length, failed: failed.length });
  toast([words, said(failed[0]?.reason), said(problem)].filter(Boolean).join(" "), bad ? "problem" : "good");
}
