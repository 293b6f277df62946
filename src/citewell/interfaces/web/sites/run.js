/**
 * The exploration under way, and those before it on the same site. The one rule: it goes on while one looks at other parts of the
 * page, and a new site ends it.
 */
import { newRun } from "../ask/stream.js";
import { signal } from "../ui/html.js";
import { keep, kept } from "../state.js";

/** @typedef {import("../ask/types.js").Answer} Answer */
/** @typedef {import("./tree.js").Visit} Visit */
/** @typedef {{question: string, answer: Answer, visits: Visit[]}} Asked */
/**
 * @typedef {object} Wish what the form holds, as it was typed
 * @property {string} urls
 * @property {string} question
 * @property {string} domains
 * @property {string} instruction
 * @property {string} pages
 * @property {string} rounds
 * @property {string} seconds
 */

/** @type {Wish} */
const NOTHING = { urls: "", question: "", domains: "", instruction: "", pages: "", rounds: "", seconds: "" };

export const run = newRun();
export const wish = signal(remembered());
export const asked = signal(/** @type {Asked[]} */ ([]));
/** The question that is being answered, or was last. */
export const current = signal("");
/** The site that it is about, by the name under which its pages are kept. */
export const site = signal("");
/** Counts answers, so that the list of sites is looked at again. */
export const finished = signal(0);

/** @param {Partial<Wish>} change */
export function want(change) {
  wish.value = { ...wish.value, ...change };
  const { question: _, ...rest } = wish.value;
  keep("site_wish", JSON.stringify(rest));
}

/** @returns {Wish} */
function remembered() {
  try {
    return { ...NOTHING, ...JSON.parse(kept("site_wish") ?? "{}") };
  } catch {
    return NOTHING;
  }
}

/** Addresses one a line or with blanks between them; `https://` where none is said. @param {string} text */
export function addressesOf(text) {
  return text.split(/[\s,，]+/).filter(Boolean).map((each) => (/^[a-z][a-z0-9+.-]*:/i.test(each) && !/^[^/]*:\d/.test(each) ? each : `https://${each}`));
}

/** What a wish is as options of `POST /api/ask`. @param {Wish} said @param {boolean} more a question about a site that is open: it needs no addresses */
function optionsOf(said, more) {
  const domains = said.domains.split(/[\s,，]+/).filter(Boolean);
  const number = (/** @type {string} */ text) => (text.trim() && Number.isFinite(Number(text)) ? Number(text) : undefined);
  return {
    start_urls: more ? undefined : addressesOf(said.urls),
    allowed_domains: domains.length ? domains : undefined,
    instruction: said.instruction.trim() || undefined,
    max_pages: number(said.pages),
    max_iterations: number(said.rounds),
    max_seconds: number(said.seconds),
  };
}

/** Explore, from the addresses of the wish, or of a kept site. @param {{question: string, collection?: string}} what */
export async function explore({ question, collection }) {
  asked.value = [];
  site.value = collection ?? hostOf(addressesOf(wish.value.urls)[0] ?? "");
  await answered(question, { collection, options: optionsOf(wish.value, Boolean(collection)) });
}

/** @param {string} url */
function hostOf(url) {
  return URL.canParse(url) ? new URL(url).host : "";
}

/** Ask the site that was explored something else; what was read counts. @param {string} question */
export async function askMore(question) {
  const before = run.answer.value;
  if (!before) return;
  asked.value = [...asked.value, { question: current.value, answer: before, visits: run.pages.value }];
  await answered(question, { session_id: before.session_id, options: optionsOf(wish.value, true) });
}

/** @param {string} question @param {Partial<import("../ask/types.js").Request>} how */
async function answered(question, how) {
  current.value = question.trim();
  const answer = await run.ask({ question: current.value, agent: "website", ...how });
  if (answer) finished.value += 1;
}

/** Away with it, for another site. */
export function forget() {
  run.stop();
  run.answer.value = run.error.value = null;
  run.pages.value = [];
  run.stopped.value = false;
  asked.value = [];
  current.value = site.value = "";
}
