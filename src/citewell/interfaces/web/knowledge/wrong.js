/** Questions whose answers people said to be wrong, the most often first. */
import { agentName, t } from "../i18n.js";
import { link } from "../state.js";
import { time } from "../ui/figures.js";
import { html } from "../ui/html.js";
import { Busy, Empty, Problem } from "../ui/notice.js";
import { Text } from "../traces/value.js";
import { useLoaded } from "./loaded.js";

/** @typedef {{ question: string, agent: string, times: number, people: number, corrected: number, last_trace_id: string, last_answer: string, last_at: number }} Wrong */

export function Wrongs() {
  const { found, error, again } = useLoaded("/feedback/wrong", { limit: 200 });
  if (error) return html`<${Problem} error=${error} retry=${again} />`;
  if (!found) return html`<${Busy} />`;
  const all = /** @type {Wrong[]} */ (found.wrong);
  if (!all.length) return html`<${Empty} icon="thumb-up" title=${t("knowledge.none_wrong")} text=${t("knowledge.none_wrong_about")} />`;
  return html`<p class="lead">${t("knowledge.wrong_about")}</p>
    <ul class="cards">${all.map((each) => html`<li key=${each.last_trace_id}><article class="card">
      <h2>${each.question.slice(0, 1000)}</h2>
      <p class="meta"><span>${agentName(each.agent)}</span><span>${t("knowledge.wrong_times", { n: each.times })}</span>
        <span>${t("knowledge.wrong_people", { n: each.people })}</span><span>${t("knowledge.wrong_corrected", { n: each.corrected })}</span>
        <span>${time(each.last_at)}</span></p>
      <p class="item-answer"><strong>${t("knowledge.last_answer")}</strong> <${Text} text=${each.last_answer || "–"} /></p>
      <a href=${link("traces", each.last_trace_id)}>${t("knowledge.trace")}</a>
    </article></li>`)}</ul>`;
}
