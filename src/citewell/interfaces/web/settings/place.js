/** What a page of another site may ask with its token: a collection, or a site that is kept. The one rule: only what is shared is offered. */
import { get } from "../api.js";
import { t } from "../i18n.js";
import { keptName } from "../library/kinds.js";
import { html, useEffect, useState } from "../ui/html.js";
import { Busy, Problem, Select } from "../ui/index.js";

/** @typedef {{value: string, label: string}} Choice */

/** As tokens keep it. @param {string} bound @returns {{kind: "collection" | "site", name: string}} */
export function placeOf(bound) {
  const at = bound.indexOf(":");
  return { kind: bound.slice(0, at) === "site" ? "site" : "collection", name: bound.slice(at + 1) };
}

/** `value`: as tokens keep it, empty until something is chosen. @param {{value: string, onChange: (value: string) => void}} props */
export function Place({ value, onChange }) {
  const [choices, setChoices] = useState(/** @type {Choice[] | null} */ (null));
  const [error, setError] = useState(/** @type {unknown} */ (null));
  const load = () => {
    setError(null);
    found().then(setChoices, setError);
  };
  useEffect(load, []);
  if (error) return html`<${Problem} error=${error} retry=${load} />`;
  if (!choices) return html`<${Busy} />`;
  if (!choices.length) return html`<p class="hint" role="status">${t("settings.place_none")}</p>`;
  return html`<${Select} label=${t("settings.place")} hint=${t("settings.place_hint")} value=${value} required onChange=${onChange}
    options=${[{ value: "", label: t("settings.place_choose") }, ...choices]} />`;
}

/** Sites are collections too: such a one is offered both ways, for its pages as they are, and to read more of them. @returns {Promise<Choice[]>} */
async function found() {
  const [kept, made] = await Promise.all([get("/sites"), get("/collections")]);
  const sites = kept.sites.map((/** @type {any} */ each) => `site:${each.collection}`);
  const shared = made.collections.filter((/** @type {any} */ each) => !each.owner && !keptName(each.name));
  const collections = shared.map((/** @type {any} */ each) => `collection:${each.name}`);
  return [...collections, ...sites].map((value) => ({ value, label: t(`settings.place_${placeOf(value).kind}`, { name: placeOf(value).name }) }));
}
