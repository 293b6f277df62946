/** What people have confirmed, narrowed by state, place and words. */
import { agentName, t } from "../i18n.js";
import { said } from "../said.js";
import { link } from "../state.js";
import { Button } from "../ui/button.js";
import { Field, Select } from "../ui/fields.js";
import { time } from "../ui/figures.js";
import { html, useMemo, useState } from "../ui/html.js";
import { Busy, Empty, Problem } from "../ui/notice.js";
import { State } from "../traces/said.js";
import { useLoaded } from "./loaded.js";

/** @typedef {{ user_id: string, trace_id: string, at: number }} Word */
/**
 * @typedef {object} Item
 * @property {string} item_id
 * @property {string} trace_id
 * @property {string} agent
 * @property {string} question
 * @property {string} lang
 * @property {string} source
 * @property {string} collection
 * @property {string} logic
 * @property {string} answer
 * @property {string[]} tags
 * @property {string} priority
 * @property {string} state
 * @property {string} reason
 * @property {Record<string, any>[]} evidence
 * @property {Word[]} confirmed_by
 * @property {string[]} conflicts
 * @property {number} uses
 * @property {number} good
 * @property {number} bad
 * @property {number} used_at
 * @property {number} created_at
 * @property {number} updated_at
 * @property {number} [weight]
 */

const STATES = ["active", "pending", "quarantined", "undone"];
const MANY = 100;

export function Confirmed() {
  const { found, error, again } = useLoaded("/knowledge/confirmed");
  const [wish, setWish] = useState({ state: "", place: "", words: "" });
  const [most, setMost] = useState(MANY);
  const items = /** @type {Item[]} */ (found?.confirmed ?? []);
  const shown = useMemo(() => items.filter((item) => fits(item, wish)), [found, wish]);
  if (error) return html`<${Problem} error=${error} retry=${again} />`;
  if (!found) return html`<${Busy} />`;
  if (!items.length) {
    return html`<${Empty} icon="knowledge" title=${t("knowledge.none_confirmed")} text=${t("knowledge.none_confirmed_about")}
      action=${html`<${Button} kind="primary" href="#/ask">${t("knowledge.go_ask")}<//>`} />`;
  }
  const set = (/** @type {string} */ name) => (/** @type {string} */ value) => setWish({ ...wish, [name]: value });
  const any = { value: "", label: t("knowledge.any") };
  const places = [...new Set(items.map(placeOf))].sort();
  return html`<div class="filters" role="search">
      <${Field} class="grow" type="search" label=${t("knowledge.words")} value=${wish.words}
        onInput=${(/** @type {any} */ event) => set("words")(event.currentTarget.value)} />
      <${Select} label=${t("knowledge.state")} value=${wish.state} onChange=${set("state")}
        options=${[any, ...STATES.map((value) => ({ value, label: t(`traces.state_${value}`) }))]} />
      <${Select} label=${t("knowledge.place")} value=${wish.place} onChange=${set("place")}
        options=${[any, ...places.map((value) => ({ value, label: value }))]} />
    </div>
    <p class="muted" role="status">${t("knowledge.found", { n: shown.length, all: items.length })}</p>
    <ul class="item-rows">${shown.slice(0, most).map((item) => html`<${Row} key=${item.item_id} item=${item} />`)}</ul>
    ${shown.length > most && html`<${Button} onClick=${() => setMost(most + MANY)}>${t("knowledge.more", { n: shown.length - most })}<//>`}`;
}

/** @param {{ item: Item }} props */
function Row({ item }) {
  const first = item.confirmed_by[0];
  return html`<li class="item-row"><a href=${itemLink(item.item_id)}>
    <span class="row-title">${item.question.slice(0, 400)}</span>
    <span class="row-text">${(item.agent === "data" ? item.logic : item.answer.replace(/\s*\[\d+\]/g, "")).slice(0, 400)}</span>
    <span class="meta"><${State} state=${item.state} /><span>${agentName(item.agent)}</span><span>${placeOf(item)}</span>
      ${first && html`<span>${t("knowledge.by", { name: namesOf(item.confirmed_by), day: time(item.confirmed_by.at(-1)?.at) })}</span>`}
      <span>${t("knowledge.used", { n: item.uses })}</span></span>
    ${item.reason && html`<span class="row-reason">${said(item.reason).slice(0, 300)}</span>`}
  </a></li>`;
}

/** The page of an item or a rule. @param {string} id */
export function itemLink(id) {
  return `${link("knowledge")}?item=${encodeURIComponent(id)}`;
}

/** Where something was asked: tables, or a collection. @param {{ source: string, collection: string }} item */
export function placeOf(item) {
  return item.source || item.collection || "–";
}

/** @param {readonly Word[]} words */
export function namesOf(words) {
  const names = [...new Set(words.map((each) => each.user_id))];
  return names.length > 3 ? `${names.slice(0, 3).join(", ")} +${names.length - 3}` : names.join(", ");
}

/** @param {Item} item @param {{ state: string, place: string, words: string }} wish */
function fits(item, { state, place, words }) {
  const wanted = words.trim().toLowerCase();
  const text = () => `${item.question}\n${item.answer}\n${item.logic}\n${item.item_id}\n${item.tags.join(" ")}`.toLowerCase();
  return (!state || item.state === state) && (!place || placeOf(item) === place) && (!wanted || text().includes(wanted));
}
