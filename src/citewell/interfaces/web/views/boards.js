/** Boards and saved questions: what there is, one board, one question. The one rule: each has an address of its own. */
import { get, post } from "../api.js";
import { BoardPage } from "../boards/board.js";
import { SavedPage } from "../boards/saved.js";
import { t } from "../i18n.js";
import { go, link, me } from "../state.js";
import { ago } from "../ui/figures.js";
import { html, useEffect, useState } from "../ui/html.js";
import { Badge, Busy, Button, Empty, Field, Problem, toast } from "../ui/index.js";

/** @typedef {import("../ask/types.js").Board} Board */
/** @typedef {import("../ask/types.js").Saved} Saved */

/** @param {{parts: string[], params: Record<string, string>}} props */
export default function Boards({ parts: [first, second] }) {
  return html`<div class="view boards-view">
    ${first === "saved" && second ? html`<${SavedPage} key=${second} id=${second} />` : first ? html`<${BoardPage} key=${first} id=${first} />` : html`<${All} />`}
  </div>`;
}

function All() {
  const [boards, setBoards] = useState(/** @type {Board[] | null} */ (null));
  const [saved, setSaved] = useState(/** @type {Saved[] | null} */ (null));
  const [error, setError] = useState(/** @type {unknown} */ (null));
  const [name, setName] = useState("");
  const load = () => {
    setError(null);
    get("/data/boards").then((found) => setBoards(found.boards), setError);
    get("/data/saved").then((found) => setSaved(found.saved), setError);
  };
  useEffect(load, []);
  const create = async (/** @type {Event} */ event) => {
    event.preventDefault();
    try {
      go(link("boards", (await post("/data/boards", { name: name.trim() })).board_id).slice(1));
    } catch (problem) {
      toast(problem);
    }
  };
  return html`<header class="data-head"><h1>${t("boards.title")}</h1><p class="muted">${t("boards.intro")}</p></header>
    <${Problem} error=${error} retry=${load} />
    ${!(boards && saved) && !error && html`<${Busy} label=${t("data.loading")} />`}
    ${boards && html`<form class="boards-new" onSubmit=${create}>
      <${Field} label=${t("boards.new_name")} hidden placeholder=${t("boards.new_name")} required maxlength="200" value=${name} onInput=${(/** @type {any} */ event) => setName(event.currentTarget.value)} />
      <${Button} kind=${boards.length ? "plain" : "primary"} icon="plus" type="submit" disabled=${!name.trim()}>${t("boards.create")}<//></form>
      ${boards.length > 0 && html`<ul class="data-sources">${boards.map((each) => html`<li key=${each.board_id}><a class="card data-card" href=${link("boards", each.board_id)}>
        <strong>${each.name}</strong><span>${t("boards.cards_n", { n: each.cards.length })}${each.shared ? html`${" · "}${whose(each)}` : ""}</span></a></li>`)}</ul>`}`}
    ${saved && html`<h2>${t("boards.saved")}</h2>
      ${saved.length
        ? html`<ul class="boards-saved">${saved.map((each) => html`<li key=${each.saved_id}>
            <a href=${link("boards", "saved", each.saved_id)}>${each.name}</a>
            <span class="muted">${each.source}${" · "}${ago(each.updated_at)}${each.shared ? html`${" · "}${whose(each)}` : ""}</span>
            ${each.edited && html`<${Badge} kind="info">${t("data.edited_short")}<//>`}</li>`)}</ul>`
        : html`<${Empty} icon="pin" title=${t("boards.none_saved")} text=${t("boards.none_saved_text")} action=${html`<${Button} icon="data" href="#/data">${t("boards.to_data")}<//>`} />`}`}`;
}

/** @param {{owner: string}} one */
export function whose({ owner }) {
  return me.value?.auth !== "token" || owner === me.value.user_id ? t("boards.shared") : t("boards.shared_by", { owner });
}
