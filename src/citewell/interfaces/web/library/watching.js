/** Places that a collection is kept current with: list, add, look now, how often, end. The one rule: what a run could not read says why. */
import { del, get, patch, post } from "../api.js";
import { t } from "../i18n.js";
import { said } from "../said.js";
import { ago, figure, time } from "../ui/figures.js";
import { html, useEffect, useState } from "../ui/html.js";
import { ask, Badge, Busy, Button, Field, Problem, Select, toast, useWork } from "../ui/index.js";
import { changes, follow } from "./jobs.js";

/**
 * @typedef {{began_at: number, added: number, replaced: number, unchanged: number, failed: number, gone_count: number, skipped: Record<string, number>,
 *   files: import("./jobs.js").FileReport[], warnings: string[], error: {message: string, hint: string} | null, problem: string}} Report
 * @typedef {{sync_id: string, kind: string, place: string, every: number, next_at: number | null, ran_at: number | null,
 *   state: "waiting" | "running" | "idle", items: number, gone: number, secret: boolean, report: Report | null}} Watched
 */

const TIMES = [900, 3_600, 21_600, 86_400, 604_800, 0]; // seconds that are offered
const SHOWN = 10; // failures before the rest is left to the command line

/** @param {{collection: string, mayEdit: boolean}} props */
export function WatchTab({ collection, mayEdit }) {
  const [places, setPlaces] = useState(/** @type {Watched[] | null} */ (null));
  const [error, setError] = useState(/** @type {unknown} */ (null));
  const moved = changes.value;
  const load = async () => {
    try {
      setPlaces((await get("/syncs", { collection })).syncs);
      setError(null);
    } catch (problem) {
      setError(problem);
    }
  };
  useEffect(() => void load(), [collection, moved]);
  if (error) return html`<${Problem} error=${error} retry=${load} />`;
  if (!places) return html`<${Busy} label=${t("library.loading")} />`;
  return html`<div class="lib-watch">
    <p class="muted">${t("library.watch_text")}</p>
    ${places.map((place) => html`<${One} key=${place.sync_id} place=${place} mayEdit=${mayEdit} reload=${load} />`)}
    ${mayEdit && html`<${Add} collection=${collection} reload=${load} />`}
  </div>`;
}

/** How often, in words; one that is not offered is added. @param {number} now @returns {[string, string][]} */
function times(now) {
  const all = TIMES.includes(now) ? TIMES : [now, ...TIMES];
  return all.map((each) => [String(each), words(each)]);
}

/** @param {number} every */
function words(every) {
  if (!every) return t("library.watch_never");
  if (every === 86_400) return t("library.watch_day");
  if (every === 3_600) return t("library.watch_hour");
  if (every % 86_400 === 0) return t("library.watch_days", { n: every / 86_400 });
  if (every % 3_600 === 0) return t("library.watch_hours", { n: every / 3_600 });
  return t("library.watch_minutes", { n: Math.round(every / 60) });
}

/** @param {{place: Watched, mayEdit: boolean, reload: () => void}} props */
function One({ place, mayEdit, reload }) {
  const path = `/syncs/${encodeURIComponent(place.sync_id)}`;
  const act = async (/** @type {() => Promise<unknown>} */ does) => {
    try {
      await does();
    } catch (error) {
      toast(error);
    }
    reload();
  };
  const run = () => act(async () => follow(await post(`${path}/run`)));
  const schedule = (/** @type {string} */ every) => act(() => patch(path, { every: Number(every) }));
  const remove = async () => {
    const question = { title: t("library.watch_end_ask"), text: t("library.watch_end_text", { place: place.place }), action: t("library.watch_end") };
    if (await ask(question)) await act(() => del(path));
  };
  const busy = place.state !== "idle";
  return html`<section class="card lib-watched" aria-label=${place.place}>
    <h2>${place.place}</h2>
    <p class="muted lib-facts">
      <span>${t("library.watch_items", { n: figure(place.items) })}</span>
      ${place.gone > 0 && html`<span>${t("library.watch_gone", { n: figure(place.gone) })}</span>`}
      <span>${place.ran_at ? html`<span title=${time(place.ran_at)}>${t("library.watch_last", { ago: ago(place.ran_at) })}</span>` : t("library.watch_not_yet")}</span>
      ${place.next_at && !busy && html`<span>${t("library.watch_next", { time: time(place.next_at) })}</span>`}
      ${busy && html`<${Badge} kind="info">${t(`library.watch_${place.state}`)}<//>`}
    </p>
    ${place.report && html`<${Last} report=${place.report} />`}
    ${mayEdit && html`<div class="row">
      <${Button} small icon="refresh" busy=${busy} onClick=${run} aria-label=${t("library.watch_run_of", { place: place.place })}>${t("library.watch_run")}<//>
      <${Select} label=${t("library.watch_every")} hidden value=${String(place.every)} options=${times(place.every)} onChange=${schedule} />
      <${Button} small kind="quiet" icon="trash" onClick=${remove} aria-label=${t("library.watch_end_of", { place: place.place })}>${t("library.watch_end")}<//>
    </div>`}
  </section>`;
}

/** What the last run came to. @param {{report: Report}} props */
function Last({ report }) {
  const failed = report.files.filter((file) => file.status === "failed");
  const sums = /** @type {const} */ (["added", "replaced", "failed"]).filter((name) => report[name]).map((name) => t(`library.sum_${name}`, { n: report[name] }));
  if (report.gone_count) sums.push(t("library.watch_gone", { n: figure(report.gone_count) }));
  return html`${sums.length > 0 && html`<p>${sums.join(" · ")}</p>`}
    ${report.error && html`<div class="problem" role="alert"><div><p class="what">${said(report.error.message)}</p>
      ${report.error.hint && html`<p class="hint">${said(report.error.hint)}</p>`}</div></div>`}
    ${report.warnings.map((text) => html`<p key=${said(text)} class="lib-why">${said(text)}</p>`)}
    ${report.problem && html`<p class="lib-why">${said(report.problem)}</p>`}
    ${failed.length > 0 && html`<ul class="lib-watch-failed">${failed.slice(0, SHOWN).map((file) => html`<li key=${file.path}>
      <span class="lib-file-name">${file.path}</span>: ${said(file.reason)}</li>`)}</ul>`}`;
}

/** @param {{collection: string, reload: () => void}} props */
function Add({ collection, reload }) {
  const [place, setPlace] = useState("");
  const [password, setPassword] = useState("");
  const [every, setEvery] = useState("3600");
  const { busy, error, run } = useWork(async (/** @type {Event} */ _) => {
    const made = await post("/syncs", { place: place.trim(), collection, every: Number(every), password });
    follow(await get(`/jobs/${made.job_id}`));
    setPlace("");
    setPassword("");
    toast(t("library.watch_added", { place: made.place }), "good");
    reload();
  });
  return html`<section class="card"><h2>${t("library.watch_add")}</h2>
    <form class="form" onSubmit=${run}>
      <${Field} label=${t("library.watch_place")} hint=${t("library.watch_place_hint")} required maxlength="2000" value=${place}
        onInput=${(/** @type {any} */ event) => setPlace(event.currentTarget.value)} autocomplete="off" spellcheck="false" />
      <${Field} label=${t("library.watch_password")} hint=${t("library.watch_password_hint")} type="password" value=${password}
        onInput=${(/** @type {any} */ event) => setPassword(event.currentTarget.value)} autocomplete="new-password" />
      <${Select} label=${t("library.watch_every")} value=${every} options=${times(Number(every))} onChange=${setEvery} />
      <${Problem} error=${error} />
      <div class="form-foot"><${Button} kind="primary" type="submit" busy=${busy}>${t("library.watch_start")}<//></div>
    </form></section>`;
}
