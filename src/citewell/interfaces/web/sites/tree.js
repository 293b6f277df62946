/**
 * The pages that a run visited as a tree, and where each stands in its drawing.
 * The one rule: a page hangs under the page whose link was followed; one of which that is not known hangs under the first page.
 */

/** @typedef {import("../ask/types.js").Visit & {source?: string, doc_id?: string}} Visit */
/** @typedef {{visit: Visit, n: number, depth: number, row: number, parent: Place | null}} Place */

/** @param {readonly Visit[]} visits @returns {Place[]} in the order of the tree, each after its parent */
export function treeOf(visits) {
  /** @type {Map<string, number>} */
  const known = new Map();
  visits.forEach((visit, n) => known.has(bare(visit.url)) || known.set(bare(visit.url), n));
  /** @type {Map<number, number[]>} */
  const below = new Map();
  /** @type {number[]} */
  const roots = [];
  visits.forEach((visit, n) => {
    const found = visit.iteration > 0 ? (known.get(bare(visit.source ?? "")) ?? 0) : -1;
    if (found < 0 || found === n || found > n) roots.push(n);
    else below.set(found, [...(below.get(found) ?? []), n]);
  });
  /** @type {Place[]} */
  const places = [];
  let row = 0;
  const put = (/** @type {number} */ n, /** @type {Place | null} */ parent, /** @type {number} */ depth) => {
    const visit = visits[n];
    if (!visit) return;
    const place = { visit, n, depth, row: 0, parent };
    places.push(place);
    const children = below.get(n) ?? [];
    const first = row;
    for (const child of children) put(child, place, depth + 1);
    place.row = children.length ? (first + row - 1) / 2 : row++;
  };
  for (const root of roots) put(root, null, 0);
  return places;
}

/** @param {string} url */
function bare(url) {
  return url.replace(/#.*$/, "").replace(/\/$/, "");
}

/** A title cut to a width, a Chinese character counting two. @param {string} text @param {number} most */
export function cutTo(text, most) {
  let width = 0;
  let kept = "";
  for (const letter of text) {
    width += (letter.codePointAt(0) ?? 0) > 0x2e7f ? 2 : 1;
    if (width > most) return `${kept.trimEnd()}…`;
    kept += letter;
  }
  return kept;
}

/** Host and path of an address, for reading. @param {string} url */
export function shortAddress(url) {
  try {
    const { host, pathname, search } = new URL(url);
    return host + readable(pathname === "/" ? "" : pathname) + readable(search);
  } catch {
    return url;
  }
}

/** @param {string} text */
function readable(text) {
  try {
    return decodeURI(text);
  } catch {
    return text;
  }
}
