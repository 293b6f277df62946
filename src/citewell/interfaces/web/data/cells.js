/**
 * What a cell of a table is as text, how rows are sorted, and rows as a CSV file.
 *
 * The one rule: nothing that is downloaded is taken for a formula. A text that begins with = + - @ (or a tab or a line's end) gets
 * a leading apostrophe, as OWASP advises; what is a plain negative figure stays one.
 */

/** @typedef {string | number | boolean | null} Value */
/** @typedef {"number" | "text"} Kind */

const FIGURE = /^-?\d+(\.\d+)?$/;
const PLAIN_NAME = /(^|[_\s.-])(id|no|nr|number|code|zip|phone|year|yr)$|^(id|year)|[iI]d$|编号|序号|代码|号$|年份|年度|^年$/i;
const [FIRST_YEAR, LAST_YEAR] = [1000, 2999];

/**
 * Numbers where all that is there are figures; decimals that do not fit a double come as text.
 * @param {Value[][]} rows
 * @param {number} at
 * @returns {Kind}
 */
export function kindOf(rows, at) {
  let figures = 0;
  for (const row of rows) {
    const value = row[at];
    if (value === null || value === undefined) continue;
    if (typeof value === "number" || (typeof value === "string" && FIGURE.test(value) && !/^-?0\d/.test(value))) figures++;
    else return "text";
  }
  return figures > 0 ? "number" : "text";
}

/**
 * Whether figures of a column are grouped by thousands: not years, ids and other names made of digits.
 * @param {string} name
 * @param {Value[][]} rows
 * @param {number} at
 */
export function isGrouped(name, rows, at) {
  if (PLAIN_NAME.test(name.trim())) return false;
  const years = rows.every((row) => {
    const value = Number(row[at] ?? FIRST_YEAR);
    return Number.isInteger(value) && value >= FIRST_YEAR && value <= LAST_YEAR;
  });
  return !(years && /year|年|date|month|月/i.test(name));
}

/**
 * @param {Value} value
 * @param {boolean} grouped
 */
export function cellText(value, grouped = false) {
  if (value === null || value === undefined) return "";
  if (!grouped || typeof value === "boolean") return String(value);
  const text = String(value);
  if (!FIGURE.test(text)) return text;
  const [whole = "", part] = text.split(".");
  const spaced = whole.replace(/\B(?=(\d{3})+(?!\d))/g, ",");
  return part === undefined ? spaced : `${spaced}.${part}`;
}

/**
 * A copy of the rows in the order of a column; what is missing comes last, whichever way.
 * @param {Value[][]} rows
 * @param {number} at
 * @param {"ascending" | "descending"} way
 * @returns {Value[][]}
 */
export function sorted(rows, at, way) {
  const number = kindOf(rows, at) === "number";
  const names = new Intl.Collator(document.documentElement.lang, { numeric: true, sensitivity: "base" });
  const sign = way === "ascending" ? 1 : -1;
  return [...rows].sort((a, b) => {
    const [left, right] = [a[at], b[at]];
    if (left === null || left === undefined) return right === null || right === undefined ? 0 : 1;
    if (right === null || right === undefined) return -1;
    return sign * (number ? Number(left) - Number(right) : names.compare(String(left), String(right)));
  });
}

/**
 * @param {Value} value
 * @returns {string}
 */
function field(value) {
  if (value === null || value === undefined) return "";
  let text = String(value);
  if (typeof value === "string" && /^[=+\-@\t\r\n＝＋－＠]/.test(text) && !FIGURE.test(text)) text = `'${text}`;
  return /[",\n\r;\t]|^\s|\s$|^$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/**
 * Rows as CSV (RFC 4180), with a byte order mark so that spreadsheet programs read it as UTF-8. NULL is an empty cell, an empty
 * text is "".
 * @param {string[]} columns
 * @param {Value[][]} rows
 */
export function csv(columns, rows) {
  return `\ufeff${[columns, ...rows].map((row) => row.map(field).join(",")).join("\r\n")}\r\n`;
}

/**
 * @param {string} name
 * @param {string | Blob} text
 * @param {string} [type]
 */
export function download(name, text, type = "text/csv;charset=utf-8") {
  downloadBlob(name, new Blob([text], { type }));
}

/**
 * @param {string} name
 * @param {Blob} blob
 */
export function downloadBlob(name, blob) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
