/**
 * What the check found of each sentence, as an underline in the shown text and in words for those who listen.
 * The one rule: sentences are found in the text as it is shown, so no mark can break the Markdown it stands in.
 */

/** @typedef {import("../ask/types.js").Sentence} Sentence */
/** @typedef {{node: Text, at: number}} Place  a character of the shown text */

const DROPPED = /[\s*_`~#>|[\]()\\$-]/; // what Markdown may take away, or lay out in another way
const UNREAD = "pre, math, code, [data-cite]";

/**
 * @param {DocumentFragment} fragment
 * @param {Sentence[]} sentences
 * @param {(sentence: Sentence) => string} words
 */
export function markVerdicts(fragment, sentences, words) {
  if (!sentences.length) return;
  const places = placesOf(fragment);
  const whole = places.map((place) => place.node.data[place.at]).join("");
  let from = 0;
  /** @type {{sentence: Sentence, first: number, last: number}[]} */
  const found = [];
  for (const sentence of sentences) {
    const plain = [...units(sentence.text)].filter((sign) => !DROPPED.test(sign)).join("");
    const first = plain ? whole.indexOf(plain, from) : -1;
    if (first < 0) continue;
    from = first + plain.length;
    found.push({ sentence, first, last: from - 1 });
  }
  for (const { sentence, first, last } of found.reverse()) {
    underline(places, first, last, sentence, words(sentence)); // from the end, so that earlier places stay where they are
  }
}

/** UTF-16 units, which is what offsets in nodes count. @param {string} text */
function* units(text) {
  for (let at = 0; at < text.length; at += 1) yield text[at] ?? "";
}

/** @param {DocumentFragment} fragment @returns {Place[]} */
function placesOf(fragment) {
  const walker = document.createTreeWalker(fragment, NodeFilter.SHOW_TEXT);
  const places = [];
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const text = /** @type {Text} */ (node);
    if (text.parentElement?.closest(UNREAD)) continue;
    for (let at = 0; at < text.data.length; at += 1) {
      if (!DROPPED.test(text.data[at] ?? "")) places.push({ node: text, at });
    }
  }
  return places;
}

/**
 * @param {Place[]} places
 * @param {number} first
 * @param {number} last
 * @param {Sentence} sentence
 * @param {string} words
 */
function underline(places, first, last, sentence, words) {
  const spans = new Map(/** @type {[Text, [number, number]][]} */ ([]));
  for (const { node, at } of places.slice(first, last + 1)) {
    const span = spans.get(node);
    spans.set(node, [span ? span[0] : at, at + 1]);
  }
  let end = null;
  for (const [node, [start, stop]] of [...spans].reverse()) {
    node.splitText(stop);
    const piece = node.splitText(start);
    const mark = document.createElement("span");
    mark.className = `verdict verdict-${sentence.verdict}`;
    if (sentence.problems.length) mark.title = sentence.problems.join("; ");
    piece.replaceWith(mark);
    mark.append(piece);
    end ??= mark;
  }
  if (!end || sentence.verdict === "supported") return;
  const said = document.createElement("span");
  said.className = "unseen";
  said.textContent = ` (${[words, ...sentence.problems].join("; ")}) `;
  end.append(said);
}
