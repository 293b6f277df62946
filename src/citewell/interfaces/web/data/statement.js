/**
 * A SQL statement broken into lines where it does not matter, for reading. The one rule: only blanks outside of texts, names and
 * remarks change; what is copied is the statement as it ran.
 */

const CLAUSES =
  /^(with|select|from|where|group\s+by|having|order\s+by|limit|offset|union(\s+all)?|intersect|except|(left|right|full|inner|cross)(\s+outer)?\s+join|join|window|qualify)\b/i;
// a text, a quoted name, a remark, a word, or any other sign
const PIECES = /'(?:[^']|'')*'|"(?:[^"]|"")*"|`[^`]*`|--[^\n]*(?:\n|$)|\/\*[\s\S]*?\*\/|\s+|[\w$]+|[\s\S]/g;
const SHORT = 60;

/**
 * @param {string} sql
 * @returns {string}
 */
export function inLines(sql) {
  const text = sql.trim();
  if (text.includes("\n") || text.length <= SHORT) return text;
  let out = "";
  let depth = 0;
  for (const piece of text.matchAll(PIECES)) {
    const [word, at] = [piece[0], piece.index];
    const starts = depth === 0 && /^\w/.test(word) && /(^|[\s)"'`])$/.test(text.slice(0, at)) && CLAUSES.test(text.slice(at));
    const joined = /\b(left|right|full|inner|cross|outer|union)\s+$/i.test(text.slice(0, at));
    if (starts && !joined && out) out = `${out.trimEnd()}\n`;
    if (word === "(") depth++;
    if (word === ")") depth--;
    out += word;
  }
  return out;
}
