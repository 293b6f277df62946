/** One collection: its documents, a search in it, how it is cut. The one rule: what is deleted is counted before it is asked for. */
import { del, get } from "../api.js";
import { useSubject } from "../frame/subject.js";
import { t } from "../i18n.js";
import { go, link } from "../state.js";
import { DropAnywhere } from "../ui/drop.js";
import { figure } from "../ui/figures.js";
import { html, useEffect, useState } from "../ui/html.js";
import { ask, Badge, Busy, Button, Icon, Problem, Tabs, toast } from "../ui/index.js";
import { AddButtons, take } from "./adding.js";
import { Checking } from "./checking.js";
import { ChunkingTab } from "./chunking.js";
import { A_LOAD, Documents, NoDocuments } from "./documents.js";
import { changes, ended, works } from "./jobs.js";
import { chunkingWords, keepsConfirmed, keptName } from "./kinds.js";
import { OnASite } from "./on_a_site.js";
import { PreviewDialog } from "./preview.js";
import { Searching } from "./searching.js";
import { WatchTab } from "./watching.js";
import { Works } from "./works.js";

/** @typedef {import("./documents.js").Doc} Doc */
/** @typedef {import("./documents.js").Page} Page */
/** @typedef {import("./chunking.js").Collection} Info */

/** @param {{name: string, mayEdit: boolean}} props */
export function Collection({ name, mayEdit: may }) {
  const [info, setInfo] = useState(/** @type {Info | null} */ (null));
  const [docs, setDocs] = useState(/** @type {Page} */ ({ documents: [], total: 0 }));
  const [error, setError] = useState(/** @type {any} */ (null));
  const [tab, setTab] = useState("documents");
  const [shown, setShown] = useState(/** @type {Doc | null} */ (null));
  const mayEdit = may && !keepsConfirmed(name);
  useSubject(keptName(name) || name);
  const moved = changes.value;
  const coming = works.value.some((work) => work.collection === name);
  const load = async () => {
    try {
      const path = `/collections/${encodeURIComponent(name)}`;
      const [one, page] = await Promise.all([get(path), get(`${path}/documents`, { limit: A_LOAD })]);
      setInfo(one);
      setDocs(page);
      setError(null);
    } catch (problem) {
      setError(problem);
    }
  };
  useEffect(() => void load(), [name, moved]);
  useEffect(() => setTab("documents"), [name]);
  const missing = error?.status === 404;
  const drop = html`<${DropAnywhere} label=${t("library.drop_into", { name })} disabled=${!mayEdit}
    onFiles=${(/** @type {any} */ found) => take(name, found)} />`;
  if (error && !(missing && coming)) return html`${drop}<${Head} name=${name} /><${Problem} error=${error} retry=${load} />`;
  if (!info && !missing) return html`${drop}<${Head} name=${name} /><${Busy} label=${t("library.loading")} />`;
  const counts = { documents: docs.total };
  const tabs = ["documents", "watch", "search", "check", "chunking"].map((id) => ({ id, label: t(`library.tab_${id}`), count: counts[/** @type {"documents"} */ (id)] }));
  return html`<${Head} name=${name} info=${info} mayEdit=${mayEdit} />
    ${drop}
    <${Works} collection=${name} />
    ${info && html`<${Tabs} tabs=${tabs} value=${tab} onChange=${setTab} label=${name}>
      ${tab === "documents" && (docs.total
        ? html`<${Documents} first=${docs} collection=${name} mayEdit=${mayEdit} reload=${load} preview=${setShown} />`
        : !works.value.some((work) => work.collection === name && !ended(work)) && html`<${NoDocuments} />`)}
      ${tab === "watch" && html`<${WatchTab} collection=${name} mayEdit=${mayEdit} />`}
      ${tab === "search" && html`<${Searching} collections=${[name]} only=${name} />`}
      ${tab === "check" && html`<${Checking} collection=${name} />`}
      ${tab === "chunking" && html`<${ChunkingTab} key=${JSON.stringify(info.chunking)} collection=${info} mayEdit=${mayEdit} reload=${load} />`}
    <//>`}
    ${shown && html`<${PreviewDialog} subject=${shown} close=${() => setShown(null)} />`}`;
}

/** @param {{name: string, info?: Info | null, mayEdit?: boolean}} props */
function Head({ name, info = null, mayEdit = false }) {
  const [placing, setPlacing] = useState(false);
  return html`<header class="lib-head">
    <a class="lib-back" href=${link("library")}><${Icon} name="arrow-left" size=${16} />${" "}${t("library.back")}</a>
    <div class="lib-head-row">
      <h1>${keptName(name) || name}</h1>
      ${info && mayEdit && html`<div class="lib-head-does">
        <${Button} kind="quiet" icon="ask" onClick=${() => setPlacing(true)}>${t("library.on_a_site")}<//>
        <${Button} kind="quiet" icon="trash" onClick=${() => remove(info)}>${t("library.delete_collection")}<//></div>`}
    </div>
    ${placing && html`<${OnASite} name=${name} close=${() => setPlacing(false)} />`}
    ${info && html`<p class="muted lib-facts">
      <span>${t("library.documents_n", { n: figure(info.documents) })}</span>
      <span>${t("library.passages_n", { n: figure(info.chunks) })}</span>
      ${info.embedded < info.chunks && html`<${Badge} kind="info">${t("library.waiting_n", { n: info.chunks - info.embedded })}<//>`}
      <span>${chunkingWords(info.chunking)}</span>
      ${info.owner && html`<${Badge}>${t("library.private")}<//>`}</p>`}
    ${keepsConfirmed(name) && html`<p class="muted">${t("library.confirmed_note")}</p>`}
    ${info && mayEdit && html`<${AddButtons} collection=${name} />`}
  </header>`;
}

/** @param {Info} info */
async function remove({ name, documents: n }) {
  const question = {
    title: t("library.delete_collection_ask", { name }),
    text: n ? t("library.delete_collection_text", { n }) : t("library.delete_empty_text"),
    action: n ? t("library.delete_documents_n", { n }) : t("library.delete"),
    danger: true,
  };
  if (!(await ask(question))) return;
  try {
    await del(`/collections/${encodeURIComponent(name)}`);
    toast(t("library.deleted", { name }), "good");
    go("/library");
  } catch (error) {
    toast(error);
  }
}
