/** What an answer about tables was read from: the statement, its rows, a chart. The one rule: every figure is text, never markup. */
import { cellText, isGrouped, kindOf } from "../data/cells.js";
import { t } from "../i18n.js";
import { html, useEffect, useState } from "../ui/html.js";
import { copyText } from "./copy.js";

/** @typedef {import("./types.js").TableData} TableData */

const FIRST = 10; // rows shown before somebody asks for all
const MOST = 500; // rows the page lays out; the data view and its file have the others

/** @param {{data: TableData}} props */
export function AnswerData({ data }) {
  return html`<div class="answer-data" role="group" aria-label=${t("ask.data")}>
    ${data.chart && data.rows.length > 1 && html`<${Drawn} data=${data} />`}
    ${data.columns.length > 0 && html`<${Rows} data=${data} />`}
    ${data.sql && html`<${Statement} data=${data} />`}
  </div>`;
}

/** @param {{data: TableData}} props */
function Drawn({ data }) {
  const [Chart, setChart] = useState(/** @type {any} */ (null));
  useEffect(() => {
    import("../ui/chart.js").then((module) => setChart(() => module.Chart), () => undefined);
  }, []);
  return Chart && html`<${Chart} chart=${data.chart} columns=${data.columns} rows=${data.rows} />`;
}

/** @param {{data: TableData}} props */
function Rows({ data }) {
  const [all, setAll] = useState(false);
  const { columns, rows } = data;
  const shown = rows.slice(0, all ? MOST : FIRST);
  const kinds = columns.map((name, at) => ({ number: kindOf(rows, at) === "number", grouped: isGrouped(name, rows, at) }));
  const count = data.truncated ? t("ask.rows_more", { n: data.row_count }) : t("ask.rows", { n: data.row_count });
  return html`<div class="rows">
    <div class="rows-scroll" tabindex="0" role="group" aria-label=${t("ask.table")}>
      <table>
        <thead><tr>${columns.map((name, at) => html`<th scope="col" key=${at} class=${kinds[at]?.number ? "figure" : ""}>${name}</th>`)}</tr></thead>
        <tbody>
          ${shown.map((row, n) => html`<tr key=${n}>${columns.map((_, at) => html`<td key=${at} class=${kinds[at]?.number ? "figure" : ""}>
            ${row[at] === null ? html`<span class="null">${t("ask.null")}</span>` : cellText(row[at], Boolean(kinds[at]?.number && kinds[at]?.grouped))}
          </td>`)}</tr>`)}
        </tbody>
      </table>
    </div>
    <p class="rows-foot">${count}
      ${shown.length < rows.length && !all && html`<button type="button" class="link" onClick=${() => setAll(true)}>
        ${t("ask.all_rows", { n: Math.min(rows.length, MOST) })}</button>`}</p>
  </div>`;
}

/** @param {{data: TableData}} props */
function Statement({ data }) {
  return html`<details class="statement">
    <summary>${t("ask.sql", { source: data.source })}</summary>
    <div class="code">
      <button type="button" class="code-copy" onClick=${() => copyText(data.sql)}>${t("ask.copy_code")}</button>
      <pre tabindex="0" role="group" aria-label=${t("ask.code")}><code>${data.sql}</code></pre>
    </div>
    ${data.tried.length > 0 && html`<p>${t("ask.tried", { n: data.tried.length })}</p>
      <ul class="tried">${data.tried.map((each, n) => html`<li key=${n}><code>${each["sql"] ?? ""}</code>${" "}${Object.entries(each)
        .filter(([name]) => name !== "sql").map(([, text]) => text).join(" · ")}</li>`)}</ul>`}
  </details>`;
}
