/** One memory: what is remembered, how sure it is, and what can be done with it. A settled answer cannot be reworded. */

import { html, useState } from "../ui/html.js";
import { ago, Badge, Button, Field, time, toast, useWork } from "../ui/index.js";
import { patch } from "../api.js";
import { t } from "../i18n.js";
import { saidOf } from "../said.js";
import { confirmations, expiry } from "./fit.js";
import { More } from "./more.js";

/** @typedef {import("./fit.js").Memory} Memory */

const LONGEST = 500; // characters of a fact

/** @param {{memory: Memory, onForget: (memory: Memory) => void, onChange: () => void}} props */
export function Card({ memory, onForget, onChange }) {
  const [editing, setEditing] = useState(false);
  const [open, setOpen] = useState(false);
  const { kind, subject, text, replaced_by, updated_at } = memory;
  const facts = [confirmations(memory), t("memory.updated", { when: ago(updated_at) }), replaced_by ? "" : expiry(memory)];
  const name = kind === "fact" ? text : subject;
  const done = () => {
    setEditing(false);
    onChange();
  };
  return html`<li class=${`memory-card ${replaced_by ? "memory-old" : ""}`}>
    <div class="memory-head">
      <${Badge} kind=${kind === "fact" ? "info" : "good"}>${t(`memory.${kind}`)}<//>
      ${replaced_by && html`<${Badge} kind="warn">${t("memory.replaced")}<//>`}
    </div>
    ${kind === "question" && html`<h2>${subject}</h2>`}
    ${editing ? html`<${Editing} memory=${memory} onDone=${done} onClose=${() => setEditing(false)} />` : html`<p class="memory-text">${text}</p>`}
    <p class="memory-facts" title=${time(updated_at)}>${facts.filter(Boolean).join(" · ")}</p>
    <div class="memory-actions">
      ${kind === "fact" && !replaced_by && !editing &&
      html`<${Button} small kind="quiet" icon="edit" aria-label=${`${t("memory.edit")}: ${name}`} onClick=${() => setEditing(true)}>${t("memory.edit")}<//>`}
      <${Button} small kind="quiet" icon="trash" aria-label=${`${t("memory.forget")}: ${name}`} onClick=${() => onForget(memory)}>${t("memory.forget")}<//>
      <${Button} small kind="quiet" icon=${open ? "chevron-up" : "chevron-down"} aria-expanded=${open ? "true" : "false"}
        aria-label=${`${t("memory.details")}: ${name}`} onClick=${() => setOpen(!open)}>${t("memory.details")}<//>
    </div>
    ${open && html`<${More} memory=${memory} />`}
  </li>`;
}

/** @param {{memory: Memory, onDone: () => void, onClose: () => void}} props */
function Editing({ memory, onDone, onClose }) {
  const [text, setText] = useState(memory.text);
  const { busy, error, run: save } = useWork(async (/** @type {Event} */ _) => {
    if (text.trim() === memory.text) return onClose();
    await patch(`/memories/${encodeURIComponent(memory.memory_id)}`, { text: text.trim() });
    toast(t("memory.saved"), "good");
    onDone();
  });
  return html`<form class="memory-edit" onSubmit=${save}>
    <${Field} label=${t("memory.edit.label")} hint=${t("memory.edit.hint")} value=${text} maxlength=${LONGEST} error=${error && saidOf(error)} rows="2"
      onInput=${(/** @type {any} */ event) => setText(event.target.value)} />
    <div class="memory-actions">
      <${Button} small kind="primary" type="submit" busy=${busy} disabled=${!text.trim()}>${t("memory.save")}<//>
      <${Button} small onClick=${onClose}>${t("memory.cancel")}<//>
    </div>
  </form>`;
}
