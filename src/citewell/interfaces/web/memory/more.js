/** Where a memory comes from: its trace, the documents that prove it, what it said before. Asked for when it is opened. */

import { html, useEffect, useState } from "../ui/html.js";
import { ago, Busy, Problem, time } from "../ui/index.js";
import { ApiError, get } from "../api.js";
import { link } from "../state.js";
import { t } from "../i18n.js";
import { openDocument } from "../source/state.js";

/** @typedef {import("./fit.js").Memory} Memory */
/** @typedef {{id: string, title: string, uri: string, gone: boolean, changed: boolean}} Proof */

/** @param {{memory: Memory}} props */
export function More({ memory }) {
  const [history, setHistory] = useState(/** @type {Memory[] | null} */ (null));
  const [problem, setProblem] = useState(/** @type {unknown} */ (null));
  const load = () => {
    setProblem(null);
    get(`/memories/${encodeURIComponent(memory.memory_id)}`).then((found) => setHistory(found.history), setProblem);
  };
  useEffect(load, [memory.memory_id, memory.text]);
  return html`<div class="memory-more">
    ${memory.kind === "question" && html`<p>${t("memory.question.fixed")}</p>`}
    <dl>
      ${memory.trace_id && html`<div>
        <dt>${t(memory.kind === "fact" ? "memory.trace.fact" : "memory.trace")}</dt>
        <dd><a href=${link("traces", memory.trace_id)}>${memory.trace_id}</a></dd>
      </div>`}
      ${memory.kind === "question" && memory.collection && html`<div><dt>${t("memory.collection")}</dt><dd><a href=${link("library", memory.collection)}>${memory.collection}</a></dd></div>`}
      ${memory.doc_ids.length > 0 && html`<div><dt>${t("memory.documents")}</dt><dd><${Proofs} memory=${memory} /></dd></div>`}
      ${memory.derived_from.length > 0 && html`<div><dt>${t("memory.derived")}</dt><dd>${memory.derived_from.join(", ")}</dd></div>`}
    </dl>
    <p class="memory-sub">${t("memory.history")}</p>
    ${problem && html`<${Problem} error=${problem} retry=${load} />`}
    ${!history && !problem && html`<${Busy} small />`}
    ${history?.length === 0 && html`<p class="hint">${t("memory.history.none")}</p>`}
    ${history && history.length > 0 && html`<p class="hint">${t("memory.history.lead")}</p>
      <ol class="memory-history">${history.map((old, n) => html`<li key=${old.memory_id}>
        <p>${old.text}</p>
        <small title=${time(old.updated_at)}>${t("memory.history.until", { when: ago((history[n - 1] ?? memory).created_at) })}</small>
      </li>`)}</ol>`}
  </div>`;
}

/** The documents that an answer rests on; one that is gone or has changed makes it unusable, which is said. @param {{memory: Memory}} props */
function Proofs({ memory }) {
  const [proofs, setProofs] = useState(/** @type {Proof[]} */ ([]));
  useEffect(() => {
    let left = false;
    Promise.all(memory.doc_ids.map((id) => proofOf(id, memory.updated_at))).then((found) => !left && setProofs(found));
    return () => void (left = true);
  }, [memory.memory_id]);
  return html`<ul class="memory-proofs">${proofs.map(({ id, title, uri, gone, changed }) => html`<li key=${id}>
    ${gone ? html`<span>${t("memory.document.gone")}</span>` : html`<button type="button" class="link" onClick=${() => openDocument({ doc_id: id, title, uri })}>${title || uri || id}</button>`}
    ${changed && html`<small>${t("memory.document.changed")}</small>`}
  </li>`)}</ul>`;
}

/** @param {string} id @param {number} since @returns {Promise<Proof>} */
async function proofOf(id, since) {
  try {
    const { title, uri, added_at } = await get(`/documents/${encodeURIComponent(id)}`);
    return { id, title, uri, gone: false, changed: added_at > since };
  } catch (error) {
    return { id, title: "", uri: "", gone: error instanceof ApiError && error.status === 404, changed: false };
  }
}
