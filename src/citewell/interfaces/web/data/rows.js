/**
 * Rows of a table: sorted by a click on a column's name, a hundred at a time, figures to the right, NULL shown as such.
 * The one rule: a page of rows is laid out, never all of them, so that a thousand rows of wide columns stay quick.
 */
import { html, useMemo, useState } from "../ui/html.js";
import { t } from "../i18n.js";
import { Icon } from "../ui/icon.js";
import { sorted } from "./cells.js";
import { looksOf, shown } from "./looks.js";

/** @typedef {import("./cells.js").Value} Value */
/** @typedef {{at: number, way: "ascending" | "descending"} | null} Order */

const A_PAGE = 100;
const LONG = 120; // characters of a cell before it is folded

/**
 * `label`: what the region is called; `looks`: what was found out about the columns; `sortable` false: as they come.
 * @param {{columns: string[], rows: Value[][], label: string, looks?: import("./looks.js").Told[], sortable?: boolean}} props
 */
export function Rows({ columns, rows, label, looks: told, sortable = true }) {
  const [order, setOrder] = useState(/** @type {Order} */ (null));
  const [from, setFrom] = useState(0);
  const looks = useMemo(() => looksOf(columns, rows, told), [columns, rows, told]);
  const ordered = useMemo(() => (order ? sorted(rows, order.at, order.way) : rows), [rows, order]);
  const first = Math.min(from, Math.max(0, Math.floor((rows.length - 1) / A_PAGE) * A_PAGE));
  const page = ordered.slice(first, first + A_PAGE);
  const sort = (/** @type {number} */ at) => {
    setFrom(0);
    setOrder(next(order, at, looks[at]?.number ?? false));
  };
  return html`<div class="data-rows">
    <div class="data-scroll" tabindex="0" role="region" aria-label=${label}>
      <table class="data-table">
        <thead><tr>${columns.map((name, at) => html`<${Head} key=${at} name=${name} figure=${looks[at]?.number}
          way=${order?.at === at ? order.way : null} sort=${sortable && rows.length > 1 ? () => sort(at) : null} />`)}</tr></thead>
        <tbody>${page.map((row, n) => html`<tr key=${first + n}>${columns.map((_, at) => html`<${Cell} key=${at} value=${row[at] ?? null}
          look=${looks[at]} />`)}</tr>`)}</tbody>
      </table>
    </div>
    ${rows.length > A_PAGE && html`<${Pages} first=${first} shown=${page.length} all=${rows.length} go=${setFrom} />`}
  </div>`;
}

/** First the way that is asked for most: figures from the largest, names from the first; then the other way, then as it came.
 * @param {Order} order @param {number} at @param {boolean} figures @returns {Order} */
function next(order, at, figures) {
  const [one, two] = /** @type {("ascending" | "descending")[]} */ (figures ? ["descending", "ascending"] : ["ascending", "descending"]);
  if (order?.at !== at) return { at, way: one ?? "ascending" };
  return order.way === one ? { at, way: two ?? "descending" } : null;
}

/** @param {{name: string, figure: boolean, way: "ascending" | "descending" | null, sort: (() => void) | null}} props */
function Head({ name, figure, way, sort }) {
  return html`<th scope="col" class=${figure ? "figure" : ""} aria-sort=${way ?? undefined}>
    ${sort
      ? html`<button type="button" class="data-sort" onClick=${sort} title=${t("data.sort_by", { column: name })}>
          <span>${name}</span><${Icon} name=${way === "ascending" ? "chevron-up" : way ? "chevron-down" : "sort"} size=${14} class=${way ? "" : "faint"} /></button>`
      : name}
  </th>`;
}

/** @param {{value: Value, look: import("./looks.js").Look}} props */
function Cell({ value, look }) {
  const [open, setOpen] = useState(false);
  const figure = look.number;
  if (value === null) return html`<td class=${figure ? "figure" : ""}><span class="null">${t("data.null")}</span></td>`;
  const text = shown(value, look);
  if (text.length <= LONG) return html`<td class=${figure ? "figure" : ""} title=${look.grouped && String(value) !== text ? String(value) : undefined}>${text}</td>`;
  return html`<td><span class="data-long">${open ? text : `${text.slice(0, LONG)}…`}</span>${" "}<button type="button" class="link data-more"
    aria-expanded=${open ? "true" : "false"} onClick=${() => setOpen(!open)}>${t(open ? "data.show_less" : "data.show_whole")}</button></td>`;
}

/** @param {{first: number, shown: number, all: number, go: (from: number) => void}} props */
function Pages({ first, shown, all, go }) {
  return html`<div class="data-pages">
    <button type="button" class="button small" disabled=${first === 0} onClick=${() => go(first - A_PAGE)}>${t("data.previous")}</button>
    <span role="status">${t("data.page_of", { from: first + 1, to: first + shown, n: all })}</span>
    <button type="button" class="button small" disabled=${first + shown >= all} onClick=${() => go(first + A_PAGE)}>${t("data.next")}</button>
  </div>`;
}
