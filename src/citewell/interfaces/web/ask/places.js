/** What is asked: boxes to tick over collections, their documents, kept sites and tables. The one rule: a document that is ticked is asked alone. */
import { get } from "../api.js";
import { t } from "../i18n.js";
import { changes } from "../library/jobs.js";
import { keptName } from "../library/kinds.js";
import { me, online, user } from "../state.js";
import { figure } from "../ui/figures.js";
import { html, signal, useEffect, useState } from "../ui/html.js";
import { Problem } from "../ui/index.js";
import { Popover } from "../ui/popover.js";
import { isShelf } from "./attachments.js";
import { agent, ALL, choice, choose, collectionsAsked, setUsual, tickAll, tickCollection, tickDocument, tickSource, usual } from "./choices.js";
import { FROM_DOCUMENTS } from "./option_table.js";

/** @typedef {{name: string, documents: number}} Collection */

const SHOWN = 50; // documents of a collection; the others are found by their names

export const collections = signal(/** @type {Collection[] | null} */ (null));
/** Names of tables. */
export const sources = signal(/** @type {string[]} */ ([]));
const sites = signal(/** @type {string[]} */ ([]));

/** What there is, looked at again as it changes. */
export function usePlaces() {
  useEffect(() => {
    if (!online.value) return; // what is here stays, and is looked at again when the server is back
    get("/collections").then((found) => {
      // without what people confirmed and what conversations brought, which belong to no question's own documents
      collections.value = found.collections.filter((/** @type {Collection} */ each) => each.name !== "confirmed_qa" && !isShelf(each.name));
      setUsual(collections.value ?? [], me.value?.collection ?? "");
    }, () => setUsual(null, ""));
    get("/data/sources").then((found) => (sources.value = found.sources.map((/** @type {{name: string}} */ each) => each.name)), () => undefined);
  }, [me.value?.user_id, user.value, online.value, changes.value]);
}

/** Which collections are kept sites, asked when somebody looks: the first load is spared it. */
function LookAtSites() {
  useEffect(() => {
    get("/sites").then((found) => (sites.value = found.sites.map((/** @type {{collection: string}} */ each) => each.collection)), () => undefined);
  }, [changes.value]);
  return null;
}

/** @param {Collection} collection */
function nameOf({ name, documents }) {
  return t("ask.collection_of", { name: keptName(name) || name, n: figure(documents) });
}

export function Places() {
  const name = agent.value;
  const filled = (collections.value ?? []).filter((each) => each.documents > 0);
  const [kept, own] = [filled.filter((each) => sites.value.includes(each.name)), filled.filter((each) => !sites.value.includes(each.name))];
  const documents = FROM_DOCUMENTS.includes(name);
  const tables = name === "data" || name === "auto" ? sources.value : [];
  if (name === "data" && !tables.length) return html`<a class="composer-none" href="#/data">${t("ask.no_tables")}</a>`;
  if (documents ? filled.length + tables.length < 1 : name === "website" && !kept.length) return documents ? null : html`<${LookAtSites} />`;
  const { collection, options } = choice();
  const narrow = Boolean(options["doc_ids"] || options["source"]);
  const all = documents && collection === ALL && !narrow;
  const asked = narrow ? [] : collectionsAsked();
  const words = wordsOf(name, filled);
  return html`<${Popover} id="ask-places" icon=${name === "data" ? "table" : name === "website" ? "site" : "library"} label=${t("ask.places_of", { words })} words=${words} title=${t("ask.places")}>${() => html`<${LookAtSites} />
    ${documents && filled.length > 0 && html`<fieldset class="places"><legend>${t("frame.library")}</legend>
      ${filled.length > 1 && html`<${Tick} checked=${all} onChange=${tickAll}>${t("ask.all_collections", { n: filled.length })}<//>`}
      ${own.map((each) => html`<${OneCollection} key=${each.name} collection=${each} checked=${asked.includes(each.name)} alone=${asked.length === 1} />`)}</fieldset>`}
    ${name !== "data" && kept.length > 0 && html`<fieldset class="places"><legend>${t("frame.sites")}</legend>
      ${kept.map((each) => html`<${Tick} key=${each.name} checked=${documents ? asked.includes(each.name) : collection === each.name}
        onChange=${(/** @type {boolean} */ yes) => (documents ? tickCollection(each.name, yes) : choose({ collection: yes ? each.name : "", options: {} }))}>${nameOf(each)}<//>`)}</fieldset>`}
    ${tables.length > 0 && html`<fieldset class="places"><legend>${t("ask.agent_data")}</legend>
      ${tables.map((each) => html`<${Tick} key=${each} checked=${options["source"] === each} onChange=${(/** @type {boolean} */ yes) => tickSource(each, yes)}>${each}<//>`)}</fieldset>`}
  `}<//>`;
}

/** What is asked, in few words. @param {string} name @param {Collection[]} filled */
function wordsOf(name, filled) {
  const { collection, options } = choice();
  if (options["source"] && !["qa", "dual_loop"].includes(name)) return options["source"];
  if (name === "data") return t("ask.any_tables");
  if (name === "website") return collection || t("ask.any_site");
  if (options["doc_ids"]) return t("ask.documents_n", { n: options["doc_ids"].length });
  if (collection === ALL) return t("ask.all_collections", { n: filled.length });
  const asked = collectionsAsked();
  const one = filled.find((each) => each.name === asked[0]);
  return asked.length > 1 ? t("ask.collections_n", { n: asked.length }) : one ? nameOf(one) : asked[0] || usual.value || t("ask.any_collection");
}

/** @param {{checked: boolean, disabled?: boolean, onChange: (yes: boolean) => void, children?: any}} props */
function Tick({ checked, disabled = false, onChange, children }) {
  return html`<label><input type="checkbox" checked=${checked} disabled=${disabled} onChange=${(/** @type {any} */ event) => onChange(event.currentTarget.checked)} /> ${children}</label>`;
}

/** @param {{collection: Collection, checked: boolean, alone: boolean}} props */
function OneCollection({ collection, checked, alone }) {
  const [open, setOpen] = useState(Boolean(choice().options["doc_ids"]) && collectionsAsked().includes(collection.name));
  return html`<div class="place">
    <${Tick} checked=${checked} disabled=${checked && alone} onChange=${(/** @type {boolean} */ yes) => tickCollection(collection.name, yes)}>${nameOf(collection)}<//>
    <button type="button" class="link" aria-expanded=${open ? "true" : "false"} aria-label=${t("ask.documents_of", { name: keptName(collection.name) || collection.name })}
      onClick=${() => setOpen(!open)}>${t("ask.documents")}</button>
    ${open && html`<${Documents} collection=${collection} />`}
  </div>`;
}

/** @param {{collection: Collection}} props */
function Documents({ collection: { name, documents: count } }) {
  const [found, setFound] = useState(/** @type {{doc_id: string, title: string}[]} */ ([]));
  const [error, setError] = useState(/** @type {unknown} */ (null));
  const [words, setWords] = useState("");
  useEffect(() => {
    let mine = true;
    get(`/collections/${encodeURIComponent(name)}/documents`, { limit: SHOWN, q: words, order: "title", ascending: true }).then(({ documents }) => mine && setFound(documents), setError);
    return () => {
      mine = false;
    };
  }, [name, words]);
  const ids = choice().options["doc_ids"] ?? [];
  return html`<div class="place-documents">
    ${count > SHOWN && html`<input type="search" aria-label=${t("ask.find_documents")} placeholder=${t("ask.find_documents")} value=${words} onInput=${(/** @type {any} */ event) => setWords(event.currentTarget.value.trim())} />`}
    ${error && html`<${Problem} error=${error} />`}
    ${found.map((each) => html`<${Tick} key=${each.doc_id} checked=${ids.includes(each.doc_id)} onChange=${(/** @type {boolean} */ yes) => tickDocument(name, each.doc_id, yes)}>${each.title}<//>`)}
  </div>`;
}
