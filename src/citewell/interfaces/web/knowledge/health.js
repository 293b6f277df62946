/** Whether what is known still holds, and what nobody needs any more. The one rule: cleaning is shown before it is done. */
import { post } from "../api.js";
import { t } from "../i18n.js";
import { said } from "../said.js";
import { figure } from "../ui/figures.js";
import { html, useState } from "../ui/html.js";
import { Problem } from "../ui/notice.js";
import { toast } from "../ui/toast.js";
import { useWork } from "../ui/work.js";
import { State } from "../traces/said.js";
import { Sure } from "../traces/sure.js";
import { itemLink } from "./confirmed.js";
import { Allowed, notAdmin } from "./may.js";

/** @typedef {{ item_id: string, question: string, outcome: string, reason: string }} Looked */
/** @typedef {{ source: string, looked: Looked[], problem: string }} Checked */

export function Health() {
  return html`<div class="knowledge-health"><${Check} /><${Clean} /></div>`;
}

function Check() {
  const [found, setFound] = useState(/** @type {Checked[] | null} */ (null));
  const { busy, error, run: check } = useWork(async () => setFound((await post("/knowledge/check", {})).checked));
  const looked = (found ?? []).flatMap((each) => each.looked.map((one) => ({ ...one, source: each.source })));
  const bad = looked.filter((each) => each.outcome !== "ok");
  const unreachable = (found ?? []).filter((each) => each.problem);
  return html`<section class="card"><h2>${t("knowledge.check_title")}</h2><p>${t("knowledge.check_about")}</p>
    <${Allowed} why=${notAdmin()} kind="primary" icon="play" busy=${busy} onClick=${check}>${t("knowledge.check_now")}<//>
    <${Problem} error=${error} />
    <div role="status">${found && html`<p class=${`outcome ${bad.length || unreachable.length ? "bad" : "good"}`}><strong>${looked.length
      ? t("knowledge.check_said", { n: looked.length, bad: bad.length }) : t("knowledge.check_nothing")}</strong></p>`}</div>
    ${unreachable.map((each) => html`<p class="item-reason" key=${each.source}><strong>${each.source}</strong> ${said(each.problem)}</p>`)}
    ${looked.length > 0 && html`<ul class="item-rows">${[...bad, ...looked.filter((each) => each.outcome === "ok")].slice(0, 300).map((each) => html`<li class="item-row" key=${each.item_id}>
      <a href=${itemLink(each.item_id)}><span class="row-title">${each.question.slice(0, 300)}</span>
        <span class="meta"><${State} state=${each.outcome} />${each.source && html`<span>${each.source}</span>`}</span>
        ${each.reason && html`<span class="row-reason">${said(each.reason)}</span>`}</a></li>`)}</ul>`}
  </section>`;
}

const LISTS = ["stale", "deleted", "rules", "documents", "files", "repaired"];
const COUNTS = ["traces", "feedback"];

function Clean() {
  const [found, setFound] = useState(/** @type {any} */ (null));
  const { busy, error, run: look } = useWork(async () => setFound(await post("/knowledge/gc", { dry_run: true })));
  const [asking, setAsking] = useState(false);
  const why = notAdmin();
  async function clean() {
    setFound(await post("/knowledge/gc", { dry_run: false }));
    toast(t("knowledge.cleaned"), "good");
  }
  const sizes = found ? [...LISTS.map((name) => [name, found[name].length]), ...COUNTS.map((name) => [name, found[name]])] : [];
  const some = sizes.filter(([, n]) => n > 0);
  return html`<section class="card"><h2>${t("knowledge.gc_title")}</h2><p>${t("knowledge.gc_about")}</p>
    <div class="filters">
      <${Allowed} why=${why} icon="eye" busy=${busy} onClick=${look}>${t("knowledge.gc_look")}<//>
      ${found?.dry_run && some.length > 0 && html`<${Allowed} why=${why} kind="danger" icon="trash" onClick=${() => setAsking(true)}>${t("knowledge.gc_now")}<//>`}
    </div>
    <${Problem} error=${error} />
    <div role="status">${found && html`<p class="outcome"><strong>${some.length === 0 ? t("knowledge.gc_nothing")
      : t(found.dry_run ? "knowledge.gc_would" : "knowledge.gc_did")}</strong></p>`}</div>
    ${some.length > 0 && html`<dl class="item-facts">${some.map(([name, n]) => html`<div key=${name}><dt>${t(`knowledge.gc_${name}`)}</dt><dd>${figure(Number(n))}
      ${LISTS.includes(String(name)) && html`<details><summary>${t("knowledge.which")}</summary><ul>${found[String(name)].slice(0, 200).map((/** @type {string} */ id) => html`<li key=${id}><code>${id}</code></li>`)}</ul></details>`}</dd></div>`)}</dl>`}
    ${asking && html`<${Sure} title=${t("knowledge.gc_sure")} text=${t("knowledge.gc_sure_about")} yes=${t("knowledge.gc_now")} act=${clean} close=${() => setAsking(false)} />`}
  </section>`;
}
