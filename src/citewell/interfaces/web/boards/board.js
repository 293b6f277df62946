/**
 * One board: its cards in order, each with its own time and its own error; read anew when it is opened, on demand and at its interval.
 * The one rule: a card that fails takes nothing from the others, and what it showed before stays.
 */
import { del, get, patch } from "../api.js";
import { t } from "../i18n.js";
import { go, link, me } from "../state.js";
import { html, useEffect, useMemo, useState } from "../ui/html.js";
import { ask, Badge, Busy, Button, Check, Empty, Icon, IconButton, Menu, Problem, Select, toast } from "../ui/index.js";
import { Card } from "./card.js";
import { newRunning } from "./run.js";
import { isMine, Rename } from "./saved.js";

/** @typedef {import("../ask/types.js").Board} Board */
/** @typedef {import("../ask/types.js").Saved} Saved */
/** @typedef {import("./run.js").Running} Running */

const INTERVALS = [0, 60, 300, 900, 3600]; // seconds

/** @param {{id: string}} props */
export function BoardPage({ id }) {
  const [board, setBoard] = useState(/** @type {Board | null} */ (null));
  const [error, setError] = useState(/** @type {unknown} */ (null));
  const [arranging, setArranging] = useState(false);
  const [renaming, setRenaming] = useState(false);
  const runs = useMemo(() => new Map(/** @type {[string, Running][]} */ ([])), [id]);
  const path = `/data/boards/${encodeURIComponent(id)}`;
  const runOf = (/** @type {Saved} */ card) => {
    const known = runs.get(card.saved_id) ?? newRunning(card.saved_id);
    runs.set(card.saved_id, known);
    return known;
  };
  const refresh = (/** @type {Board} */ one) => one.cards.forEach((card) => void runOf(card).start());
  const load = () => {
    setError(null);
    get(path).then((found) => {
      setBoard(found);
      refresh(found);
    }, setError);
  };
  useEffect(() => {
    load();
    return () => runs.forEach((run) => run.stop());
  }, [id]);
  const seconds = board?.refresh_seconds ?? 0;
  useEffect(() => {
    if (!seconds) return;
    // what nobody looks at is not read anew
    const timer = setInterval(() => document.visibilityState === "visible" && load(), seconds * 1000);
    return () => clearInterval(timer);
  }, [seconds, id]);
  const back = html`<a class="data-back" href="#/boards"><${Icon} name="arrow-left" size=${16} />${" "}${t("boards.back")}</a>`;
  if (!board) return html`${back}<h1>${t("boards.title")}</h1>${error ? html`<${Problem} error=${error} retry=${load} />` : html`<${Busy} label=${t("data.loading")} />`}`;
  const mine = isMine(board);
  const change = (/** @type {Record<string, any>} */ values) => patch(path, values).then(setBoard, toast);
  const remove = async () => {
    if (!(await ask({ title: t("data.remove_ask", { name: board.name }), text: t("boards.remove_board"), action: t("data.remove"), danger: true }))) return;
    await del(path).then(() => go("/boards"), toast);
  };
  const ids = board.cards.map((card) => card.saved_id);
  const move = (/** @type {number} */ from, /** @type {number} */ to) => {
    const next = [...ids];
    next.splice(to, 0, ...next.splice(from, 1));
    void change({ cards: next });
  };
  const busy = board.cards.some((card) => runOf(card).busy.value);
  const items = [
    { label: t("boards.arrange"), icon: "sort", checked: arranging, action: () => setArranging(!arranging) },
    { label: t("boards.rename"), icon: "edit", action: () => setRenaming(true) },
    { label: t("data.remove"), icon: "trash", danger: true, action: remove },
  ];
  const intervals = [...new Set([...INTERVALS, seconds])].map((each) => [String(each), each ? t("boards.every", { n: Math.round(each / 60) }) : t("boards.on_opening")]);
  return html`<header class="data-head">${back}
      <div class="data-head-row"><h1>${board.name}</h1><span class="row">
        <${Button} kind="quiet" icon="refresh" busy=${busy} onClick=${() => refresh(board)}>${t("boards.refresh")}<//>
        ${mine && html`<${Menu} label=${t("frame.more")} items=${items} />`}</span></div>
      ${!mine && html`<p class="muted">${t("boards.shared_by", { owner: board.owner })}</p>`}
      ${mine && html`<div class="boards-how"><${Select} label=${t("boards.interval")} value=${String(seconds)} options=${intervals} onChange=${(/** @type {string} */ each) => change({ refresh_seconds: Number(each) })} />
        ${me.value?.auth === "token" && html`<${Check} label=${t("boards.share")} hint=${t("boards.share_hint")} checked=${board.shared} onChange=${(/** @type {boolean} */ shared) => change({ shared })} />`}</div>`}
      ${board.hidden > 0 && html`<p><${Badge} kind="warn">${t("boards.hidden_n", { n: board.hidden })}<//></p>`}
    </header>
    <${Problem} error=${error} retry=${load} />
    ${!board.cards.length && html`<${Empty} icon="pin" title=${t("boards.empty")} text=${t("boards.none_saved_text")} action=${html`<${Button} icon="data" href="#/data">${t("boards.to_data")}<//>`} />`}
    <ul class="boards-cards">${board.cards.map((card, at) => html`<li key=${card.saved_id}>
      <${Card} card=${card} run=${runOf(card)}>
        ${arranging && html`<span class="row">
          <${IconButton} name="arrow-left" label=${t("boards.move_back", { name: card.name })} disabled=${at === 0} onClick=${() => move(at, at - 1)} />
          <${IconButton} name="arrow-right" label=${t("boards.move_on", { name: card.name })} disabled=${at === ids.length - 1} onClick=${() => move(at, at + 1)} />
          <${IconButton} name="close" label=${t("boards.unpin", { name: card.name })} onClick=${() => change({ cards: ids.filter((each) => each !== card.saved_id) })} /></span>`}
      <//></li>`)}</ul>
    ${renaming && html`<${Rename} name=${board.name} onClose=${() => setRenaming(false)} onName=${(/** @type {string} */ name) => change({ name })} />`}`;
}
