/** What to do about a page that could not be read. */
import { t } from "../i18n.js";

/** Problems that one can do something about, by the code of the error. @type {Record<string, string>} */
const PROBLEMS = {
  bad_url: "do_address",
  no_site: "do_address",
  bad_domain: "do_domain",
  robots_refused: "do_robots",
  address_refused: "do_private",
  unknown_host: "do_host",
  no_connection: "do_network",
  page_missing: "do_missing",
  page_refused: "do_login",
  site_busy: "do_later",
  paused: "do_later",
  timeout: "do_slow",
  too_large: "do_large",
};

/** What one can do about a problem; empty where nothing is known. @param {string | undefined} code */
export function advice(code) {
  const known = PROBLEMS[code ?? ""];
  return known ? t(`sites.${known}`) : "";
}
