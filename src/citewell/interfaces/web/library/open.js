/** Documents and passages in the source panel. */
import { openDocument, openSource } from "../source/state.js";

/** @param {{doc_id: string, title: string, uri: string}} doc */
export function openWhole({ doc_id, title, uri }) {
  openDocument({ doc_id, title, uri });
}

/**
 * A passage where it stands in its document. `score` is of another scale than a citation's.
 * @param {{n: number, doc_id: string, title: string, uri: string, page: number | null, section: string, text: string, start: number,
 *   end: number}} passage
 */
export function openPassage({ n, doc_id, title, uri, page, section, text, start, end }) {
  const origin = /^https?:\/\//i.test(uri) ? /** @type {const} */ ("web") : /** @type {const} */ ("document");
  const status = /** @type {const} */ ("verified");
  openSource({ n, origin, doc_id, title, uri, page, section, quote: text, start, end, boxes: [], score: 0, status, fetched_at: null });
}
