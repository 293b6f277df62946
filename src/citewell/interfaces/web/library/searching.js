/**
 * A search that shows passages with where they stand and why they were found. The one rule: what stands here is what an answer is
 * made of, in the same order.
 */
import { post } from "../api.js";
import { known, t } from "../i18n.js";
import { said } from "../said.js";
import { figure, percent } from "../ui/figures.js";
import { html, useRef, useState } from "../ui/html.js";
import { Badge, Busy, Button, Empty, Field, Problem, Select } from "../ui/index.js";
import { fileName, keptName, langName, SEARCHED_TYPES, STRATEGIES, typeName } from "./kinds.js";
import { openPassage } from "./open.js";

/**
 * @typedef {{n: number, doc_id: string, title: string, uri: string, collection: string, page: number | null, section: string,
 *   start: number, end: number, text: string, snippet: string, marks: [number, number][], score: number,
 *   signals: Record<string, number>, lang: string, media_type: string, dated: number, priority: number}} Passage
 * @typedef {{query: string, collections: string[], strategy: string, hits: Passage[], confidence: number, seconds: number,
 *   warnings: string[]}} Found
 * @typedef {{strategy: string, types: string, langs: string, since: string, until: string, least_priority: string, k: string,
 *   diversity: string, recency: string}} Narrow
 */

/** @type {Narrow} */
const NOTHING = { strategy: "", types: "", langs: "", since: "", until: "", least_priority: "", k: "10", diversity: "", recency: "" };

/** @param {Narrow} narrow */
function optionsOf(narrow) {
  const figureOf = (/** @type {string} */ text) => (text.trim() ? Number(text) : null);
  return {
    k: Math.min(100, Math.max(1, Number(narrow.k) || 10)),
    strategy: narrow.strategy || null,
    types: narrow.types ? [narrow.types] : [],
    langs: narrow.langs ? [narrow.langs] : [],
    since: narrow.since.trim() || null,
    until: narrow.until.trim() || null,
    least_priority: figureOf(narrow.least_priority),
    diversity: figureOf(narrow.diversity),
    recency: figureOf(narrow.recency),
  };
}

/** `collections`: those there are; `only`: the one that is searched, else there is a choice. @param {{collections: string[], only?: string}} props */
export function Searching({ collections, only }) {
  const [query, setQuery] = useState("");
  const [where, setWhere] = useState("");
  const [narrow, setNarrow] = useState(NOTHING);
  const [found, setFound] = useState(/** @type {Found | null} */ (null));
  const [error, setError] = useState(/** @type {unknown} */ (null));
  const [busy, setBusy] = useState(false);
  const line = useRef(/** @type {AbortController | null} */ (null));
  const search = async (/** @type {Event} */ event) => {
    event.preventDefault();
    if (!query.trim()) return;
    line.current?.abort();
    const mine = (line.current = new AbortController());
    setBusy(true);
    setError(null);
    const among = only ? [only] : where ? [where] : collections;
    try {
      setFound(await post("/search", { query, collections: among.slice(0, 100), ...optionsOf(narrow) }, { signal: mine.signal }));
    } catch (problem) {
      if (!mine.signal.aborted) setError(problem);
    }
    if (!mine.signal.aborted) setBusy(false);
  };
  const places = /** @type {[string, string][]} */ ([["", t("library.everywhere")], ...collections.map((name) => [name, keptName(name) || name])]);
  return html`<div class="lib-search">
    <form role="search" class="lib-search-bar" onSubmit=${search}>
      <${Field} label=${t(only ? "library.search_label" : "library.search_all")} hidden type="search" maxlength="2000" value=${query}
        placeholder=${t("library.search_placeholder")} onInput=${(/** @type {any} */ event) => setQuery(event.currentTarget.value)} />
      ${!only && collections.length > 1 && html`<${Select} label=${t("library.search_in")} hidden value=${where} options=${places} onChange=${setWhere} />`}
      <${Button} kind="primary" icon="search" type="submit" busy=${busy} disabled=${!collections.length}>${t("library.search")}<//>
      <${Filters} narrow=${narrow} change=${setNarrow} />
    </form>
    ${busy && html`<${Busy} label=${t("library.searching")} small />`}
    <${Problem} error=${error} />
    ${found && !error && html`<${Results} found=${found} many=${!only} />`}
  </div>`;
}

/** @param {{narrow: Narrow, change: (narrow: Narrow) => void}} props */
function Filters({ narrow, change }) {
  const set = (/** @type {keyof Narrow} */ name) => (/** @type {any} */ event) => change({ ...narrow, [name]: event.currentTarget.value });
  const pick = (/** @type {keyof Narrow} */ name) => (/** @type {string} */ value) => change({ ...narrow, [name]: value });
  const any = /** @type {[string, string]} */ (["", t("library.any")]);
  const used = Object.entries(narrow).filter(([name, value]) => value !== NOTHING[/** @type {keyof Narrow} */ (name)]).length;
  const strategies = [["", t("library.strategy_default")], ...STRATEGIES.map((name) => [name, t(`library.strategy_${name}`)])];
  const types = [any, ...SEARCHED_TYPES.map((name) => [name, t(`library.kinds_${name}`)])];
  const langs = [any, ["en", t("library.lang_en")], ["zh", t("library.lang_zh")]];
  return html`<details class="lib-filters">
    <summary>${t("library.filters")}${used > 0 && html`${" "}<${Badge} kind="info">${used}<//>`}</summary>
    <div class="lib-filter-grid">
      <${Select} label=${t("library.strategy")} value=${narrow.strategy} options=${strategies} onChange=${pick("strategy")} />
      <${Select} label=${t("library.types")} value=${narrow.types} options=${types} onChange=${pick("types")} />
      <${Select} label=${t("library.lang")} value=${narrow.langs} options=${langs} onChange=${pick("langs")} />
      <${Field} label=${t("library.since")} hint=${t("library.date_hint")} value=${narrow.since} onInput=${set("since")} />
      <${Field} label=${t("library.until")} hint=${t("library.date_hint")} value=${narrow.until} onInput=${set("until")} />
      <${Field} label=${t("library.least_priority")} type="number" min="0" max="10" value=${narrow.least_priority} onInput=${set("least_priority")} />
      <${Field} label=${t("library.how_many")} type="number" min="1" max="100" value=${narrow.k} onInput=${set("k")} />
      <${Field} label=${t("library.diversity")} hint="0 – 1" type="number" min="0" max="1" step="0.1" value=${narrow.diversity} onInput=${set("diversity")} />
      <${Field} label=${t("library.recency")} hint="0 – 5" type="number" min="0" max="5" step="0.1" value=${narrow.recency} onInput=${set("recency")} />
    </div>
  </details>`;
}

/** @param {{found: Found, many: boolean}} props */
function Results({ found, many }) {
  const { hits, seconds } = found;
  if (!hits.length) return html`<${Empty} icon="search" title=${t("library.nothing_found")} text=${t("library.nothing_text")} />`;
  const told = { n: hits.length, seconds: figure(seconds) };
  return html`<p class="lib-found" role="status"><strong>${t("library.found_n", told)}</strong>${" "}
      <span class="muted">${t("library.found_sure", { percent: percent(found.confidence) })}</span></p>
    ${found.warnings.map((text) => html`<p key=${text}><${Badge} kind="warn">${said(text)}<//></p>`)}
    <ol class="lib-hits">${hits.map((hit) => html`<${Hit} key=${`${hit.doc_id} ${hit.start}`} hit=${hit} many=${many} />`)}</ol>`;
}

/** @param {{hit: Passage, many: boolean}} props */
function Hit({ hit, many }) {
  const place = [many && hit.collection, hit.section !== hit.title && hit.section, hit.page !== null && t("library.page", { n: hit.page })];
  const kind = [typeName(hit.media_type), langName(hit.lang), hit.priority > 0 && `${t("library.priority")} ${hit.priority}`];
  const signals = Object.entries(hit.signals).filter(([, value]) => value !== 0);
  return html`<li class="lib-hit">
    <div class="lib-hit-head">
      <button type="button" class="link lib-title" title=${t("library.open_source")} onClick=${() => openPassage(hit)}>
        ${hit.n}. ${hit.title || fileName(hit.uri)}</button>
    </div>
    <p class="muted lib-place">${[...place, ...kind].filter(Boolean).join(" · ")}</p>
    <p class="lib-snippet">${marked(hit.snippet, hit.marks)}</p>
    <div class="lib-hit-foot">
      <details class="lib-whole"><summary>${t("library.signals")}</summary>
        <dl class="lib-signals"><div><dt>${t("library.score")}</dt><dd>${figure(hit.score)}</dd></div>${signals.map(([name, value]) => html`<div key=${name}>
          <dt>${known(`library.signal_${name}`) ? t(`library.signal_${name}`) : name}</dt><dd>${figure(value)}</dd></div>`)}</dl></details>
      ${hit.text.length > hit.snippet.length + 2 && html`<details class="lib-whole"><summary>${t("library.whole")}</summary><p>${hit.text}</p></details>`}
    </div>
  </li>`;
}

/** Marks count characters, not the halves that a JavaScript text is made of. @param {string} text @param {[number, number][]} marks */
export function marked(text, marks) {
  const letters = Array.from(text);
  const parts = [];
  let at = 0;
  for (const [start, end] of marks) {
    parts.push(letters.slice(at, start).join(""), html`<mark key=${start}>${letters.slice(start, end).join("")}</mark>`);
    at = end;
  }
  return [...parts, letters.slice(at).join("")];
}
