/**
 * A statement that a person changes and runs. The one rule: leaving ends it: a statement that nobody waits for any more holds up nobody.
 */
import { post } from "../api.js";
import { t } from "../i18n.js";
import { lang } from "../state.js";
import { html, useEffect, useRef, useState } from "../ui/html.js";
import { Button, Problem } from "../ui/index.js";

/** @typedef {import("../ask/types.js").Result} Result */

/** What a statement gives now. @param {string} source @param {string} sql @param {AbortSignal} [signal] @returns {Promise<Result>} */
export function runSql(source, sql, signal) {
  return post(`/data/sources/${encodeURIComponent(source)}/query`, { sql, lang: lang.value }, { signal });
}

/**
 * `sql`: what is shown first; `original`: what the agent wrote, to go back to.
 * @param {{source: string, sql: string, original: string, onResult: (result: Result) => void, onClose: () => void}} props
 */
export function Editor({ source, sql, original, onResult, onClose }) {
  const [text, setText] = useState(sql);
  const [error, setError] = useState(/** @type {unknown} */ (null));
  const [running, setRunning] = useState(/** @type {AbortController | null} */ (null));
  const box = useRef(/** @type {HTMLTextAreaElement | null} */ (null));
  useEffect(() => () => running?.abort(), [running]);
  useEffect(() => box.current?.focus(), []);
  const run = async () => {
    if (running || !text.trim()) return;
    const abort = new AbortController();
    setRunning(abort);
    setError(null);
    try {
      onResult(await runSql(source, text.trim(), abort.signal));
    } catch (problem) {
      if (!abort.signal.aborted) setError(problem);
    }
    setRunning(null);
  };
  const keys = (/** @type {KeyboardEvent} */ event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      void run();
    }
  };
  return html`<div class="data-editor">
    <label class="unseen" for=${`sql-${source}`}>${t("data.sql_edit")}</label>
    <textarea id=${`sql-${source}`} ref=${box} spellcheck=${false} autocapitalize="off" autocomplete="off" rows=${Math.min(16, Math.max(4, text.split("\n").length + 1))}
      maxlength="50000" value=${text} onInput=${(/** @type {any} */ event) => setText(event.currentTarget.value)} onKeyDown=${keys}></textarea>
    <${Problem} error=${error} />
    <div class="data-editor-foot">
      <span class="muted">${t("data.sql_keys")}</span>
      ${text.trim() !== original.trim() && html`<${Button} small kind="quiet" icon="undo" onClick=${() => setText(original)}>${t("data.sql_back")}<//>`}
      <${Button} small kind="quiet" onClick=${onClose}>${t("data.close")}<//>
      ${running
        ? html`<${Button} small icon="stop" onClick=${() => running.abort()}>${t("data.stop")}<//>`
        : html`<${Button} small kind="primary" icon="play" disabled=${!text.trim()} onClick=${run}>${t("data.run")}<//>`}
    </div>
  </div>`;
}
