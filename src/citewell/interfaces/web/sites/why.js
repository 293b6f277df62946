/** Why a page was read, and what to do about one that was not, in the page's language. The one rule: unknown words stay as they are. */
import { t } from "../i18n.js";
import { lang } from "../state.js";

/** What the server says of a link, and the key of its words here. */
const REASONS = /** @type {const} */ ([
  ["a start page", "why_start"],
  ["it answered such a question before, but was read some time ago", "why_stale_answer"],
  ["read some time ago, so looked at again", "why_stale"],
  ["it is close in meaning", "why_meaning"],
  ["it answered such a question before", "why_answered"],
  ["its branch has paid", "why_branch"],
  ["it is there to help", "why_help"],
  ["nothing better is left", "why_left"],
]);

/** Problems that one can do something about, by what the server says of them. */
const PROBLEMS = /** @type {const} */ ([
  [/robots\.txt/i, "do_robots"],
  [/not on the public internet|allow_private_hosts/i, "do_private"],
  [/no such host/i, "do_host"],
  [/could not be looked up|no connection|connect/i, "do_network"],
  [/status (404|410)|no such page/i, "do_missing"],
  [/status (401|403)/i, "do_login"],
  [/status (429|5\d\d)|left alone/i, "do_later"],
  [/not there within|too slow|timed out/i, "do_slow"],
  [/larger than|too large/i, "do_large"],
]);

/** @param {string} why */
export function inWords(why) {
  if (lang.value === "en" || !why) return why;
  const [, said = why, where = ""] = /^(.*?)(?: \((.*)\))?$/s.exec(why) ?? [];
  const parts = said.split("; ").map(reason);
  return parts.join("；") + (where ? `（${placed(where)}）` : "");
}

/** @param {string} said */
function reason(said) {
  const known = REASONS.find(([text]) => text === said);
  if (known) return t(`sites.${known[1]}`);
  return said.startsWith("it names ") ? t("sites.why_names", { words: said.slice("it names ".length) }) : said;
}

/** @param {string} where */
function placed(where) {
  return where.replace("the sitemap", t("sites.the_sitemap")).replace(/” on /, "”，");
}

/** What one can do about a problem; empty where nothing is known. @param {string} problem */
export function advice(problem) {
  const known = PROBLEMS.find(([pattern]) => pattern.test(problem));
  return known ? t(`sites.${known[1]}`) : "";
}
