/** A card of a board: a saved question's chart or first rows, when they were read, and what went wrong. The one rule: a single figure is written large. */
import { chartOf } from "../data/charting.js";
import { looksOf, shown } from "../data/looks.js";
import { Rows } from "../data/rows.js";
import { t } from "../i18n.js";
import { said } from "../said.js";
import { link } from "../state.js";
import { Chart } from "../ui/chart.js";
import { time } from "../ui/figures.js";
import { html } from "../ui/html.js";
import { Badge, Busy, Icon, IconButton, Problem } from "../ui/index.js";

const FIRST = 50; // rows of a card

/** @param {{card: import("../ask/types.js").Saved, run: import("./run.js").Running, children?: any}} props */
export function Card({ card, run, children }) {
  const result = run.result.value;
  const error = run.error.value;
  const busy = run.busy.value;
  return html`<article class="boards-card" aria-label=${card.name} aria-busy=${busy ? "true" : "false"}>
    <header><h2><a href=${link("boards", "saved", card.saved_id)}>${card.name}</a></h2>${children}</header>
    ${Boolean(error) && html`<${Problem} error=${error} retry=${run.start} />`}
    ${result ? html`<${Body} data=${result.data} />` : busy && html`<${Busy} label=${t("boards.running")} />`}
    ${result?.problem && html`<p class="data-truncated"><${Icon} name="warning" size=${18} />${" "}${said(result.problem)}</p>`}
    <footer class="muted"><span>${card.source}</span>
      ${card.edited && html`<${Badge} kind="info">${t("data.edited_short")}<//>`}
      ${result && html`<span>${t("data.as_of", { when: time(result.at) })}</span>`}
      ${busy
        ? html`<${IconButton} name="stop" size=${16} label=${t("boards.stop_card", { name: card.name })} onClick=${run.stop} />`
        : html`<${IconButton} name="refresh" size=${16} label=${t("boards.refresh_card", { name: card.name })} onClick=${run.start} />`}
    </footer>
  </article>`;
}

/** @param {{data: import("../ask/types.js").TableData}} props */
function Body({ data }) {
  const { columns, rows, looks } = data;
  const chart = chartOf(data);
  if (!rows.length) return html`<p class="muted">${t("data.no_result")}</p>`;
  if (rows.length === 1 && columns.length === 1) {
    return html`<p class="boards-figure"><strong>${shown(rows[0]?.[0] ?? null, looksOf(columns, rows, looks)[0])}</strong><span class="muted">${columns[0]}</span></p>`;
  }
  if (chart) return html`<${Chart} chart=${chart} columns=${columns} rows=${rows} looks=${looks} />`;
  return html`<${Rows} columns=${columns} rows=${rows.slice(0, FIRST)} looks=${looks} label=${t("data.rows_region")} />
    ${(rows.length > FIRST || data.truncated) && html`<p class="muted">${t("data.truncated", { n: Math.min(FIRST, rows.length) })}</p>`}`;
}
