/** Which memories fit what is searched for, and when one is forgotten, in words. */

import { ago } from "../ui/figures.js";
import { t } from "../i18n.js";

/**
 * @typedef {object} Memory
 * @property {string} memory_id
 * @property {"fact" | "question"} kind
 * @property {string} subject
 * @property {string} text
 * @property {string} collection
 * @property {string} trace_id
 * @property {string[]} doc_ids
 * @property {string[]} derived_from
 * @property {string | null} replaced_by
 * @property {number} seen
 * @property {number} created_at
 * @property {number} updated_at
 * @property {number} expires_at
 */

/** Every word that is searched for stands somewhere in it. @param {Memory} memory @param {string} search */
export function fits({ subject, text, collection }, search) {
  const words = [subject, text, collection].join(" ").toLowerCase();
  return search.toLowerCase().split(/\s+/).every((word) => words.includes(word));
}

/** @param {Memory} memory */
export function expiry({ expires_at }) {
  return expires_at * 1000 <= Date.now() ? t("memory.expired") : t("memory.expires", { when: ago(expires_at) });
}

/** @param {Memory} memory */
export function confirmations({ kind, seen }) {
  return seen > 1 ? t("memory.seen", { n: seen }) : t(kind === "fact" ? "memory.seen.one" : "memory.settled.one");
}
