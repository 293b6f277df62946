/** What this person said of answers, and what became of it. */
import { agentName, known, t } from "../i18n.js";
import { link } from "../state.js";
import { Button } from "../ui/button.js";
import { time } from "../ui/figures.js";
import { html } from "../ui/html.js";
import { Icon } from "../ui/icon.js";
import { Busy, Empty, Problem } from "../ui/notice.js";
import { Text } from "../traces/value.js";
import { itemLink } from "./confirmed.js";
import { useLoaded } from "./loaded.js";

/** @typedef {{ feedback_id: string, trace_id: string, agent: string, question: string, is_correct: boolean, correction: string, state: "waiting" | "done" | "failed", outcome: string, item_id: string, updated_at: number }} Vote */

export function Mine() {
  const { found, error, again } = useLoaded("/feedback", { limit: 200 });
  if (error) return html`<${Problem} error=${error} retry=${again} />`;
  if (!found) return html`<${Busy} />`;
  const votes = /** @type {Vote[]} */ (found.feedback);
  if (!votes.length) {
    return html`<${Empty} icon="thumb-up" title=${t("knowledge.none_mine")} text=${t("knowledge.none_mine_about")}
      action=${html`<${Button} kind="primary" href="#/ask">${t("knowledge.go_ask")}<//>`} />`;
  }
  return html`<ul class="cards">${votes.map((vote) => html`<li key=${vote.feedback_id}><article class="card vote">
    <h2>${vote.question.slice(0, 1000) || vote.trace_id}</h2>
    <p class=${`outcome ${vote.is_correct ? "good" : "bad"}`}><${Icon} name=${vote.is_correct ? "thumb-up" : "thumb-down"} />
      <strong>${t(vote.is_correct ? "knowledge.i_right" : "knowledge.i_wrong")}</strong>
      <span class="muted">${agentName(vote.agent)} · ${time(vote.updated_at)}</span></p>
    ${vote.correction && html`<blockquote><${Text} text=${vote.correction} /></blockquote>`}
    <p><${Became} vote=${vote} /></p>
    <p class="filters"><a href=${link("traces", vote.trace_id)}>${t("knowledge.trace")}</a>
      ${vote.item_id && html`<a href=${itemLink(vote.item_id)}>${t(vote.item_id.startsWith("rule_") ? "knowledge.see_rule" : "knowledge.see_item")}</a>`}</p>
  </article></li>`)}</ul>`;
}

/** `outcome` is a word, and after a colon what is wrong. @param {{ vote: Vote }} props */
function Became({ vote }) {
  const at = vote.outcome.indexOf(":");
  const [word, why] = at < 0 ? [vote.outcome, ""] : [vote.outcome.slice(0, at), vote.outcome.slice(at + 1).trim()];
  const key = vote.state === "done" ? `knowledge.became_${word.trim()}` : `knowledge.became_${vote.state}`;
  const rest = vote.state === "failed" ? vote.outcome : why;
  return html`<span>${known(key) ? t(key) : vote.outcome}</span>${rest && html` <span class="row-reason">${rest}</span>`}`;
}
