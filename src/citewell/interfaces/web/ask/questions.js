/** Questions that the documents of a collection were found to answer. */
import { get } from "../api.js";
import { t } from "../i18n.js";
import { changes } from "../library/jobs.js";
import { html, useEffect, useState } from "../ui/html.js";

/** @typedef {import("./types.js").Citation} Citation */
/** @typedef {{question: string, doc_id: string, title: string, lang: string}} Suggestion */

const NEXT = 3; // offered after an answer
const MOST_SHOWN = 30; // quotes that are told
const LOOK = 3_000; // milliseconds until more may have been found

/**
 * None where there are none yet, or while they are looked up. `near`: those nearest to this one; `cited`: what its answer quotes, which
 * answers none of them; those of the first one's document come before others.
 * @param {string} collection
 * @param {{limit: number, near: string, cited: Citation[]}} how @returns {Suggestion[]}
 */
function useQuestions(collection, { limit, near, cited }) {
  const [found, setFound] = useState(/** @type {Suggestion[]} */ ([]));
  useEffect(() => {
    let mine = true;
    setFound([]);
    const shown = cited.filter((each) => each.doc_id).slice(0, MOST_SHOWN).map(({ doc_id, start, end }) => `${doc_id}:${start}-${end}`);
    if (collection) {
      get(`/collections/${encodeURIComponent(collection)}/questions`, { limit, near, doc_id: cited[0]?.doc_id ?? "", shown }).then(
        ({ questions }) => mine && setFound(questions),
        () => undefined,
      );
    }
    return () => {
      mine = false;
    };
  }, [collection, limit, near, cited]);
  return found;
}

/**
 * Questions to begin with, in the page's language where its documents answer some; `waiting`: more may come. Asked for again until
 * there are enough, of as many documents.
 * @param {string} collection empty: nothing is asked
 * @param {{lang: string, limit: number}} how @returns {{questions: Suggestion[], waiting: boolean}}
 */
export function useStarters(collection, { lang, limit }) {
  const [found, setFound] = useState({ questions: /** @type {Suggestion[]} */ ([]), waiting: false });
  useEffect(() => {
    /** @type {number | undefined} */
    let timer;
    let mine = true;
    const look = async () => {
      const told = await get(`/collections/${encodeURIComponent(collection)}/questions`, { lang, limit }).catch(() => null);
      if (!mine || !told) return;
      const own = told.questions.filter((/** @type {Suggestion} */ each) => each.lang === lang);
      const waiting = told.waiting > 0;
      setFound((before) => ({ questions: spread(before.questions, own.length || waiting ? own : told.questions), waiting }));
      if (waiting && new Set(own.map((/** @type {Suggestion} */ each) => each.doc_id)).size < limit) timer = setTimeout(look, LOOK);
    };
    setFound({ questions: [], waiting: false });
    if (collection) void look();
    return () => {
      mine = false;
      clearTimeout(timer);
    };
  }, [collection, lang, limit, changes.value]);
  return found;
}

/** The first one of a document that is shown stays in its place, those of other documents come before its second. @param {Suggestion[]} shown @param {Suggestion[]} found */
function spread(shown, found) {
  const isFirst = (/** @type {Suggestion} */ each, /** @type {number} */ n, /** @type {Suggestion[]} */ all) => all.findIndex((other) => other.doc_id === each.doc_id) === n;
  const kept = shown.filter(isFirst).filter((each) => found.some((other) => other.doc_id === each.doc_id));
  const firsts = [...kept, ...found].filter(isFirst);
  return [...firsts, ...found.filter((each) => !firsts.some((other) => other.question === each.question))].slice(0, found.length);
}

/** What can be asked next. @param {{collection: string, asked: string[], cited: Citation[], onAsk: (question: string) => void}} props */
export function NextQuestions({ collection, asked, cited, onAsk }) {
  const near = asked.at(-1) ?? "";
  const before = new Set(asked.map((each) => each.trim().toLocaleLowerCase()));
  const found = useQuestions(collection, { limit: NEXT + asked.length, near, cited });
  const fresh = found.filter((each) => !before.has(each.question.toLocaleLowerCase())).slice(0, NEXT);
  if (!fresh.length) return null;
  return html`<section class="next" aria-label=${t("ask.next")}>
    <h3 class="sources-head">${t("ask.next")}</h3>
    <ul>${fresh.map(({ question }) => html`<li key=${question}><button type="button" class="next-ask" onClick=${() => onAsk(question)}>${question}</button></li>`)}</ul>
  </section>`;
}
