/** An exploration as it goes on and when it is done: pages, why, stop, answer, more questions. */
import { html, useEffect, useState } from "../ui/html.js";
import { t } from "../i18n.js";
import { link } from "../state.js";
import { Button } from "../ui/button.js";
import { Field } from "../ui/fields.js";
import { Problem } from "../ui/notice.js";
import { Tabs } from "../ui/tabs.js";
import { toast } from "../ui/toast.js";
import { openDocument, openSource } from "../source/panel.js";
import { SiteMap } from "./map.js";
import { askMore, asked, current, forget, run, site } from "./run.js";
import { VisitList } from "./visits.js";
import { advice } from "./advice.js";

/** @typedef {import("./tree.js").Visit} Visit */
/** @typedef {import("../ask/types.js").Answer} Answer */
/** @typedef {import("../ask/types.js").Citation} Citation */

const ADVISED = { address_refused: "do_private", unknown_host: "do_host", bad_url: "do_address", bad_domain: "do_domain", no_site: "do_address" };

/** Whether there is anything to show; of one kept site, or of any. @param {string} [name] */
export function isExploring(name) {
  const any = run.busy.value || Boolean(run.answer.value || run.error.value || run.stopped.value);
  return any && (name === undefined || name === site.value);
}

/** @param {{name?: string}} props */
export function Exploring({ name }) {
  if (!isExploring(name)) return null;
  const { answer, error, stopped, busy } = run;
  return html`<section class="exploring" aria-label=${t("sites.exploring")}>
    ${asked.value.map((each, n) => html`<${Past} key=${n} ...${each} />`)}
    <h2 class="site-question">${current.value}</h2>
    <${Progressing} />
    <${Visited} visits=${run.pages.value} busy=${busy.value} />
    ${error.value && html`<${Failed} error=${error.value} />`}
    ${stopped.value && html`<p class="hint" role="status">${t("sites.given_up")}</p>`}
    ${busy.value && run.draft.value && html`<p class="site-draft" aria-hidden="true">${run.draft.value}</p>`}
    <div aria-live="polite">${answer.value && html`<${Answered} answer=${answer.value} />`}</div>
    ${!busy.value && html`<${After} />`}
  </section>`;
}

/** How far it is, and what stops it. */
function Progressing() {
  const visits = run.pages.value;
  const last = visits.at(-1);
  const busy = run.busy.value;
  const failed = visits.filter((visit) => visit.problem).length;
  const finish = () => run.finish().catch((error) => toast(error));
  const words = last ? t("sites.so_far", { n: visits.length - failed, round: last.iteration + 1, links: last.links }) : t("sites.starting");
  return html`<div class="site-progress">
    ${busy && html`<span class="spinner" aria-hidden="true"></span>`}
    <p role="status">${busy ? (run.ending.value ? t("sites.ending") : words) : last && t("sites.read", { n: visits.length - failed })}
      ${failed > 0 && html` <span class="badge warn">${t("sites.failed", { n: failed })}</span>`}</p>
    ${busy && html`<div class="row">
      <${Button} small icon="stop" disabled=${run.ending.value || !run.traceId.value || !last} onClick=${finish}>${t("sites.stop")}<//>
      <${Button} small kind="quiet" onClick=${run.stop}>${t("sites.give_up")}<//>
    </div>`}
  </div>`;
}

/** @param {{visits: Visit[], busy: boolean}} props */
function Visited({ visits, busy }) {
  const [tab, setTab] = useState("map");
  if (!visits.length) return null;
  const open = (/** @type {Visit} */ visit) => openDocument({ doc_id: visit.doc_id ?? "", title: visit.title, uri: visit.url });
  const tabs = [
    { id: "map", label: t("sites.map"), icon: "trace" },
    { id: "list", label: t("sites.list"), icon: "menu", count: visits.length },
  ];
  return html`<${Tabs} tabs=${tabs} value=${tab} onChange=${setTab} label=${t("sites.visited")} class="site-visited">
    ${tab === "map" ? html`<${SiteMap} visits=${visits} busy=${busy} onOpen=${open} /><${Legend} />`
      : html`<${VisitList} visits=${visits} onOpen=${open} />`}
  <//>`;
}

function Legend() {
  return html`<ul class="site-legend" aria-hidden="true">${["fetched", "unchanged", "reused", "failed"].map((how) =>
    html`<li key=${how} class=${how}>${t(`sites.how_${how}`)}</li>`)}</ul>`;
}

/** @param {{error: any}} props */
function Failed({ error }) {
  const key = ADVISED[/** @type {keyof typeof ADVISED} */ (error?.code)];
  const what = key ? t(`sites.${key}`) : advice(error?.code);
  return html`<${Problem} error=${error} />${what && html`<p class="site-advice"><strong>${t("sites.what_to_do")}</strong> ${what}</p>`}`;
}

/** The answer as everywhere; its part of the page is loaded when the first one comes. @param {{answer: Answer}} props */
function Answered({ answer }) {
  const [View, setView] = useState(/** @type {any} */ (null));
  useEffect(() => {
    import("../ask/answer.js").then((module) => setView(() => module.AnswerView), () => setView(() => Plain));
  }, []);
  const cite = (/** @type {Citation} */ citation) => openSource(citation, answer);
  return View && html`<${View} answer=${answer} onCite=${cite} />`;
}

/** Where the part that shows answers cannot be loaded. @param {{answer: Answer, onCite: (citation: Citation) => void}} props */
function Plain({ answer, onCite }) {
  return html`<div class="card"><p class="site-plain">${answer.answer}</p>
    <p class="row">${answer.citations.map((each) => html`<${Button} small key=${each.n} onClick=${() => onCite(each)}>[${each.n}] ${each.title}<//>`)}</p></div>`;
}

/** A question before this one. @param {{question: string, answer: Answer, visits: Visit[]}} props */
function Past({ question, answer }) {
  return html`<div class="site-past"><h2 class="site-question">${question}</h2><${Answered} answer=${answer} /></div>`;
}

function After() {
  const [question, setQuestion] = useState("");
  const session = run.answer.value?.session_id;
  const send = (/** @type {Event} */ event) => {
    event.preventDefault();
    if (question.trim()) void askMore(question);
  };
  return html`<div class="site-after">
    ${session && html`<form class="site-again" onSubmit=${send}>
      <${Field} label=${t("sites.again")} hidden placeholder=${t("sites.again")} value=${question}
        onInput=${(/** @type {any} */ event) => setQuestion(event.currentTarget.value)} />
      <${Button} kind="primary" type="submit" icon="send">${t("sites.ask")}<//>
    </form>`}
    <div class="row">
      <${Button} small icon="plus" onClick=${forget}>${t("sites.another")}<//>
      ${session && html`<${Button} small kind="quiet" icon="ask" href=${link("ask", session)}>${t("sites.as_talk")}<//>`}
    </div>
  </div>`;
}
