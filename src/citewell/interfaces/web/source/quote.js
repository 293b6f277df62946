/**
 * Finding a quote in a text that is spaced or wrapped another way, and offsets of the server in JavaScript's terms.
 * The one rule: only letters and figures are compared; spaces, quotes, bullets and dashes are not.
 */

/** @typedef {[number, number]} Span from and to, in UTF-16 units */
/** @typedef {{said: string, at: Uint32Array}} Letters `at[i]`: where in the text the unit `said[i]` stands */

const WORD = /[\p{L}\p{N}]/u;
const END = 48; // letters of a quote's beginning and end that must be there, where the middle differs
const BESIDE = 80; // letters before and after that tell two equal places apart

/** The letters and figures of a text, in one case and width. @param {string} text @returns {Letters} */
export function letters(text) {
  /** @type {string[]} */
  const parts = [];
  let at = new Uint32Array(text.length + 64);
  let n = 0;
  for (let i = 0; i < text.length; i++) {
    const pair = isPair(text.charCodeAt(i));
    const folded = fold(pair ? text.slice(i, i + 2) : /** @type {string} */ (text[i]));
    if (n + folded.length > at.length) at = grown(at);
    at.fill(i, n, n + folded.length);
    n += folded.length;
    if (folded) parts.push(folded);
    if (pair) i += 1;
  }
  return { said: parts.join(""), at };
}

/** A letter as it is compared; empty for what is none. @param {string} letter */
function fold(letter) {
  const unit = letter.charCodeAt(0);
  if (unit >= 128) return WORD.test(letter) ? letter.normalize("NFKC").toLowerCase() : "";
  if ((unit >= 48 && unit <= 57) || (unit >= 97 && unit <= 122)) return letter;
  return unit >= 65 && unit <= 90 ? letter.toLowerCase() : "";
}

/** @param {number} unit */
function isPair(unit) {
  return unit >= 0xd800 && unit < 0xdc00;
}

/** @param {Uint32Array<ArrayBuffer>} full */
function grown(full) {
  const more = new Uint32Array(full.length * 2);
  more.set(full);
  return more;
}

/**
 * Where a quote stands in a text; null where it does not. Of several places the one whose surroundings are those of the quote.
 * @param {string} text
 * @param {string} quote
 * @param {{before?: string, after?: string}} [beside] what stands around the quote where it was taken
 * @returns {Span | null}
 */
export function findQuote(text, quote, { before = "", after = "" } = {}) {
  const wanted = letters(quote).said;
  if (!wanted) return null;
  const { said, at } = letters(text);
  const place = bestOf(said, wanted, letters(before).said.slice(-BESIDE), letters(after).said.slice(0, BESIDE));
  if (place) return [Number(at[place[0]]), endOf(text, Number(at[place[1] - 1]))];
  const ends = byEnds(said, wanted);
  return ends && [Number(at[ends[0]]), endOf(text, Number(at[ends[1] - 1]))];
}

/** @param {string} said @param {string} wanted @param {string} before @param {string} after @returns {Span | null} */
function bestOf(said, wanted, before, after) {
  let best = -1;
  let most = -1;
  for (let i = said.indexOf(wanted); i >= 0; i = said.indexOf(wanted, i + 1)) {
    const alike = common(said.slice(Math.max(0, i - BESIDE), i), before, true)
      + common(said.slice(i + wanted.length, i + wanted.length + BESIDE), after, false);
    if (alike > most) [best, most] = [i, alike];
    if (!before && !after) break;
  }
  return best < 0 ? null : [best, best + wanted.length];
}

/** How many letters two texts share, from the end backwards or from the start. @param {string} a @param {string} b @param {boolean} backwards */
function common(a, b, backwards) {
  const most = Math.min(a.length, b.length);
  let n = 0;
  while (n < most && (backwards ? a[a.length - 1 - n] === b[b.length - 1 - n] : a[n] === b[n])) n += 1;
  return n;
}

/** By its beginning and its end, with little more or less between them. @param {string} said @param {string} wanted @returns {Span | null} */
function byEnds(said, wanted) {
  if (wanted.length < 2 * END) return null;
  const first = said.indexOf(wanted.slice(0, END));
  if (first < 0) return null;
  const last = said.indexOf(wanted.slice(-END), first);
  const length = last + END - first;
  return last >= 0 && length < wanted.length * 1.5 ? [first, last + END] : null;
}

/** The end of the letter at `at`, and of the full stop and the closing quote behind it. @param {string} text @param {number} at */
function endOf(text, at) {
  let end = at + (isPair(text.charCodeAt(at)) ? 2 : 1);
  while (end < text.length && /[\p{M}.,;:!?%)\]}"'’”»。，；：！？）】》」』、…]/u.test(/** @type {string} */ (text[end]))) end += 1;
  return end;
}

/**
 * The server counts characters, JavaScript counts UTF-16 units: what turns the one into the other.
 * @param {string} text
 * @returns {(offset: number) => number}
 */
export function unitsOf(text) {
  const first = text.search(/[\ud800-\udbff]/);
  if (first < 0) return (offset) => Math.min(Math.max(0, offset), text.length);
  /** @type {number[]} */
  const pairs = []; // characters before each pair
  let characters = first;
  for (let i = first; i < text.length; i++, characters++) {
    if (!isPair(text.charCodeAt(i))) continue;
    pairs.push(characters);
    i += 1;
  }
  return (offset) => Math.min(Math.max(0, offset) + before(pairs, offset), text.length);
}

/** How many of the sorted numbers are below `limit`. @param {readonly number[]} sorted @param {number} limit */
export function before(sorted, limit) {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (Number(sorted[middle]) < limit) low = middle + 1;
    else high = middle;
  }
  return low;
}
