/** What the panel asks the server for. The one rule: the last few documents are kept, so that going through citations is quick. */
import { ApiError, address, get } from "../api.js";
import { t } from "../i18n.js";

/**
 * @typedef {object} Info what `/api/documents/{id}` tells
 * @property {string} doc_id
 * @property {string} collection
 * @property {string} uri
 * @property {string} title
 * @property {string} media_type
 * @property {string} lang
 * @property {string} sha256
 * @property {number} pages
 * @property {number} bytes
 */
/** @typedef {{heading_path: string[], start: number, end: number}} Section */
/** @typedef {{doc_id: string, title: string, lang: string, text: string, sections: Section[], pages: {number: number, start: number, end: number}[]}} Content */

const KEPT = 3; // documents

/** @type {Map<string, Promise<any>>} */
const cache = new Map();

/** Raises ApiError 404 for a document that is gone. @param {string} id @returns {Promise<Info>} */
export function infoOf(id) {
  return get(`/documents/${encodeURIComponent(id)}`);
}

/** Its text, with sections and pages. @param {Info} info @returns {Promise<Content>} */
export function contentOf(info) {
  return once(`text ${info.doc_id} ${info.sha256}`, () => get(`/documents/${encodeURIComponent(info.doc_id)}/content`));
}

/** The bytes as they were added. @param {Info} info @returns {Promise<ArrayBuffer>} */
export function bytesOf(info) {
  return once(`file ${info.doc_id} ${info.sha256}`, async () => {
    const response = await fetch(fileAddress(info.doc_id)).catch(() => null);
    if (!response) throw new ApiError(0, { code: "offline", message: t("frame.offline"), hint: "" });
    if (response.ok) return response.arrayBuffer();
    const told = await response.json().catch(() => ({}));
    throw new ApiError(response.status, told?.error ?? {});
  });
}

/** @param {string} id */
export function fileAddress(id) {
  return address(`/documents/${encodeURIComponent(id)}/file`);
}

/**
 * A picture of a page, the lines of a span marked.
 * @param {string} id @param {number} page @param {{start: number, end: number}} span @param {number} width pixels
 */
export function pageAddress(id, page, { start, end }, width) {
  const span = end > start ? { start, end } : {};
  return address(`/documents/${encodeURIComponent(id)}/pages/${page}.png`, { ...span, width });
}

/** @template T @param {string} key @param {() => Promise<T>} make @returns {Promise<T>} */
function once(key, make) {
  const known = cache.get(key);
  cache.delete(key);
  const made = known ?? make();
  cache.set(key, made);
  made.catch(() => cache.delete(key));
  for (const old of cache.keys()) {
    if (cache.size <= 2 * KEPT) break;
    cache.delete(old);
  }
  return made;
}
