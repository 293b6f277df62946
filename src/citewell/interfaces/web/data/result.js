/**
 * What an answer about tables was read from: a chart and the rows, the file of them, the statement, and what was tried before.
 * The one rule: that there is more than is shown is always said.
 */
import { t } from "../i18n.js";
import { Chart } from "../ui/chart.js";
import { html, useState } from "../ui/html.js";
import { Button, Choice, Icon } from "../ui/index.js";
import { csv, download } from "./cells.js";
import { Rows } from "./rows.js";
import { Sql } from "./sql.js";

/** @typedef {import("../ask/types.js").TableData} TableData */

/** @param {{data: TableData}} props */
export function DataResult({ data }) {
  const { chart, columns, rows } = data;
  const charted = chart !== null && rows.length > 1;
  const [view, setView] = useState(charted ? "chart" : "table");
  const views = ["chart", "table"].map((value) => ({ value, label: t(`data.view_${value}`) }));
  return html`<section class="data-result" aria-label=${t("data.result")}>
    ${columns.length > 0 && html`<div class="data-result-head">
      ${charted ? html`<${Choice} label=${t("data.as_chart")} hidden value=${view} options=${views} onChange=${setView} />` : html`<span></span>`}
      <span class="muted">${t("data.rows_n", { n: data.row_count })}</span>
      ${rows.length > 0 && html`<${Button} small icon="download" onClick=${() => download(`${data.source}.csv`, csv(columns, rows))}>
        ${t("data.csv")}<//>`}
    </div>`}
    ${data.truncated && html`<p class="data-truncated"><${Icon} name="warning" size=${18} />${" "}${t("data.truncated", { n: data.row_count })}</p>`}
    ${charted && view === "chart" && html`<${Chart} chart=${chart} columns=${columns} rows=${rows} />`}
    ${columns.length > 0 && view === "table" && (rows.length
      ? html`<${Rows} columns=${columns} rows=${rows} label=${t("data.rows_region")} />`
      : html`<p class="muted">${t("data.no_result")}</p>`)}
    ${data.sql && html`<details class="data-statement" open><summary>${t("data.sql")}</summary>
      <${Sql} sql=${data.sql} dialect=${data.dialect} /></details>`}
    ${data.tried.length > 0 && html`<${Tried} tried=${data.tried} dialect=${data.dialect} />`}
  </section>`;
}

/** @param {{tried: Record<string, string>[], dialect: string}} props */
function Tried({ tried, dialect }) {
  return html`<details class="data-tried"><summary>${t("data.tried_n", { n: tried.length })}</summary>
    <ol>${tried.map((each, n) => html`<li key=${n}>
      ${each["sql"] && html`<${Sql} sql=${each["sql"]} dialect=${dialect} />`}
      <p><strong>${t("data.tried_problem")}</strong>: ${Object.entries(each).filter(([name]) => name !== "sql").map(([, text]) => text).join(" · ")}</p>
    </li>`)}</ol>
  </details>`;
}
