/** A table whose rows can be put in order by a click on a column's head. */

import { said } from "../said.js";
import { t } from "../i18n.js";
import { html, useMemo, useState } from "./html.js";
import { Icon } from "./icon.js";

/**
 * @typedef {object} Column
 * @property {string} key what of a row it shows
 * @property {string} label
 * @property {"end"} [align] figures stand at the end
 * @property {(row: any) => any} [render] what is shown, else the value itself
 * @property {(row: any) => string | number | null | undefined} [by] what it is put in order by, else the value itself
 * @property {boolean} [fixed] it cannot be put in order
 * @property {string} [class]
 */

/**
 * `id`: the key of a row. `sort`: the column it is first put in order by, with `-` before it for the other way round.
 * @param {{columns: Column[], rows: any[], caption: string, id?: (row: any, n: number) => any, sort?: string, hidden?: boolean,
 *   rowClass?: (row: any) => string, class?: string}} props `hidden`: the caption is only read out (default)
 */
export function Table({ columns, rows, caption, id = (_, n) => n, sort = "", hidden = true, rowClass, class: more = "" }) {
  const [order, setOrder] = useState(sort);
  const sorted = useMemo(() => inOrder(rows, columns, order), [rows, columns, order]);
  /** @param {Column} column */
  const head = (column) => {
    const now = order === column.key ? "ascending" : order === `-${column.key}` ? "descending" : undefined;
    const next = now === "ascending" ? `-${column.key}` : column.key;
    if (column.fixed) return html`<th key=${column.key} scope="col" class=${column.align ?? ""}>${column.label || html`<span class="unseen">${t("frame.actions")}</span>`}</th>`;
    return html`<th key=${column.key} scope="col" class=${column.align ?? ""} aria-sort=${now}>
      <button type="button" onClick=${() => setOrder(next)}>
        ${column.label}<${Icon} name=${now === "descending" ? "chevron-down" : now ? "chevron-up" : "sort"} size=${14} class=${now ? "" : "faint"} />
      </button>
    </th>`;
  };
  return html`<div class=${`table-box ${more}`} tabindex="0" role="region" aria-label=${caption}>
    <table>
      <caption class=${hidden ? "unseen" : ""}>${caption}</caption>
      <thead><tr>${columns.map(head)}</tr></thead>
      <tbody>
        ${sorted.map(
          (row, n) => html`<tr key=${id(row, n)} class=${rowClass?.(row) ?? ""}>
            ${columns.map((column) => html`<td key=${column.key} class=${`${column.align ?? ""} ${column.class ?? ""}`}>${shown(column, row)}</td>`)}
          </tr>`,
        )}
      </tbody>
    </table>
  </div>`;
}

/** @param {Column} column @param {any} row */
function shown(column, row) {
  if (column.render) return column.render(row);
  const value = row[column.key];
  return value === null || value === undefined ? "" : value instanceof String ? said(/** @type {any} */ (value)) : typeof value === "object" ? JSON.stringify(value) : String(value);
}

/** @param {any[]} rows @param {Column[]} columns @param {string} order */
function inOrder(rows, columns, order) {
  const column = columns.find((each) => each.key === order.replace(/^-/, ""));
  if (!order || !column) return rows;
  const way = order.startsWith("-") ? -1 : 1;
  const value = column.by ?? ((/** @type {any} */ row) => row[column.key]);
  const all = rows.map((row) => ({ row, value: value(row) }));
  const there = all.filter((each) => each.value !== null && each.value !== undefined);
  const nothing = all.filter((each) => each.value === null || each.value === undefined); // always last
  return [...there.sort((a, b) => way * compared(a.value, b.value)), ...nothing].map((each) => each.row);
}

/** Figures by size, words by the alphabet. @param {any} a @param {any} b */
function compared(a, b) {
  if (typeof a === "number" && typeof b === "number") return a - b;
  return String(a).localeCompare(String(b), document.documentElement.lang, { numeric: true });
}
