/** The documents of a collection: what each is, its priority, open, how it is cut, delete. The one rule: what is deleted is named. */
import { del, get, patch } from "../api.js";
import { agent, choose, chooseAgent } from "../ask/choices.js";
import { FROM_DOCUMENTS } from "../ask/option_table.js";
import { t } from "../i18n.js";
import { said } from "../said.js";
import { go } from "../state.js";
import { ago, bytes, day, figure, time } from "../ui/figures.js";
import { html, useEffect, useMemo, useRef, useState } from "../ui/html.js";
import { ask, Badge, Button, Empty, Field, Icon, IconButton, toast } from "../ui/index.js";
import { fileName, langName, typeName } from "./kinds.js";
import { openWhole } from "./open.js";
import { Overview, useOverviews } from "./overviews.js";

/**
 * @typedef {{doc_id: string, collection: string, uri: string, title: string, media_type: string, lang: string, version: number,
 *   pages: number, chunks: number, embedded: number, bytes: number, added_at: number, warnings: string[], dated: number | null,
 *   priority: number, gone_since?: number | null}} Doc
 * @typedef {{documents: Doc[], total: number}} Page
 * @typedef {{key: keyof Doc, up: boolean}} Order
 * @typedef {{key: keyof Doc, label: string, figure?: boolean}} Column
 */

const A_PAGE = 100; // rows laid out at once
export const A_LOAD = 500; // documents of one request
const PAUSE = 250; // milliseconds of no key before the server is asked

/** @type {Column[]} */
const COLUMNS = [
  { key: "title", label: "document" },
  { key: "media_type", label: "type" },
  { key: "lang", label: "lang" },
  { key: "bytes", label: "size", figure: true },
  { key: "chunks", label: "passages", figure: true },
  { key: "added_at", label: "added" },
  { key: "priority", label: "priority" },
];

/**
 * `first`: those added last; `mayEdit`: who looks may change and delete.
 * @param {{first: Page, collection: string, mayEdit: boolean, reload: () => void, preview: (doc: Doc) => void}} props
 */
export function Documents({ first, collection, mayEdit, reload, preview }) {
  const [text, setText] = useState("");
  const [order, setOrder] = useState(/** @type {Order} */ ({ key: "added_at", up: false }));
  const [most, setMost] = useState(A_PAGE);
  const overviews = useOverviews(collection);
  const [chosen, setChosen] = useState(/** @type {Set<string>} */ (new Set()));
  const large = first.total > first.documents.length;
  const { documents: docs, total, more } = usePages(first, collection, text, order);
  const found = useMemo(() => (large ? docs : inOrder(docs, text, order)), [docs, text, order]);
  const shown = found.slice(0, most);
  const left = (large ? total : found.length) - shown.length;
  const picked = docs.filter((doc) => chosen.has(doc.doc_id));
  const pick = (/** @type {string[]} */ ids, /** @type {boolean} */ yes) => {
    const next = new Set(chosen);
    for (const id of ids) yes ? next.add(id) : next.delete(id);
    setChosen(next);
  };
  const remove = async (/** @type {Doc[]} */ those) => {
    if (await removed(those, collection)) {
      setChosen(new Set());
      reload();
    }
  };
  return html`<div class="lib-documents">
    <div class="lib-bar">
      ${first.total > 8 && html`<${Field} label=${t("library.filter")} hidden type="search" placeholder=${t("library.filter")} value=${text}
        onInput=${(/** @type {any} */ event) => setText(event.currentTarget.value)} />`}
      ${picked.length > 0 && html`<${Button} kind="primary" icon="ask" onClick=${() => askAbout(collection, picked)}>
        ${t("library.ask_selected", { n: picked.length })}<//>`}
      ${mayEdit && picked.length > 0 && html`<${Button} kind="danger" icon="trash" onClick=${() => remove(picked)}>
        ${t("library.delete_selected", { n: picked.length })}<//>`}
    </div>
    ${!found.length && html`<p class="muted">${t("library.none_match", { text })}</p>`}
    ${found.length > 0 && html`<div class="table-box lib-table" tabindex="0" role="region" aria-label=${t("library.tab_documents")}>
      <table>
        <thead><tr>
          <th scope="col" class="lib-pick"><input type="checkbox" aria-label=${t("library.select_all")}
            checked=${shown.every((doc) => chosen.has(doc.doc_id))}
            onChange=${(/** @type {any} */ event) => pick(shown.map((doc) => doc.doc_id), event.currentTarget.checked)} /></th>
          ${COLUMNS.map((column) => html`<${Head} key=${column.key} column=${column} order=${order} setOrder=${setOrder} />`)}
          <th scope="col"><span class="unseen">${t("library.actions")}</span></th>
        </tr></thead>
        <tbody>${shown.map((doc) => html`<${Row} key=${doc.doc_id} doc=${doc} overview=${overviews[doc.doc_id]} mayEdit=${mayEdit} chosen=${chosen.has(doc.doc_id)}
          choose=${pick} remove=${remove} preview=${preview} reload=${reload} />`)}</tbody>
      </table>
    </div>`}
    ${left > 0 && html`<${Button} onClick=${() => (large && most + A_PAGE > docs.length && more(), setMost(most + A_PAGE))}>
      ${t("library.more_n", { n: Math.min(A_PAGE, left) })}<//>`}
  </div>`;
}

/**
 * Those of a collection that is too large to be sent whole, as the server finds and orders them; of any other all at once.
 * @param {Page} first @param {string} collection @param {string} text @param {Order} order
 */
function usePages(first, collection, text, order) {
  const [page, setPage] = useState(first);
  const whole = first.total <= first.documents.length;
  const asked = useRef(0);
  const load = async (/** @type {Doc[]} */ before) => {
    const mine = ++asked.current;
    const wish = { limit: A_LOAD, offset: before.length, q: text.trim(), order: order.key, ascending: order.up };
    try {
      const next = await get(`/collections/${encodeURIComponent(collection)}/documents`, wish);
      if (mine === asked.current) setPage({ ...next, documents: [...before, ...next.documents] });
    } catch (error) {
      toast(error);
    }
  };
  useEffect(() => {
    if (whole || (!text.trim() && order.key === "added_at" && !order.up)) {
      asked.current++;
      setPage(first);
      return;
    }
    const timer = setTimeout(load, PAUSE, []);
    return () => clearTimeout(timer);
  }, [first, text, order]);
  return { ...page, more: () => void load(page.documents) };
}

/** @param {Doc[]} docs @param {string} text @param {Order} order */
function inOrder(docs, text, { key, up }) {
  const wanted = text.trim().toLowerCase();
  const found = docs.filter((doc) => !wanted || `${doc.title} ${fileName(doc.uri)}`.toLowerCase().includes(wanted));
  const names = new Intl.Collator(document.documentElement.lang, { numeric: true, sensitivity: "base" });
  return found.sort((a, b) => {
    const [left, right] = [a[key], b[key]];
    const way = typeof left === "number" ? left - Number(right) : names.compare(String(left), String(right));
    return up ? way : -way;
  });
}

/** @param {{column: Column, order: Order, setOrder: (order: Order) => void}} props */
function Head({ column, order, setOrder }) {
  const now = order.key === column.key ? (order.up ? "ascending" : "descending") : undefined;
  const up = now ? !order.up : !column.figure && column.key !== "added_at" && column.key !== "priority";
  return html`<th scope="col" class=${column.figure ? "end" : ""} aria-sort=${now}>
    <button type="button" onClick=${() => setOrder({ key: column.key, up })}>${t(`library.${column.label}`)}<${Icon}
      name=${now === "ascending" ? "chevron-up" : now ? "chevron-down" : "sort"} size=${14} class=${now ? "" : "faint"} /></button>
  </th>`;
}

/**
 * @param {{doc: Doc, overview: import("./overviews.js").OverviewSentence[] | undefined, mayEdit: boolean, chosen: boolean, choose: (ids: string[], yes: boolean) => void,
 *   remove: (docs: Doc[]) => Promise<void>, preview: (doc: Doc) => void, reload: () => void}} props
 */
function Row({ doc, overview, mayEdit, chosen, choose, remove, preview, reload }) {
  const { doc_id: id, title } = doc;
  const file = fileName(doc.uri);
  return html`<tr class=${chosen ? "chosen" : ""}>
    <td class="lib-pick"><input type="checkbox" aria-label=${t("library.select", { title })} checked=${chosen}
      onChange=${(/** @type {any} */ event) => choose([id], event.currentTarget.checked)} /></td>
    <td class="lib-doc">
      <button type="button" class="link lib-title" onClick=${() => openWhole(doc)}>${title || file}</button>
      ${file !== title && html`<span class="lib-uri">${file}</span>`}
      ${overview && html`<${Overview} doc=${doc} sentences=${overview} />`}
      ${doc.gone_since != null && html`<span title=${t("library.gone_hint")}><${Badge} kind="warn">${t("library.gone_since", { day: day(doc.gone_since) })}<//></span>`}
      ${doc.warnings.length > 0 && html`<details class="lib-warnings"><summary><${Badge} kind="warn">
        ${t("library.warnings_n", { n: doc.warnings.length })}<//></summary><ul>${doc.warnings.map((text) => html`<li key=${text}>${said(text)}</li>`)}</ul></details>`}
    </td>
    <td>${typeName(doc.media_type)}</td>
    <td>${langName(doc.lang)}</td>
    <td class="end">${bytes(doc.bytes)}</td>
    <td class="end" data-label=${t("library.passages")}>${figure(doc.chunks)}${doc.embedded < doc.chunks && html`<span class="lib-waiting">
      ${t("library.waiting_n", { n: doc.chunks - doc.embedded })}</span>`}</td>
    <td><time dateTime=${new Date(doc.added_at * 1000).toISOString()} title=${time(doc.added_at)}>${ago(doc.added_at)}</time></td>
    <td data-label=${t("library.priority")}>${mayEdit ? html`<${Priority} doc=${doc} reload=${reload} />` : doc.priority}</td>
    <td class="lib-actions"><span>
      <${IconButton} name="eye" label=${t("library.preview_of", { title })} onClick=${() => preview(doc)} />
      ${mayEdit && html`<${IconButton} name="trash" label=${t("library.delete_of", { title })} onClick=${() => remove([doc])} />`}
    </span></td>
  </tr>`;
}

/** @param {{doc: Doc, reload: () => void}} props */
function Priority({ doc, reload }) {
  const set = async (/** @type {any} */ event) => {
    const priority = Number(event.currentTarget.value);
    try {
      await patch(`/documents/${doc.doc_id}`, { priority });
      toast(t("library.priority_set", { title: doc.title, n: priority }), "good");
    } catch (error) {
      toast(error);
    }
    reload();
  };
  return html`<select class="lib-priority" aria-label=${t("library.priority_of", { title: doc.title })} title=${t("library.priority_hint")}
    value=${String(doc.priority)} onChange=${set}>
    ${Array.from({ length: 11 }, (_, n) => html`<option key=${n} value=${String(n)} selected=${n === doc.priority}>${n}</option>`)}
  </select>`;
}

/** To the place to ask, of these alone. @param {string} collection @param {Doc[]} docs */
function askAbout(collection, docs) {
  if (!FROM_DOCUMENTS.includes(agent.value)) chooseAgent("auto");
  choose({ collection, more: [], options: { doc_ids: docs.map((doc) => doc.doc_id) } });
  go("/ask");
}

/** Ask, then delete. Whether anything went. @param {Doc[]} docs @param {string} collection */
async function removed(docs, collection) {
  const one = docs.length === 1 ? docs[0] : null;
  const question = one
    ? { title: t("library.delete_document_ask"), text: t("library.delete_document_text", { title: one.title, collection }) }
    : { title: t("library.delete_selected_ask", { n: docs.length }), text: t("library.delete_selected_text", { collection }) };
  if (!(await ask({ ...question, action: t("library.delete"), danger: true }))) return false;
  try {
    for (const doc of docs) await del(`/documents/${doc.doc_id}`);
    toast(t("library.deleted", { name: one ? one.title : t("library.documents_n", { n: docs.length }) }), "good");
  } catch (error) {
    toast(error);
  }
  return true;
}

/** A collection that holds nothing. @param {{action: any}} props */
export function NoDocuments({ action }) {
  const text = html`${t("library.empty_text")}<br />${t("library.empty_first")}`;
  return html`<${Empty} icon="library" title=${t("library.empty_title")} text=${text} action=${action} />`;
}
