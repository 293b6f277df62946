/** The steps of a trace on a timeline, each with how it went on, how long it took and what it noted. */
import { t } from "../i18n.js";
import { Button } from "../ui/button.js";
import { duration } from "../ui/figures.js";
import { html, useState } from "../ui/html.js";
import { Value } from "./value.js";
import { actionWords, nodeWords } from "../ui/step_words.js";

/** @typedef {{ n: number, node: string, action: string, seconds: number, detail: Record<string, unknown> }} Step */
/** @typedef {{ node: string, job: string, messages: { role: string, content: string }[], reply: string | number }} Prompt */

/** @param {{ steps: readonly Step[], prompts: readonly Prompt[] }} props */
export function Steps({ steps, prompts }) {
  const [all, setAll] = useState(0); // counts up: odd where all are open
  if (!steps.length) return html`<p class="muted">${t("traces.no_steps")}</p>`;
  const whole = steps.reduce((sum, step) => sum + step.seconds, 0) || 1;
  let before = 0;
  return html`<div class="trace-steps">
    <div class="trace-steps-head"><p class="muted">${t("traces.steps_said", { n: steps.length, seconds: duration(whole) })}</p>
      <${Button} small onClick=${() => setAll(all + 1)}>${t(all % 2 ? "traces.close_all" : "traces.open_all")}<//></div>
    <ol class="trace-steps-list">${steps.map((step) => {
      const start = before;
      before += step.seconds;
      const asked = prompts.filter((prompt) => prompt.node === step.node).length;
      return html`<${One} key=${`${step.n} ${all}`} step=${step} from=${start / whole} share=${step.seconds / whole} asked=${asked}
        opened=${all % 2 === 1} />`;
    })}</ol>
  </div>`;
}

/** @param {{ step: Step, from: number, share: number, asked: number, opened: boolean }} props */
function One({ step, from, share, asked, opened }) {
  const [open, setOpen] = useState(opened);
  const noted = Object.entries(step.detail).length;
  const bar = { insetInlineStart: `${(from * 100).toFixed(2)}%`, inlineSize: `max(3px, ${(share * 100).toFixed(2)}%)` };
  return html`<li class="trace-step">
    <details open=${open} onToggle=${(/** @type {any} */ event) => setOpen(event.currentTarget.open)}>
      <summary>
        <span class="trace-step-n">${step.n}</span>
        <span class="trace-step-node">${nodeWords(step.node)}</span>
        <span class="trace-step-action"><span aria-hidden="true">→ </span>${actionWords(step.action)}</span>
        <span class="trace-step-seconds">${duration(step.seconds)}</span>
        <span class="trace-step-bar" aria-hidden="true"><span style=${bar}></span></span>
      </summary>
      ${open && html`<div class="trace-step-detail">
        <p class="muted"><code>${step.node}</code> → <code>${step.action}</code></p>
        ${noted ? html`<${Value} value=${step.detail} />` : html`<p class="muted">${t("traces.noted_nothing")}</p>`}
        ${asked > 0 && html`<p class="muted">${t("traces.model_asked", { n: asked, node: nodeWords(step.node) })}</p>`}
      </div>`}
    </details>
  </li>`;
}
