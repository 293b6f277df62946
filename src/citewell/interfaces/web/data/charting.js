/**
 * How rows are drawn: the kind of the chart, what stands along its axis, which figures, and what splits them.
 * The one rule: only what the rows have can be chosen, and what cannot be drawn together is never offered.
 */
import { t } from "../i18n.js";
import { html } from "../ui/html.js";
import { Check, Select } from "../ui/index.js";
import { looksOf } from "./looks.js";

/** @typedef {import("../ask/types.js").TableData} TableData */
/** @typedef {import("../ui/chart.js").ChartSpec} ChartSpec */

const KINDS = /** @type {ChartSpec["kind"][]} */ (["bar", "line", "pie", "scatter", "table"]);
const MOST = 4; // figures side by side

/** What is drawn: as a person wants it, else as it was proposed; null: a table only. @param {TableData} data @returns {ChartSpec | null} */
export function chartOf({ chosen, chart, columns, rows }) {
  const wanted = chosen ?? chart;
  if (!wanted || wanted.kind === "table" || rows.length < 2) return null;
  return [wanted.x, ...wanted.y].every((name) => columns.includes(name)) && wanted.y.length ? wanted : null;
}

/** The columns that hold figures to draw. @param {TableData} data */
export function figuresOf({ columns, rows, looks }) {
  const found = looksOf(columns, rows, looks);
  const quantities = columns.filter((_, at) => found[at]?.grouped);
  return quantities.length ? quantities : columns.filter((_, at) => found[at]?.number);
}

/** @param {{data: TableData, onChange: (chart: ChartSpec) => void}} props */
export function ChartOptions({ data, onChange }) {
  const { columns } = data;
  const figures = figuresOf(data);
  const now = data.chosen ?? data.chart ?? { kind: /** @type {const} */ ("table"), x: "", y: [] };
  const x = now.x || (columns.find((name) => !figures.includes(name)) ?? columns[0] ?? "");
  const y = now.y.length ? now.y : figures.filter((name) => name !== x).slice(0, 1);
  const series = now.series ?? "";
  const set = (/** @type {Partial<ChartSpec>} */ values) => onChange(fitted({ kind: now.kind, x, y, series, title: "", ...values }));
  const tick = (/** @type {string} */ name) => (/** @type {boolean} */ yes) => set({ y: yes ? [...y, name] : y.filter((each) => each !== name) });
  const splits = columns.filter((name) => name !== x && !y.includes(name) && !figures.includes(name));
  const kinds = KINDS.filter((kind) => kind === "table" || figures.length > 0).map((value) => ({ value, label: t(`data.chart_${value}`) }));
  const single = now.kind === "pie" || now.kind === "scatter" || Boolean(series);
  return html`<div class="data-charting" role="group" aria-label=${t("data.chart_options")}>
    <${Select} label=${t("data.chart_kind")} value=${now.kind} options=${kinds} onChange=${(/** @type {any} */ kind) => set({ kind })} />
    ${now.kind !== "table" && html`
      <${Select} label=${t("data.chart_x")} value=${x} options=${columns.map((name) => [name, name])} onChange=${(/** @type {string} */ name) => set({ x: name })} />
      ${single
        ? html`<${Select} label=${t("data.chart_y")} value=${y[0] ?? ""} options=${figures.map((name) => [name, name])} onChange=${(/** @type {string} */ name) => set({ y: [name] })} />`
        : figures.length > 1 && html`<fieldset class="data-charting-y"><legend>${t("data.chart_y")}</legend>
            ${figures.map((name) => html`<${Check} key=${name} label=${name} checked=${y.includes(name)} disabled=${name === x || (!y.includes(name) && y.length >= MOST) || (y.length === 1 && y.includes(name))} onChange=${tick(name)} />`)}</fieldset>`}
      ${["bar", "line"].includes(now.kind) && splits.length > 0 && html`<${Select} label=${t("data.chart_series")} value=${series}
        options=${[["", t("data.chart_no_series")], ...splits.map((name) => [name, name])]} onChange=${(/** @type {string} */ name) => set({ series: name })} />`}`}
  </div>`;
}

/** Without what does not go together. @param {ChartSpec} chart @returns {ChartSpec} */
function fitted(chart) {
  if (chart.kind === "table") return { kind: "table", x: "", y: [], series: "", title: "" };
  const split = ["bar", "line"].includes(chart.kind) && chart.series && chart.series !== chart.x ? chart.series : "";
  const others = chart.y.filter((name) => name !== chart.x || chart.kind === "scatter");
  const y = split || chart.kind === "pie" || chart.kind === "scatter" ? others.slice(0, 1) : others;
  return { ...chart, y: y.length ? y : chart.y.slice(0, 1), series: split };
}
