/** One confirmed item: what it says, who stands by it, what proves it, what was done to it; and what can be done. */
import { del, get, post } from "../api.js";
import { agentName, known, nameLanguage, t } from "../i18n.js";
import { said } from "../said.js";
import { link } from "../state.js";
import { figure, time } from "../ui/figures.js";
import { html, useState } from "../ui/html.js";
import { Icon } from "../ui/icon.js";
import { Busy, Problem } from "../ui/notice.js";
import { toast } from "../ui/toast.js";
import { useWork } from "../ui/work.js";
import { Button } from "../ui/button.js";
import { Copy, save } from "../traces/copy.js";
import { State } from "../traces/said.js";
import { Sure } from "../traces/sure.js";
import { Text, Value } from "../traces/value.js";
import { itemLink, placeOf } from "./confirmed.js";
import { useLoaded } from "./loaded.js";
import { Allowed, myself, notReviewer, who } from "./may.js";

/** @typedef {import("./confirmed.js").Item} Item */
/** @typedef {{ at: number, user_id: string, action: string, reason: string }} Logged */

/** @param {{ id: string }} props */
export function One({ id }) {
  const { found, error, again } = useLoaded(`/knowledge/confirmed/${encodeURIComponent(id)}`);
  const back = html`<p class="trace-back"><a class="lib-back" href="#/knowledge"><${Icon} name="arrow-left" size=${16} />${" "}${t("knowledge.all_items")}</a></p>`;
  if (error) return html`${back}<${Problem} error=${error} retry=${again} />`;
  if (!found) return html`${back}<${Busy} />`;
  const item = /** @type {Item & { history: Logged[] }} */ (found);
  return html`${back}<article class="item">
    <header><h2 class="trace-question"><${Text} text=${item.question} most=${400} /></h2>
      <p class="meta"><${State} state=${item.state} /><span>${agentName(item.agent)}</span><span>${placeOf(item)}</span><code>${item.item_id}</code></p>
      ${item.reason && html`<p class="item-reason"><strong>${t("knowledge.why_state")}</strong> ${said(item.reason)}</p>`}
      <${Acts} item=${item} again=${again} />
    </header>
    ${item.conflicts.length > 0 && html`<div class="item-conflicts"><strong>${t("knowledge.disagrees")}</strong>
      <ul>${item.conflicts.map((other) => html`<li key=${other}><a href=${itemLink(other)}>${other}</a></li>`)}</ul>
      <a href="#/knowledge/conflicts">${t("knowledge.see_conflicts")}</a></div>`}
    <div class="item-columns">
      <section><h3>${t("knowledge.answer")}</h3><p class="item-answer"><${Text} text=${item.answer} most=${2000} /></p>
        <${Logic} item=${item} /><${Evidence} evidence=${item.evidence} /></section>
      <aside><${Figures} item=${item} /><${Voices} item=${item} /><${History} history=${item.history} /></aside>
    </div>
    ${item.state === "active" && html`<${Document} item=${item} />`}
  </article>`;
}

/** @param {{ item: Item, again: () => void }} props */
function Acts({ item, again }) {
  const [asking, setAsking] = useState(false);
  const path = `/knowledge/confirmed/${encodeURIComponent(item.item_id)}`;
  const { busy, run: stand } = useWork(async () => {
    const now = await post(`${path}/confirm`, who());
    toast(t("knowledge.stood_by", { state: t(`traces.state_${now.state}`) }), "good");
    again();
  }, toast);
  async function undo(/** @type {string} */ reason) {
    await del(path, { reason });
    toast(t("knowledge.undone"), "good");
    again();
  }
  if (item.state === "undone") return html`<p class="muted">${t("knowledge.undone_about")}</p>`;
  const mine = item.confirmed_by.some((each) => each.user_id === myself());
  const aside = item.state === "quarantined";
  const why = notReviewer() || (mine && !aside ? t("knowledge.stands_already") : "");
  return html`<div class="filters">
    <${Allowed} why=${why} kind="primary" icon="check" busy=${busy} onClick=${stand}>${t(aside ? "knowledge.restore" : "knowledge.stand_by")}<//>
    <${Allowed} why=${notReviewer()} kind="danger" icon="undo" onClick=${() => setAsking(true)}>${t("knowledge.undo")}<//>
    ${asking && html`<${Sure} title=${t("knowledge.undo_sure")} text=${t("knowledge.undo_about")} yes=${t("knowledge.undo")}
      reason=${t("knowledge.reason")} act=${undo} close=${() => setAsking(false)} />`}
  </div>`;
}

/** @param {{ item: Item }} props */
function Logic({ item }) {
  if (!item.logic) return null;
  const text = html`<pre class="logic" tabindex="0" aria-label=${t("knowledge.logic")}><code>${item.logic}</code></pre>
    <${Copy} label=${t("knowledge.copy")} text=${() => item.logic} />`;
  if (item.agent === "data") return html`<h3>${t("knowledge.sql")}</h3>${text}`;
  return html`<details class="item-logic"><summary>${t("knowledge.logic")}</summary>${text}</details>`;
}

/** What it was confirmed on: quotes of documents, or the first rows. @param {{ evidence: Record<string, any>[] }} props */
function Evidence({ evidence }) {
  if (!evidence.length) return null;
  return html`<h3>${t("knowledge.evidence")}</h3>${evidence.slice(0, 30).map((each, n) => {
    if (Array.isArray(each["columns"])) return html`<${Rows} key=${n} columns=${each["columns"]} rows=${each["rows"] ?? []} />`;
    if (!each["quote"]) return html`<div key=${n}><${Value} value=${each} /></div>`;
    return html`<figure class="quote" key=${n}><blockquote>${each["quote"]}</blockquote>
      <figcaption>${each["title"] || each["doc_id"]}${each["page"] ? ` · ${t("knowledge.page", { n: each["page"] })}` : ""}</figcaption></figure>`;
  })}`;
}

/** @param {{ columns: unknown[], rows: unknown[][] }} props */
function Rows({ columns, rows }) {
  return html`<div class="scroll" tabindex="0" role="region" aria-label=${t("knowledge.first_rows")}><table>
    <thead><tr>${columns.map((name, n) => html`<th scope="col" key=${n}>${String(name)}</th>`)}</tr></thead>
    <tbody>${rows.slice(0, 20).map((row, n) => html`<tr key=${n}>${row.map((cell, m) => html`<td key=${m}>${cell === null ? "–" : String(cell)}</td>`)}</tr>`)}</tbody>
  </table></div>`;
}

/** @param {{ item: Item }} props */
function Figures({ item }) {
  const rows = [
    ["uses", figure(item.uses)], ["last_used", time(item.used_at)], ["votes", t("knowledge.good_bad", { good: item.good, bad: item.bad })],
    ["weight", item.weight === undefined ? "" : figure(item.weight)], ["lang", item.lang && nameLanguage(item.lang)], ["tags", item.tags.map(tagName).join(t("frame.comma"))], ["since", time(item.created_at)],
  ];
  return html`<dl class="item-facts small">${rows.filter(([, value]) => value).map(([name, value]) => html`<div key=${name}>
    <dt>${t(`knowledge.fact_${name}`)}</dt><dd>${value}</dd></div>`)}
    <div><dt>${t("knowledge.fact_trace")}</dt><dd><a href=${link("traces", item.trace_id)}>${item.trace_id}</a></dd></div></dl>`;
}

/** As people call it; a word of somebody's own stays. @param {string} tag */
function tagName(tag) {
  const key = `knowledge.tag_${tag.replaceAll("-", "_")}`;
  return known(key) ? t(key) : tag;
}

/** @param {{ item: Item }} props */
function Voices({ item }) {
  return html`<h3>${t("knowledge.confirmed_by")}</h3>${item.confirmed_by.length
    ? html`<ul class="voices">${item.confirmed_by.map((each) => html`<li key=${each.user_id}><strong>${each.user_id}</strong> <span class="muted">${time(each.at)}</span></li>`)}</ul>`
    : html`<p class="muted">${t("knowledge.nobody")}</p>`}`;
}

/** @param {{ history: readonly Logged[] }} props */
export function History({ history }) {
  if (!history.length) return null;
  return html`<h3>${t("knowledge.history")}</h3><ol class="voices">${history.map((each, n) => html`<li key=${n}>
    <span>${known(`knowledge.did_${each.action}`) ? t(`knowledge.did_${each.action}`) : each.action}</span>${" "}
    <strong>${each.user_id || "Citewell"}</strong> <span class="muted">${time(each.at)}</span>
    ${each.reason && html`<span class="row-reason">${said(each.reason)}</span>`}</li>`)}</ol>`;
}

/** The Markdown document, as it is kept; asked for when it is opened. @param {{ item: Item }} props */
function Document({ item }) {
  const [text, setText] = useState(/** @type {string | null} */ (null));
  const { busy, error, run } = useWork(async () => setText(String(await get(`/knowledge/confirmed/${encodeURIComponent(item.item_id)}/document`))));
  const open = (/** @type {any} */ event) => event.currentTarget.open && text === null && !busy && run();
  return html`<details class="document" onToggle=${open}><summary>${t("knowledge.document")}</summary>
    <${Problem} error=${error} />
    ${text === null ? busy && html`<${Busy} small />` : html`<div class="filters"><${Copy} label=${t("knowledge.copy")} text=${() => text} />
      <${Button} small icon="download" onClick=${() => save(`${item.trace_id}.md`, text, "text/markdown")}>${t("knowledge.download")}<//></div>
      <pre class="logic" tabindex="0" aria-label=${t("knowledge.document")}>${text}</pre>`}
  </details>`;
}
