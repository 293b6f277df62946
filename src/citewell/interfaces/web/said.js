/**
 * What the server says, in the page's language. It sends each of its texts in every language that it has (api.js asks for that), so
 * that the page may change its own at any time. The one rule: to whoever does not ask here, such a text is its English.
 */

import { lang } from "./state.js";

/** A text of the server: a String of its English. @typedef {String & {texts: Record<string, string>}} Said */

/** For JSON.parse: `{"texts": {"en": "...", "zh": "..."}}` becomes such a text. @param {string} _ @param {any} value */
export function revived(_, value) {
  const texts = value?.texts;
  const whole = typeof texts?.en === "string" && Object.keys(value).length === 1;
  return whole ? Object.assign(new String(texts.en), { texts }) : value;
}

/** A text in the page's language; what has none stays as it is. A component that calls this is drawn again when the language changes.
 * @param {string | Said | null | undefined} text @returns {string} */
export function said(text) {
  return /** @type {any} */ (text)?.texts?.[lang.value] ?? String(text ?? "");
}

/** The same of every text in lists and objects. @param {any} value @returns {any} */
export function saidWithin(value) {
  if (value instanceof String) return said(/** @type {any} */ (value));
  if (Array.isArray(value)) return value.map(saidWithin);
  if (!value || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, saidWithin(each)]));
}

/** What went wrong and what to do, as one text. @param {any} error an Error, or the shape in which the server tells one */
export function saidOf(error) {
  const stop = lang.value === "zh" ? "。" : ". ";
  return [error?.text ?? error?.message, error?.hint].map(said).filter(Boolean).join(stop);
}
