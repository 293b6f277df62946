/** Where a citation stands, in words. The one rule: title, page and section, and nothing twice. */
import { t } from "../i18n.js";

/** @typedef {import("./types.js").Citation} Citation */

/** @param {Pick<Citation, "title" | "uri" | "section" | "page">} citation */
export function placed(citation) {
  const title = citation.title || citation.uri;
  const parts = citation.section.split(" › ").filter((part) => part && part !== title);
  const page = citation.page == null ? "" : t("ask.page", { n: citation.page });
  return [title, page, parts.at(-1) ?? ""].filter(Boolean).join(" · ");
}

/** Where an address of the web may be opened; empty for what is none. @param {Citation} citation */
export function webAddress(citation) {
  return /^https?:\/\//i.test(citation.uri) ? citation.uri : "";
}
