/** Confirmed answers that answer one question in two ways, side by side. The one rule: nobody's side is taken in silence. */
import { del } from "../api.js";
import { t } from "../i18n.js";
import { figure, percent, time } from "../ui/figures.js";
import { html, useState } from "../ui/html.js";
import { Busy, Empty, Problem } from "../ui/notice.js";
import { toast } from "../ui/toast.js";
import { Sure } from "../traces/sure.js";
import { pieces } from "../traces/words_differ.js";
import { itemLink } from "./confirmed.js";
import { useLoaded } from "./loaded.js";
import { Allowed, notReviewer } from "./may.js";

/** @typedef {{ item_id: string, agent: string, question: string, logic: string, answer: string, confirmed_by: { user_id: string, at: number }[], uses: number, weight: number }} Side */
/** @typedef {{ source: string, collection: string, likeness: number, sides: Side[] }} Disagreement */

export function Conflicts() {
  const { found, error, again } = useLoaded("/knowledge/conflicts");
  if (error) return html`<${Problem} error=${error} retry=${again} />`;
  if (!found) return html`<${Busy} />`;
  const all = /** @type {Disagreement[]} */ (found.conflicts);
  if (!all.length) return html`<${Empty} icon="check" title=${t("knowledge.none_conflicts")} text=${t("knowledge.none_conflicts_about")} />`;
  return html`<p class="lead">${t("knowledge.conflicts_about")}</p>
    <ul class="cards">${all.map((each) => html`<li key=${each.sides.map((side) => side.item_id).join(" ")}>
      <${Pair} conflict=${each} again=${again} /></li>`)}</ul>`;
}

/** @param {{ conflict: Disagreement, again: () => void }} props */
function Pair({ conflict, again }) {
  const [one, other] = conflict.sides;
  if (!one || !other) return null;
  const answers = pieces(one.answer, other.answer);
  const logic = pieces(one.logic, other.logic);
  return html`<article class="card conflict">
    <p class="meta"><span>${conflict.source || conflict.collection}</span><span>${t("knowledge.likeness", { n: percent(conflict.likeness) })}</span></p>
    <div class="beside">
      <${OneSide} side=${one} other=${other} answer=${answers[0]} logic=${logic[0]} again=${again} />
      <${OneSide} side=${other} other=${one} answer=${answers[1]} logic=${logic[1]} again=${again} />
    </div>
  </article>`;
}

/** @typedef {import("../traces/words_differ.js").Piece} Piece */
/** @param {{ side: Side, other: Side, answer: Piece[], logic: Piece[], again: () => void }} props */
function OneSide({ side, other, answer, logic, again }) {
  const [asking, setAsking] = useState(false);
  async function keep(/** @type {string} */ reason) {
    const why = reason || t("knowledge.kept_instead", { id: side.item_id });
    await del(`/knowledge/confirmed/${encodeURIComponent(other.item_id)}`, { reason: why });
    toast(t("knowledge.settled"), "good");
    again();
  }
  return html`<div class="side">
    <h2><a href=${itemLink(side.item_id)}>${side.question.slice(0, 600)}</a></h2>
    <p class="item-answer"><${Marked} parts=${answer.slice(0, 400)} /></p>
    ${side.logic && html`<pre class="logic" tabindex="0" aria-label=${t("knowledge.logic")}><code>${side.agent === "data" ? html`<${Marked} parts=${logic.slice(0, 400)} />` : side.logic}</code></pre>`}
    <ul class="voices">${side.confirmed_by.map((each) => html`<li key=${each.user_id}><strong>${each.user_id}</strong> <span class="muted">${time(each.at)}</span></li>`)}</ul>
    <p class="meta"><span>${t("knowledge.used", { n: side.uses })}</span><span>${t("knowledge.weighs", { n: figure(side.weight) })}</span></p>
    <${Allowed} why=${notReviewer()} icon="check" onClick=${() => setAsking(true)}>${t("knowledge.keep_this")}<//>
    ${asking && html`<${Sure} title=${t("knowledge.keep_sure")} text=${t("knowledge.keep_about", { question: other.question.slice(0, 200) })}
      yes=${t("knowledge.keep_this")} reason=${t("knowledge.reason")} act=${keep} close=${() => setAsking(false)} />`}
  </div>`;
}

/** @param {{ parts: Piece[] }} props */
function Marked({ parts }) {
  return html`${parts.map((part, n) => (part.differs ? html`<mark key=${n}>${part.text}</mark>` : part.text))}`;
}
