/** The rows that a table's citation quotes, read back from its words. The one rule: rows that do not read back stay as words. */

/** @typedef {{columns: string[], rows: string[][]}} Rows */

/**
 * `column: value; column: value`, a row a line. With the names of the columns a value may hold anything; without, a value
 * with `; name: ` in it is not understood.
 * @param {string} quote
 * @param {readonly string[]} [columns]
 * @returns {Rows | null}
 */
export function rowsOf(quote, columns = []) {
  const lines = quote.split("\n").filter((line) => line.trim());
  const names = columns.length ? columns : namesOf(lines[0] ?? "");
  if (!names.length || !lines.length) return null;
  const rows = lines.map((line) => valuesOf(line, names));
  return rows.every((row) => row !== null) ? { columns: [...names], rows } : null;
}

/** @param {string} line */
function namesOf(line) {
  return line.split("; ").map((cell) => (cell.includes(": ") ? cell.slice(0, cell.indexOf(": ")) : ""));
}

/** @param {string} line @param {readonly string[]} names @returns {string[] | null} */
function valuesOf(line, names) {
  const values = [];
  let at = 0;
  for (const [i, name] of names.entries()) {
    const head = `${i ? "; " : ""}${name}: `;
    const found = i ? line.indexOf(head, at) : line.startsWith(head) ? 0 : -1;
    if (!name || found < 0) return null;
    if (i) values.push(line.slice(at, found));
    at = found + head.length;
  }
  values.push(line.slice(at));
  return values;
}
