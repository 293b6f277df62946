/**
 * What an answer about tables was read from: a chart and the rows, files of them, the statement, and what was tried before. A statement
 * that a person changes and runs takes their place.
 * The one rule: that there is more than is shown, and that a person wrote what is shown, is always said.
 */
import { post, put } from "../api.js";
import { t } from "../i18n.js";
import { said } from "../said.js";
import { Chart } from "../ui/chart.js";
import { html, signal, useState } from "../ui/html.js";
import { Badge, Button, Choice, Icon, Menu, time, toast, useWork } from "../ui/index.js";
import { csv, download } from "./cells.js";
import { ChartOptions, chartOf, figuresOf } from "./charting.js";
import { Editor } from "./editor.js";
import { exportRows } from "./files.js";
import { Rows } from "./rows.js";
import { SaveDialog } from "./saving.js";
import { Sql } from "./sql.js";

/** @typedef {import("../ask/types.js").TableData} TableData */
/** @typedef {import("../ask/types.js").Result} Result */
/** @typedef {import("../ui/chart.js").ChartSpec} ChartSpec */

/** What people made of answers, by trace, so that looking elsewhere loses nothing. */
const changed = signal(/** @type {Map<string, Result>} */ (new Map()));

/** `traceId`: of the answer; empty where it is none. @param {{data: TableData, traceId?: string}} props */
export function DataResult({ data: given, traceId = "" }) {
  const [own, setOwn] = useState(/** @type {Result | null} */ (changed.value.get(traceId) ?? null));
  const [chosen, setChosen] = useState(given.chosen ?? null);
  const [saving, setSaving] = useState(false);
  const edited = own !== null;
  const data = own ? own.data : { ...given, chosen };
  const take = (/** @type {Result | null} */ result) => {
    setOwn(result);
    if (!traceId) return;
    const all = new Map(changed.value);
    if (result) all.set(traceId, result);
    else all.delete(traceId);
    changed.value = all;
  };
  const draw = (/** @type {ChartSpec} */ chart) => {
    if (own) return take({ ...own, data: { ...own.data, chosen: chart } });
    setChosen(chart);
    if (traceId) put(`/traces/${encodeURIComponent(traceId)}/chart`, { chart }).catch(toast);
  };
  return html`<section class="data-result" aria-label=${t("data.result")}>
    <${Shown} data=${data} draw=${draw} onSave=${data.sql && data.columns.length > 0 ? () => setSaving(true) : undefined} />
    ${own && html`<p class="data-edited"><${Badge} kind="info"><${Icon} name="edit" size=${14} />${t("data.edited")}<//>
      <span class="muted">${t("data.as_of", { when: time(own.at) })}</span>
      <${Button} small kind="quiet" icon="undo" onClick=${() => take(null)}>${t("data.back_to_answer")}<//>
      ${traceId && html`<${Propose} traceId=${traceId} sql=${own.data.sql} />`}</p>`}
    ${own?.problem && html`<p class="data-truncated"><${Icon} name="warning" size=${18} />${" "}${said(own.problem)}</p>`}
    ${data.sql && html`<${Statement} data=${data} original=${given.sql} onResult=${take} />`}
    ${!edited && data.tried.length > 0 && html`<${Tried} tried=${data.tried} dialect=${data.dialect} />`}
    ${saving && html`<${SaveDialog} data=${data} traceId=${traceId} edited=${edited} onClose=${() => setSaving(false)} />`}
  </section>`;
}

/** Chart or rows, and what can be done with them. @param {{data: TableData, draw?: (chart: ChartSpec) => void, onSave?: () => void}} props */
export function Shown({ data, draw, onSave }) {
  const { columns, rows } = data;
  const chart = chartOf(data);
  const [wanted, setView] = useState("chart");
  const [charting, setCharting] = useState(false);
  const view = chart ? wanted : "table";
  const views = ["chart", "table"].map((value) => ({ value, label: t(`data.view_${value}`) }));
  const drawable = draw && rows.length > 1 && figuresOf(data).length > 0;
  const change = (/** @type {ChartSpec} */ next) => {
    setView(next.kind === "table" ? "table" : "chart");
    draw?.(next);
  };
  if (!columns.length) return null;
  return html`<div class="data-result-head">
      ${chart ? html`<${Choice} label=${t("data.as_chart")} hidden value=${view} options=${views} onChange=${setView} />` : html`<span></span>`}
      <span class="muted">${t("data.rows_n", { n: data.row_count })}</span>
      ${drawable && html`<${Button} small kind="quiet" icon="chart" aria-expanded=${charting ? "true" : "false"} onClick=${() => setCharting(!charting)}>${t("data.chart_options")}<//>`}
      ${onSave && html`<${Button} small kind="quiet" icon="pin" onClick=${onSave}>${t("data.save_short")}<//>`}
      ${rows.length > 0 && html`<${Files} data=${data} />`}
    </div>
    ${charting && drawable && html`<${ChartOptions} data=${data} onChange=${change} />`}
    ${data.truncated && html`<p class="data-truncated"><${Icon} name="warning" size=${18} />${" "}${t("data.truncated", { n: data.row_count })}</p>`}
    ${chart && view === "chart" && html`<${Chart} chart=${chart} columns=${columns} rows=${rows} looks=${data.looks} />`}
    ${view === "table" && (rows.length
      ? html`<${Rows} columns=${columns} rows=${rows} looks=${data.looks} label=${t("data.rows_region")} />`
      : html`<p class="muted">${t("data.no_result")}</p>`)}`;
}

/** All rows as a file: those that are shown where that is all of them, else read anew. @param {{data: TableData}} props */
function Files({ data }) {
  const { busy, run: fetch } = useWork((/** @type {"csv" | "xlsx"} */ form) => exportRows(data, form), toast);
  const shown = () => (data.truncated ? fetch("csv") : download(`${data.source}.csv`, csv(data.columns, data.rows)));
  const items = [
    { label: t("data.csv"), icon: "file", action: shown },
    { label: t("data.xlsx"), icon: "table", action: () => fetch("xlsx") },
  ];
  return html`<${Menu} words icon=${busy ? "clock" : "download"} label=${t(busy ? "data.downloading" : "data.download")} items=${items} class="data-files" />`;
}

/** The statement behind one click, to be read, changed and run. @param {{data: TableData, original: string, onResult: (result: Result) => void}} props */
export function Statement({ data, original, onResult }) {
  const [editing, setEditing] = useState(false);
  const put = (/** @type {Result} */ result) => onResult(result);
  return html`<details class="data-statement"><summary>${t("data.sql")}</summary>
    ${editing
      ? html`<${Editor} source=${data.source} sql=${data.sql} original=${original} onResult=${put} onClose=${() => setEditing(false)} />`
      : html`<${Sql} sql=${data.sql} dialect=${data.dialect} /><p><${Button} small icon="edit" onClick=${() => setEditing(true)}>${t("data.edit_sql")}<//></p>`}
  </details>`;
}

/** That this statement answers the question: a correction, which a reviewer confirms. @param {{traceId: string, sql: string}} props */
function Propose({ traceId, sql }) {
  const [sent, setSent] = useState("");
  const { busy, run: propose } = useWork(async () => {
    await post("/feedback", { trace_id: traceId, is_correct: false, user_correction: sql });
    setSent(sql);
    toast(t("data.proposed"), "good");
  }, toast);
  return html`<${Button} small kind="quiet" icon="check" busy=${busy} disabled=${sent === sql} title=${t("data.propose_hint")} onClick=${propose}>${t("data.propose")}<//>`;
}

/** @param {{tried: Record<string, string>[], dialect: string}} props */
function Tried({ tried, dialect }) {
  return html`<details class="data-tried"><summary>${t("data.tried_n", { n: tried.length })}</summary>
    <ol>${tried.map((each, n) => html`<li key=${n}>
      ${each["sql"] && html`<${Sql} sql=${each["sql"]} dialect=${dialect} />`}
      <p><strong>${t("data.tried_problem")}</strong>: ${Object.entries(each).filter(([name]) => name !== "sql").map(([, text]) => said(text)).join(" · ")}</p>
    </li>`)}</ol>
  </details>`;
}
