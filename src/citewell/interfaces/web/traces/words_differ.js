/** Which words of two texts differ. The one rule: long texts are compared from both ends only, so it is always quick. */

/** @typedef {{ text: string, differs: boolean }} Piece */

const MOST = 600; // words of each text that are compared one by one

/**
 * @param {string} before
 * @param {string} now
 * @returns {[Piece[], Piece[]]}
 */
export function pieces(before, now) {
  const [a, b] = [split(before), split(now)];
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start++;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end++;
  const [middleA, middleB] = [a.slice(start, a.length - end), b.slice(start, b.length - end)];
  const keep = middleA.length <= MOST && middleB.length <= MOST ? common(middleA, middleB) : { a: new Set(), b: new Set() };
  const whole = (/** @type {string[]} */ words, /** @type {Set<number>} */ same) =>
    joined(words.map((text, n) => ({ text, differs: n >= start && n < words.length - end && !same.has(n - start) })));
  return [whole(a, keep.a), whole(b, keep.b)];
}

/** Words with the space behind them; a Chinese character is a word. @param {string} text @returns {string[]} */
function split(text) {
  return text.match(/[\u3400-\u9fff\uf900-\ufaff]|[^\s\u3400-\u9fff\uf900-\ufaff]+\s*|\s+/g) ?? [];
}

/** The longest common row of words: where they stand in each. @param {string[]} a @param {string[]} b */
function common(a, b) {
  const wide = b.length + 1;
  const table = new Uint16Array((a.length + 1) * wide);
  const at = (/** @type {number} */ n) => table[n] ?? 0;
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      const same = a[i] === b[j];
      table[i * wide + j] = same ? at((i + 1) * wide + j + 1) + 1 : Math.max(at((i + 1) * wide + j), at(i * wide + j + 1));
    }
  }
  const found = { a: new Set(), b: new Set() };
  for (let i = 0, j = 0; i < a.length && j < b.length; ) {
    if (a[i] === b[j]) {
      found.a.add(i++);
      found.b.add(j++);
    } else if (at((i + 1) * wide + j) >= at(i * wide + j + 1)) i++;
    else j++;
  }
  return found;
}

/** Neighbours of one kind as one piece. @param {Piece[]} parts @returns {Piece[]} */
function joined(parts) {
  /** @type {Piece[]} */
  const found = [];
  for (const part of parts) {
    const last = found.at(-1);
    if (last && last.differs === part.differs) last.text += part.text;
    else found.push({ ...part });
  }
  return found;
}
