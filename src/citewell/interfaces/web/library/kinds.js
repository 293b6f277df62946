/** Names of things for people: kinds of documents, languages, ways of cutting. The one rule: what has no name is shown as it is. */
import { known, t } from "../i18n.js";

/** @type {Record<string, string>} */
const TYPES = {
  "application/pdf": "PDF",
  "text/html": "HTML",
  "application/xhtml+xml": "HTML",
  "text/markdown": "Markdown",
  "text/plain": "Text",
  "application/vnd.openxmlformats-officedocument.wordprocessingml.document": "Word",
  "application/vnd.openxmlformats-officedocument.presentationml.presentation": "PowerPoint",
  "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": "Excel",
  "application/vnd.ms-excel": "Excel",
  "application/epub+zip": "EPUB",
  "message/rfc822": "Mail",
  "text/csv": "CSV",
  "text/tab-separated-values": "TSV",
  "application/json": "JSON",
  "application/jsonl": "JSON lines",
  "application/rtf": "RTF",
};

/** Types a search may be narrowed to, as the API names them. */
export const SEARCHED_TYPES = ["pdf", "word", "slides", "table", "html", "md", "txt", "epub", "eml", "image"];
export const CHUNKERS = ["structure", "sentences", "fixed", "semantic"];
export const STRATEGIES = ["direct_chunk_search", "hierarchical_search", "words_only", "vectors_only", "rrf"];

/** Collections of confirmed answers: nobody adds or deletes there. @param {string} name */
export const keepsConfirmed = (name) => /^confirmed_qa(-[0-9a-f]{16})?$/.test(name);

/** What a collection that Citewell keeps of its own accord is called; empty for one that somebody made. @param {string} name */
export function keptName(name) {
  if (keepsConfirmed(name)) return t("library.kept_confirmed");
  return /^papers-[0-9a-f]{16}$/.test(name) ? t("library.kept_papers") : "";
}

/** @param {string} media @returns {string} */
export function typeName(media) {
  const name = TYPES[media];
  if (name) return name === "Text" ? t("library.type_txt") : name === "Mail" ? t("library.type_eml") : name;
  if (media.startsWith("image/")) return t("library.type_image");
  return media.replace(/^[^/]*\/(x-|vnd\.)?/, "");
}

/** @param {string} code */
export function langName(code) {
  return known(`library.lang_${code}`) ? t(`library.lang_${code}`) : code;
}

/** A collection's own way, or that of the settings. @param {Record<string, any>} chunking */
export function chunkingWords(chunking) {
  const parts = [chunking["chunker"] ? t(`library.chunker_${chunking["chunker"]}`) : ""];
  if (chunking["tokens"]) parts.push(t("library.chunk_tokens", { n: chunking["tokens"] }));
  if (chunking["overlap"] !== undefined) parts.push(`${t("library.overlap")} ${chunking["overlap"]}`);
  return parts.filter(Boolean).join(" · ") || t("library.cut_default");
}

/** A path as it was sent, without what only the server needs. @param {string} uri */
export function fileName(uri) {
  return uri.replace(/^upload:/, "").replaceAll("!/", " › ");
}
