/** Corrections: each beside the answer that it corrects, to be approved, rejected or taken back. */
import { get, post } from "../api.js";
import { agentName, t } from "../i18n.js";
import { said } from "../said.js";
import { link } from "../state.js";
import { Select } from "../ui/fields.js";
import { time } from "../ui/figures.js";
import { html, useEffect, useState } from "../ui/html.js";
import { Icon } from "../ui/icon.js";
import { Busy, Empty, Problem } from "../ui/notice.js";
import { toast } from "../ui/toast.js";
import { useWork } from "../ui/work.js";
import { State } from "../traces/said.js";
import { Sure } from "../traces/sure.js";
import { Text } from "../traces/value.js";
import { placeOf } from "./confirmed.js";
import { History } from "./item.js";
import { useLoaded } from "./loaded.js";
import { Allowed, myself, notReviewer, who } from "./may.js";

/**
 * @typedef {object} Rule
 * @property {string} rule_id
 * @property {string} trace_id
 * @property {string} user_id
 * @property {string} agent
 * @property {string} question
 * @property {string} source
 * @property {string} collection
 * @property {string} wrong
 * @property {string} correction
 * @property {string} logic
 * @property {"waiting" | "active" | "rejected" | "undone"} state
 * @property {string} reason
 * @property {string} reviewed_by
 * @property {number} uses
 * @property {number} created_at
 * @property {number} updated_at
 * @property {{ at: number, user_id: string, action: string, reason: string }[]} [history]
 */

const STATES = ["waiting", "active", "rejected", "undone"];

export function Rules() {
  const { found, error, again } = useLoaded("/knowledge/rules");
  const wrong = useLoaded(notReviewer() ? "" : "/feedback/wrong", { limit: 500 });
  const [state, setState] = useState("");
  if (error) return html`<${Problem} error=${error} retry=${again} />`;
  if (!found) return html`<${Busy} />`;
  const all = /** @type {Rule[]} */ (found.rules);
  if (!all.length) return html`<${Empty} icon="check" title=${t("knowledge.none_rules")} text=${t("knowledge.none_rules_about")} />`;
  const rules = all.filter((rule) => !state || rule.state === state);
  const answers = new Map((wrong.found?.wrong ?? []).map((/** @type {any} */ each) => [each.last_trace_id, each.last_answer]));
  const any = { value: "", label: t("knowledge.any") };
  return html`<div class="filters"><${Select} label=${t("knowledge.state")} value=${state} onChange=${setState}
      options=${[any, ...STATES.map((value) => ({ value, label: t(`knowledge.rule_${value}`) }))]} /></div>
    <p class="muted" role="status">${t("knowledge.rules_waiting", { n: all.filter((rule) => rule.state === "waiting").length })}</p>
    <ul class="cards">${rules.map((rule) => html`<li key=${rule.rule_id}><${Card} rule=${rule} answer=${answers.get(rule.trace_id) ?? ""} again=${again} /></li>`)}</ul>`;
}

/** One rule, under its own address. @param {{ id: string }} props */
export function OneRule({ id }) {
  const { found, error, again } = useLoaded(`/knowledge/rules/${encodeURIComponent(id)}`);
  return html`<p class="trace-back"><a class="lib-back" href="#/knowledge/rules"><${Icon} name="arrow-left" size=${16} />${" "}${t("knowledge.tab_rules")}</a></p>
    <${Problem} error=${error} retry=${again} />
    ${!found && !error && html`<${Busy} />`}
    ${found && html`<${Card} rule=${found} answer="" again=${again} /><${History} history=${found.history} />`}`;
}

/** @param {{ rule: Rule, answer: string, again: () => void }} props */
function Card({ rule, answer, again }) {
  const [asking, setAsking] = useState(/** @type {"rejected" | "undone" | ""} */ (""));
  const path = `/knowledge/rules/${encodeURIComponent(rule.rule_id)}`;
  async function review(/** @type {string} */ state, reason = "") {
    await post(path, { state, reason, ...who() });
    toast(t(`knowledge.now_${state}`), "good");
    again();
  }
  const { busy, run: approve } = useWork(() => review("active"), toast);
  const why = notReviewer();
  const mine = rule.user_id === myself();
  return html`<article class="card rule">
    <header><h2>${rule.question.slice(0, 1000)}</h2>
      <p class="meta"><${State} state=${rule.state} /><span>${agentName(rule.agent)}</span><span>${placeOf(rule)}</span>
        <span>${t("knowledge.by", { name: rule.user_id, day: time(rule.created_at) })}</span>
        ${rule.reviewed_by && html`<span>${t("knowledge.reviewed_by", { name: rule.reviewed_by })}</span>`}
        <a href=${link("traces", rule.trace_id)}>${t("knowledge.trace")}</a></p></header>
    <div class="beside">
      <section class="side before"><h3>${t("knowledge.said_wrong")}</h3><${Wrong} rule=${rule} answer=${answer} /></section>
      <section class="side now"><h3>${t("knowledge.correction")}</h3><p><${Text} text=${rule.correction} /></p>
        ${rule.logic && rule.logic !== rule.correction && html`<pre class="logic" tabindex="0"><code>${rule.logic}</code></pre>`}</section>
    </div>
    ${rule.reason && html`<p class="item-reason"><strong>${t("knowledge.why_state")}</strong> ${said(rule.reason)}</p>`}
    <footer class="filters">
      ${rule.state !== "active" && rule.state !== "undone" && html`<${Allowed} why=${why} kind="primary" icon="check" busy=${busy} onClick=${approve}>${t("knowledge.approve")}<//>`}
      ${rule.state === "waiting" && html`<${Allowed} why=${why} icon="close" onClick=${() => setAsking("rejected")}>${t("knowledge.reject")}<//>`}
      ${rule.state !== "undone" && html`<${Allowed} why=${mine ? "" : why} kind="danger" icon="undo" onClick=${() => setAsking("undone")}>${t("knowledge.take_back")}<//>`}
    </footer>
    ${asking && html`<${Sure} title=${t(`knowledge.sure_${asking}`)} yes=${t(asking === "rejected" ? "knowledge.reject" : "knowledge.take_back")}
      reason=${t("knowledge.reason")} act=${(/** @type {string} */ reason) => review(asking, reason)} close=${() => setAsking("")} />`}
  </article>`;
}

/** The answer that is corrected: from what was kept for analysis, else from the trace where it is this reader's and still there.
 * @param {{ rule: Rule, answer: string }} props */
function Wrong({ rule, answer }) {
  const [text, setText] = useState("");
  useEffect(() => {
    if (answer) return;
    const stop = new AbortController();
    const got = get(`/traces/${encodeURIComponent(rule.trace_id)}`, {}, { signal: stop.signal });
    got.then((trace) => setText(trace.answer.answer), () => setText(stop.signal.aborted ? "" : t("knowledge.answer_gone")));
    return () => stop.abort();
  }, [rule.trace_id, answer]);
  return html`<p><${Text} text=${answer || text} /></p>
    ${rule.wrong && rule.wrong !== (answer || text) && html`<pre class="logic" tabindex="0" aria-label=${t("knowledge.logic")}><code>${rule.wrong}</code></pre>`}`;
}
