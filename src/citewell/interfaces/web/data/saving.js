/** Keep a question to tables under a name, and pin it to a board. The one rule: what is saved is what is seen: its statement and its chart. */
import { get, post } from "../api.js";
import { t } from "../i18n.js";
import { lang, me } from "../state.js";
import { html, useEffect, useState } from "../ui/html.js";
import { Check, Field, FormDialog, Select, toast } from "../ui/index.js";

/** @typedef {import("../ask/types.js").TableData} TableData */
/** @typedef {import("../ask/types.js").Board} Board */

const NEW = "+";

/**
 * `traceId`: of the answer, which knows what was asked; `edited`: a person wrote the statement.
 * @param {{data: TableData, traceId?: string, edited: boolean, onClose: () => void}} props
 */
export function SaveDialog({ data, traceId = "", edited, onClose }) {
  const [name, setName] = useState("");
  const [question, setQuestion] = useState("");
  const [boards, setBoards] = useState(/** @type {Board[]} */ ([]));
  const [board, setBoard] = useState("");
  const [newBoard, setNewBoard] = useState("");
  const [shared, setShared] = useState(false);
  useEffect(() => {
    get("/data/boards").then((found) => setBoards(found.boards.filter((/** @type {Board} */ each) => each.owner === (me.value?.auth === "token" ? me.value.user_id : each.owner))), () => undefined);
    if (!traceId) return;
    get(`/traces/${encodeURIComponent(traceId)}`).then((trace) => {
      setQuestion(trace.question);
      setName((now) => now || trace.question.slice(0, 120));
    }, () => undefined);
  }, [traceId]);
  const save = async () => {
    const body = { name: name.trim(), source: data.source, sql: data.sql, question, edited, chart: data.chosen ?? data.chart, lang: lang.value, shared };
    const saved = await post("/data/saved", body);
    const onto = board === NEW ? (await post("/data/boards", { name: newBoard.trim() || name.trim() })).board_id : board;
    if (onto) await post(`/data/boards/${encodeURIComponent(onto)}/cards`, { saved_id: saved.saved_id });
    toast(t(onto ? "data.pinned" : "data.question_saved", { name: saved.name }), "good");
  };
  const typed = (/** @type {(text: string) => void} */ set) => (/** @type {any} */ event) => set(event.currentTarget.value);
  const options = [["", t("data.no_board")], ...boards.map((each) => [each.board_id, each.name]), [NEW, t("data.new_board")]];
  return html`<${FormDialog} title=${t("data.save_question")} send=${save} close=${onClose} action=${t("data.save_short")} ready=${name.trim() !== ""}>
      <${Field} label=${t("data.saved_name")} required autofocus maxlength="200" value=${name} onInput=${typed(setName)} />
      <${Select} label=${t("data.pin_to")} value=${board} options=${options} onChange=${setBoard} />
      ${board === NEW && html`<${Field} label=${t("data.board_name")} required maxlength="200" value=${newBoard} onInput=${typed(setNewBoard)} />`}
      ${me.value?.auth === "token" && html`<${Check} label=${t("data.share_question")} hint=${t("data.share_hint")} checked=${shared} onChange=${setShared} />`}
  <//>`;
}
