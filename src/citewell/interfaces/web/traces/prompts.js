/**
 * What the chat model was sent, message by message, and what it said.
 * The one rule: the text of a prompt is made only while it is open: a hundred of them cost no more than their titles.
 */
import { t } from "../i18n.js";
import { Button } from "../ui/button.js";
import { Field, Select } from "../ui/fields.js";
import { figure } from "../ui/figures.js";
import { html, useMemo, useState } from "../ui/html.js";
import { Copy } from "./copy.js";
import { nodeWords } from "../ui/step_words.js";

/** @typedef {import("./steps.js").Prompt} Prompt */

const FIRST = 50; // prompts listed at once
const LONG = 20_000; // characters of a message shown at once

/** @param {{ prompts: readonly Prompt[] }} props */
export function Prompts({ prompts }) {
  const [most, setMost] = useState(FIRST);
  const [node, setNode] = useState("");
  const [words, setWords] = useState("");
  const nodes = useMemo(() => [...new Set(prompts.map((prompt) => prompt.node))], [prompts]);
  const wanted = words.trim().toLowerCase();
  const found = useMemo(
    () => prompts.map((prompt, n) => ({ prompt, n })).filter(({ prompt }) => (!node || prompt.node === node) && (!wanted || says(prompt, wanted))),
    [prompts, node, wanted],
  );
  if (!prompts.length) return html`<p class="muted">${t("traces.no_prompts")}</p>`;
  return html`<div class="trace-prompts">
    ${prompts.length > 3 && html`<div class="filters">
      <${Select} label=${t("traces.node")} value=${node} onChange=${setNode}
        options=${[{ value: "", label: t("traces.any") }, ...nodes.map((name) => ({ value: name, label: name ? nodeWords(name) : t("traces.no_node") }))]} />
      <${Field} class="grow" type="search" label=${t("traces.find_in_prompts")} value=${words}
        onInput=${(/** @type {any} */ event) => setWords(event.currentTarget.value)} />
    </div>`}
    <p class="muted" role="status">${t("traces.prompts_said", { n: found.length, all: prompts.length })}</p>
    <ol class="trace-prompts-list">${found.slice(0, most).map(({ prompt, n }) => html`<${One} key=${n} n=${n + 1} prompt=${prompt} />`)}</ol>
    ${found.length > most && html`<${Button} onClick=${() => setMost(most + FIRST)}>${t("traces.more_items", { n: found.length - most })}<//>`}
  </div>`;
}

/** @param {{ n: number, prompt: Prompt }} props */
function One({ n, prompt }) {
  const [open, setOpen] = useState(false);
  const length = prompt.messages.reduce((sum, message) => sum + message.content.length, 0);
  return html`<li class="trace-prompt">
    <details open=${open} onToggle=${(/** @type {any} */ event) => setOpen(event.currentTarget.open)}>
      <summary>
        <span class="trace-step-n">${n}</span>
        <span class="trace-step-node">${prompt.node ? nodeWords(prompt.node) : t("traces.no_node")}</span>
        <span class="trace-prompt-job">${prompt.job === "yes_no" ? t("traces.job_yes_no") : t("traces.job_chat")}</span>
        <span class="trace-prompt-size">${t("traces.characters", { n: figure(length) })}</span>
        <span class="trace-prompt-reply">${String(prompt.reply).slice(0, 120)}</span>
      </summary>
      ${open && html`<div class="trace-prompt-whole">
        <${Copy} label=${t("traces.copy_prompt")} text=${() => asText(prompt)} />
        ${prompt.messages.map((message, m) => html`<${Message} key=${m} role=${message.role} text=${message.content} />`)}
        <${Message} role="reply" text=${String(prompt.reply)} note=${prompt.job === "yes_no" ? t("traces.log_odds") : ""} />
      </div>`}
    </details>
  </li>`;
}

/** @param {{ role: string, text: string, note?: string }} props */
function Message({ role, text, note = "" }) {
  const [whole, setWhole] = useState(false);
  const long = text.length > LONG && !whole;
  return html`<section class=${`trace-message role-${role}`}>
    <h4>${t(`traces.role_${ROLES.has(role) ? role : "other"}`)} ${note && html`<span class="muted">${note}</span>`}</h4>
    <pre tabindex="0" aria-label=${t("traces.text_of", { role })}>${long ? text.slice(0, LONG) : text}</pre>
    ${long && html`<${Button} small onClick=${() => setWhole(true)}>${t("traces.all_of_it", { n: figure(text.length) })}<//>`}
  </section>`;
}

const ROLES = new Set(["system", "user", "assistant", "reply"]);

/** @param {Prompt} prompt */
function asText(prompt) {
  return [...prompt.messages.map(({ role, content }) => `## ${role}\n\n${content}`), `## reply\n\n${prompt.reply}`].join("\n\n");
}

/** @param {Prompt} prompt @param {string} words */
function says(prompt, words) {
  return prompt.messages.some(({ content }) => content.toLowerCase().includes(words)) || String(prompt.reply).toLowerCase().includes(words);
}
