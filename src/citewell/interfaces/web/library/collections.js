/** All collections, and how a new one is made. The one rule: from nothing to the first document is one step. */
import { post } from "../api.js";
import { isShelf } from "../ask/attachments.js";
import { t } from "../i18n.js";
import { go, link, me } from "../state.js";
import { DropAnywhere } from "../ui/drop.js";
import { ago, figure } from "../ui/figures.js";
import { html, useState } from "../ui/html.js";
import { Badge, Button, Check, Field, FormDialog, toast } from "../ui/index.js";
import { AddButtons, Into } from "./adding.js";
import { CutFields, cutOf, saidOf } from "./cut_fields.js";
import { NoDocuments } from "./documents.js";
import { ended, works } from "./jobs.js";
import { chunkingWords, keepsConfirmed, keptName } from "./kinds.js";
import { Searching } from "./searching.js";
import { Works } from "./works.js";

/** @typedef {import("./chunking.js").Collection} Info */
/** @typedef {import("./files.js").Found} Found */

const FIRST = "default"; // the collection of the settings, where nothing else is said

/** @param {{infos: Info[], mayEdit: boolean}} props */
export function Collections({ infos, mayEdit }) {
  const [making, setMaking] = useState(false);
  const [found, setFound] = useState(/** @type {Found[] | null} */ (null));
  const coming = works.value.some((work) => !ended(work));
  const [kept, shelves] = [infos.filter((info) => keptName(info.name)), infos.filter((info) => isShelf(info.name))];
  const made = infos.filter((info) => !kept.includes(info) && !shelves.includes(info));
  const names = infos.map((info) => info.name).filter((name) => !keepsConfirmed(name));
  const dropped = (/** @type {Found[]} */ files) => (files.length ? setFound(files) : toast(t("library.nothing_dropped"), "problem"));
  const into = (/** @type {string | null} */ name) => {
    setFound(null);
    if (name) go(link("library", name).slice(1));
  };
  const fresh = mayEdit && html`<${Button} icon="plus" onClick=${() => setMaking(true)}>${t("library.new_collection")}<//>`;
  return html`<header class="lib-head">
      <div class="lib-head-row"><h1>${t("library.title")}</h1>${infos.length > 0 && fresh}</div>
      <p class="muted">${t("library.intro")}</p>
    </header>
    <${DropAnywhere} label=${t("library.drop_here")} disabled=${!mayEdit} onFiles=${dropped} />
    <${Works} />
    ${infos.length > 0 && html`<${Searching} collections=${infos.map((info) => info.name)} />
      <h2 class="unseen">${t("library.collections")}</h2>
      <ul class="lib-collections">${made.map((info) => html`<${Card} key=${info.name} info=${info} />`)}</ul>`}
    ${!made.length && !coming && html`<${NoDocuments} action=${mayEdit && html`<${AddButtons} collection=${FIRST} />${fresh}`} />`}
    ${kept.length > 0 && html`<h2 class="lib-kept">${t("library.kept_here")}</h2>
      <ul class="lib-collections">${kept.map((info) => html`<${Card} key=${info.name} info=${info} />`)}</ul>`}
    ${shelves.length > 0 && html`<details class="lib-shelves"><summary>${t("library.shelves", { n: shelves.length })}</summary>
      <ul class="lib-collections">${shelves.map((info) => html`<${Card} key=${info.name} info=${info} />`)}</ul></details>`}
    ${making && html`<${NewCollection} close=${() => setMaking(false)} />`}
    ${found && html`<${Into} found=${found} names=${names} close=${into} />`}`;
}

/** @param {{info: Info}} props */
function Card({ info }) {
  return html`<li><a class="card lib-card" href=${link("library", info.name)}>
    <strong>${keptName(info.name) || info.name}</strong>
    <span>${t("library.documents_n", { n: figure(info.documents) })}${" · "}${t("library.passages_n", { n: figure(info.chunks) })}</span>
    <span class="muted">${Object.keys(info.chunking).length > 0 && `${chunkingWords(info.chunking)} · `}${t("library.made_at", { when: ago(info.created_at) })}</span>
    ${info.owner && html`<${Badge}>${t("library.private")}<//>`}
    ${info.embedded < info.chunks && html`<${Badge} kind="info">${t("library.waiting_n", { n: info.chunks - info.embedded })}<//>`}
  </a></li>`;
}

/** @param {{close: () => void}} props */
function NewCollection({ close }) {
  const [name, setName] = useState("");
  const [cut, setCut] = useState(cutOf());
  const [own, setOwn] = useState(false);
  const create = async () => {
    const made = await post("/collections", { name: name.trim(), chunking: saidOf(cut), ...(own ? { private: true } : {}) });
    toast(t("library.created", { name: made.name }), "good");
    go(link("library", made.name).slice(1));
  };
  return html`<${FormDialog} title=${t("library.new_collection")} send=${create} close=${close} action=${t("library.create")}>
      <${Field} label=${t("library.name")} hint=${t("library.name_hint")} required maxlength="100" autofocus value=${name}
        onInput=${(/** @type {any} */ event) => setName(event.currentTarget.value)} />
      <${CutFields} cut=${cut} change=${setCut} />
      ${me.value?.auth === "token" && html`<${Check} label=${t("library.private_box")} hint=${t("library.private_hint")} checked=${own} onChange=${setOwn} />`}
  <//>`;
}
