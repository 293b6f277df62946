/** One saved question: its rows now, its chart, its statement. The one rule: only its owner changes it; others look. */
import { del, get, patch } from "../api.js";
import { Shown, Statement } from "../data/result.js";
import { t } from "../i18n.js";
import { said } from "../said.js";
import { go, link, me } from "../state.js";
import { html, useEffect, useMemo, useState } from "../ui/html.js";
import { ask, Badge, Busy, Button, Check, Field, FormDialog, Icon, Problem, time, toast } from "../ui/index.js";
import { newRunning } from "./run.js";

/** @typedef {import("../ask/types.js").Saved} Saved */
/** @typedef {import("../ask/types.js").Result} Result */

/** Whether who looks may change it. @param {{owner: string}} one */
export function isMine({ owner }) {
  return me.value?.auth !== "token" || owner === me.value.user_id;
}

/** @param {{id: string}} props */
export function SavedPage({ id }) {
  const [saved, setSaved] = useState(/** @type {Saved | null} */ (null));
  const [error, setError] = useState(/** @type {unknown} */ (null));
  const [tried, setTried] = useState(/** @type {Result | null} */ (null));
  const [renaming, setRenaming] = useState(false);
  const running = useMemo(() => newRunning(id), [id]);
  const path = `/data/saved/${encodeURIComponent(id)}`;
  const load = () => {
    setError(null);
    get(path).then(setSaved, setError);
  };
  useEffect(() => {
    load();
    void running.start();
    return () => running.stop();
  }, [id]);
  const back = html`<a class="data-back" href="#/boards"><${Icon} name="arrow-left" size=${16} />${" "}${t("boards.back")}</a>`;
  if (error) return html`${back}<h1>${t("boards.saved")}</h1><${Problem} error=${error} retry=${load} />`;
  if (!saved) return html`${back}<h1>${t("boards.saved")}</h1><${Busy} label=${t("data.loading")} />`;
  const mine = isMine(saved);
  const change = (/** @type {Record<string, any>} */ values) => patch(path, values).then(setSaved, toast);
  const keep = async () => {
    if (!tried) return;
    await change({ sql: tried.data.sql, chart: tried.data.chosen ?? null });
    running.result.value = tried;
    setTried(null);
    toast(t("data.question_saved", { name: saved.name }), "good");
  };
  const remove = async () => {
    if (!(await ask({ title: t("data.remove_ask", { name: saved.name }), text: t("boards.remove_saved"), action: t("data.remove"), danger: true }))) return;
    await del(path).then(() => go("/boards"), toast);
  };
  const result = tried ?? running.result.value;
  const data = result?.data;
  const draw = (/** @type {any} */ chart) => {
    if (!result) return;
    const drawn = { ...result, data: { ...result.data, chosen: chart } };
    if (tried) return setTried(drawn);
    running.result.value = drawn;
    if (mine) void change({ chart });
  };
  return html`<header class="data-head">${back}
      <div class="data-head-row"><h1>${saved.name}</h1><span class="row">
        <${Button} kind="quiet" icon="refresh" busy=${running.busy.value} onClick=${running.start}>${t("boards.refresh")}<//>
        ${running.busy.value && html`<${Button} kind="quiet" icon="stop" onClick=${running.stop}>${t("data.stop")}<//>`}
        ${mine && html`<${Button} kind="quiet" icon="edit" onClick=${() => setRenaming(true)}>${t("boards.rename")}<//>
          <${Button} kind="quiet" icon="trash" onClick=${remove}>${t("data.remove")}<//>`}</span></div>
      <p class="muted data-facts"><a href=${link("data", saved.source)}>${saved.source}</a>
        ${result && html`<span>${t("data.as_of", { when: time(result.at) })}</span>`}
        ${saved.question && html`<span>${saved.question}</span>`}
        ${(saved.edited || tried) && html`<${Badge} kind="info"><${Icon} name="edit" size=${14} />${t("data.edited")}<//>`}</p>
      ${mine && me.value?.auth === "token" && html`<${Check} label=${t("data.share_question")} hint=${t("data.share_hint")} checked=${saved.shared} onChange=${(/** @type {boolean} */ shared) => change({ shared })} />`}
    </header>
    <${Problem} error=${running.error.value} retry=${running.start} />
    ${result?.problem && html`<p class="data-truncated"><${Icon} name="warning" size=${18} />${" "}${said(result.problem)}</p>`}
    ${!result && running.busy.value && html`<${Busy} label=${t("boards.running")} />`}
    <section class="data-result" aria-label=${t("data.result")}>
      ${data && html`<${Shown} data=${data} draw=${draw} />`}
      ${tried && html`<p class="data-edited"><span>${t("boards.tried")}</span>
        ${mine && html`<${Button} small kind="primary" onClick=${keep}>${t("boards.keep")}<//>`}
        <${Button} small kind="quiet" icon="undo" onClick=${() => setTried(null)}>${t("boards.drop")}<//></p>`}
      <${Statement} data=${data ?? { source: saved.source, sql: saved.sql, dialect: "" }} original=${saved.sql} onResult=${setTried} />
    </section>
    ${renaming && html`<${Rename} name=${saved.name} onClose=${() => setRenaming(false)} onName=${(/** @type {string} */ name) => change({ name })} />`}`;
}

/** @param {{name: string, onName: (name: string) => Promise<void>, onClose: () => void}} props */
export function Rename({ name, onName, onClose }) {
  const [text, setText] = useState(name);
  return html`<${FormDialog} title=${t("boards.rename")} send=${() => onName(text.trim())} close=${onClose} action=${t("boards.rename")} ready=${text.trim() !== ""}>
    <${Field} label=${t("data.saved_name")} required autofocus maxlength="200" value=${text} onInput=${(/** @type {any} */ event) => setText(event.currentTarget.value)} /><//>`;
}
