/** What the documents of a collection are about, in their own sentences; more come while the server looks through them. */
import { get } from "../api.js";
import { link } from "../state.js";
import { html, useEffect, useState } from "../ui/html.js";
import { changes } from "./jobs.js";
import { openPassage } from "./open.js";

/** @typedef {{text: string, start: number, end: number}} OverviewSentence */
/** @typedef {{doc_id: string, title: string, uri: string}} Doc */

const LOOK = 5_000; // milliseconds until more may have been found

/** By document. @param {string} collection @returns {Record<string, OverviewSentence[]>} */
export function useOverviews(collection) {
  const [found, setFound] = useState(/** @type {Record<string, OverviewSentence[]>} */ ({}));
  useEffect(() => {
    let timer = 0;
    let mine = true;
    const look = async () => {
      const told = await get(`/collections/${encodeURIComponent(collection)}/questions`, { limit: 1 }).catch(() => null);
      if (!mine || !told) return;
      setFound(told.overviews);
      if (told.waiting) timer = setTimeout(look, LOOK);
    };
    void look();
    return () => {
      mine = false;
      clearTimeout(timer);
    };
  }, [collection, changes.value]);
  return found;
}

/** Each sentence leads to where it stands. @param {{doc: Doc, sentences: OverviewSentence[]}} props */
export function Overview({ doc, sentences }) {
  const show = (/** @type {Event} */ event, /** @type {OverviewSentence} */ { text, start, end }) => {
    event.preventDefault();
    openPassage({ n: 0, ...doc, page: null, section: "", text, start, end });
  };
  return html`<p class="lib-about" title=${sentences.map((each) => each.text).join("\n")}>${sentences.map((each) => html`<a key=${each.start}
    href=${`${link("source", doc.doc_id)}?start=${each.start}&end=${each.end}`} onClick=${(/** @type {Event} */ event) => show(event, each)}>${each.text}</a>${" "}`)}</p>`;
}
