/** The tables of a source: columns with types, keys and sample values, and the first rows. The one rule: rows come when they are asked for. */
import { get } from "../api.js";
import { t } from "../i18n.js";
import { figure } from "../ui/figures.js";
import { html, useEffect, useState } from "../ui/html.js";
import { Badge, Busy, Problem, Select } from "../ui/index.js";
import { Rows } from "./rows.js";

/**
 * @typedef {{name: string, type: string, kind: string, comment: string, values: string[], distinct: number | null,
 *   lowest: any, highest: any}} Column
 * @typedef {{name: string, columns: Column[], comment: string, rows: number | null, primary_key: string[],
 *   foreign_keys: {columns: string[], table: string, target_columns: string[]}[]}} Table
 */

const FIRST = 20; // rows
const SAMPLES = 8; // values of a column

/** @param {{source: string, fingerprint: string}} props */
export function Tables({ source, fingerprint }) {
  const [tables, setTables] = useState(/** @type {Table[] | null} */ (null));
  const [error, setError] = useState(/** @type {unknown} */ (null));
  const [name, setName] = useState("");
  const load = () => {
    setError(null);
    get(`/data/sources/${encodeURIComponent(source)}/schema`).then((found) => setTables(found.tables), setError);
  };
  useEffect(load, [source, fingerprint]);
  if (error) return html`<${Problem} error=${error} retry=${load} />`;
  if (!tables) return html`<${Busy} label=${t("data.loading")} />`;
  const chosen = tables.find((table) => table.name === name) ?? tables[0];
  const options = tables.map((table) => [table.name, `${table.name} (${sizeOf(table)})`]);
  return html`<div class="data-tables">
    ${tables.length > 1 && html`<${Select} label=${t("data.pick_table")} value=${chosen?.name ?? ""} options=${options} onChange=${setName} />`}
    ${chosen && html`<${One} key=${chosen.name} source=${source} table=${chosen} />`}
  </div>`;
}

/** @param {Table} table */
function sizeOf(table) {
  const columns = t("data.columns_n", { n: table.columns.length });
  return table.rows === null ? columns : `${t("data.rows_n", { n: figure(table.rows) })}, ${columns}`;
}

/** @param {{source: string, table: Table}} props */
function One({ source, table }) {
  return html`<section aria-label=${table.name}>
    <h2>${table.name}${" "}<small class="muted">${sizeOf(table)}</small></h2>
    ${table.comment && html`<p>${table.comment}</p>`}
    <h3>${t("data.schema")}</h3>
    <div class="table-box" tabindex="0" role="region" aria-label=${t("data.schema_region", { table: table.name })}>
      <table class="data-schema">
        <thead><tr>${["column", "type", "key", "values", "comment"].map((name) => html`<th key=${name} scope="col">${t(`data.${name}`)}</th>`)}</tr></thead>
        <tbody>${table.columns.map((column) => html`<tr key=${column.name}>
          <th scope="row">${column.name}</th>
          <td><code>${column.type}</code></td>
          <td>${keysOf(table, column.name).map((text) => html`<${Badge} key=${text} kind="info">${text}<//>`)}</td>
          <td>${samplesOf(column)}</td>
          <td>${column.comment}</td>
        </tr>`)}</tbody>
      </table>
    </div>
    <h3>${t("data.first_rows")}</h3>
    <${FirstRows} source=${source} table=${table.name} />
  </section>`;
}

/** @param {Table} table @param {string} column */
function keysOf(table, column) {
  const keys = table.primary_key.includes(column) ? [t("data.primary")] : [];
  for (const key of table.foreign_keys) {
    if (key.columns.includes(column)) keys.push(t("data.foreign", { table: key.table, columns: key.target_columns.join(", ") }));
  }
  return keys;
}

/** @param {Column} column */
function samplesOf({ values, distinct, lowest, highest }) {
  if (values.length) {
    const more = distinct !== null && distinct > SAMPLES ? ` … (${t("data.distinct_n", { n: figure(distinct) })})` : values.length > SAMPLES ? " …" : "";
    return values.slice(0, SAMPLES).join(" · ") + more;
  }
  if (lowest === null || highest === null) return "";
  return lowest === highest ? String(lowest) : t("data.from_to", { lowest, highest });
}

/** @param {{source: string, table: string}} props */
function FirstRows({ source, table }) {
  const [found, setFound] = useState(/** @type {{columns: string[], rows: any[][]} | null} */ (null));
  const [error, setError] = useState(/** @type {unknown} */ (null));
  const load = () => {
    setError(null);
    get(`/data/sources/${encodeURIComponent(source)}/rows`, { table, limit: FIRST }).then(setFound, setError);
  };
  useEffect(load, [source, table]);
  if (error) return html`<${Problem} error=${error} retry=${load} />`;
  if (!found) return html`<${Busy} label=${t("data.loading")} small />`;
  if (!found.rows.length) return html`<p class="muted">${t("data.no_rows")}</p>`;
  return html`<${Rows} columns=${found.columns} rows=${found.rows} label=${t("data.preview_region", { table })} sortable=${false} />`;
}
