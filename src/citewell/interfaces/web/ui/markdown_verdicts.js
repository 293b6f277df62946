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
 * @param {(sentence: Sentence) => string} words what the check found
 * @param {(sentence: Sentence) => string} note what kind of sentence it is, where that is worth telling
 */
export function markVerdicts(fragment, sentences, words, note) {
  if (!sentences.length) return;
  const places = placesOf(fragment);
  const whole = places.map((place) => place.node.data[place.at]).join("");
  let from = 0;
  /** @type {{sentence: Sentence, first: number, last: number}[]} */
  const found = [];
  for (const sentence of sentences) {
    const plain = keptSigns(sentence.text);
    const first = plain ? whole.indexOf(plain, from) : -1;
    if (first < 0) continue;
    from = first + plain.length;
    found.push({ sentence, first, last: from - 1 });
  }
  for (const { sentence, first, last } of found.reverse()) {
    const [from, to] = spanOf(sentence, first); // from the end, so that earlier places stay where they are
    const parts = to > from ? [[first, from - 1], [from, to - 1], [to, last]] : [[first, last]];
    const marks = parts.reverse().map(([a = 0, b = 0], n) => (b < a ? null : underline(places, a, b, sentence, to > from && n === 1)));
    const end = marks.find((mark) => mark !== null);
    if (end) tell(end, sentence, words(sentence), note(sentence));
  }
}

/** What of a text is compared. @param {string} text */
function keptSigns(text) {
  return [...units(text)].filter((sign) => !DROPPED.test(sign)).join("");
}

/** Where the answering words of a sentence stand among the places; nowhere: two equal numbers. @param {Sentence} sentence @param {number} first */
function spanOf(sentence, first) {
  const [start = 0, end = 0] = sentence.span ?? [];
  const letters = Array.from(sentence.text);
  const whole = start <= 0 && end >= letters.length;
  const at = (/** @type {number} */ n) => first + keptSigns(letters.slice(0, n).join("")).length;
  return whole || end <= start ? [first, first] : [at(start), at(end)];
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
 * The last piece that was marked. `answering`: these are the words that answer.
 * @param {Place[]} places
 * @param {number} first
 * @param {number} last
 * @param {Sentence} sentence
 * @param {boolean} answering
 * @returns {HTMLElement | null}
 */
function underline(places, first, last, sentence, answering) {
  const spans = new Map(/** @type {[Text, [number, number]][]} */ ([]));
  for (const { node, at } of places.slice(first, last + 1)) {
    const span = spans.get(node);
    spans.set(node, [span ? span[0] : at, at + 1]);
  }
  let end = null;
  for (const [node, [start, stop]] of [...spans].reverse()) {
    node.splitText(stop);
    const piece = node.splitText(start);
    const mark = document.createElement(answering ? "mark" : "span");
    mark.className = `verdict verdict-${sentence.kind === "not_told" ? "neutral" : sentence.verdict}${answering ? " answering" : ""}`;
    if (sentence.problems.length) mark.title = sentence.problems.join("; ");
    piece.replaceWith(mark);
    mark.append(piece);
    end ??= mark;
  }
  return end;
}

/** Its citations, and the empty texts that splitting left. @param {ChildNode} node */
function isPassed(node) {
  return node instanceof Element ? node.matches("[data-cite]") : node.textContent === "";
}

/** Behind a sentence: what kind it is, to be seen; what the check found, to be heard. @param {HTMLElement} end @param {Sentence} sentence @param {string} words @param {string} note */
function tell(end, sentence, words, note) {
  if (note) {
    const shown = document.createElement("small");
    shown.className = `sentence-note sentence-${sentence.kind}`;
    shown.textContent = note;
    let last = /** @type {ChildNode} */ (end);
    while (last.nextSibling && isPassed(last.nextSibling)) last = last.nextSibling;
    last.after(" ", shown);
  }
  if (sentence.verdict === "supported") return;
  const said = document.createElement("span");
  said.className = "unseen";
  said.textContent = ` (${[words, ...sentence.problems].join("; ")}) `;
  end.append(said);
}
