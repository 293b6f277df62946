/**
 * What one sees while an answer is made: what is being done, in words; the passages as soon as they are found; the draft.
 * The one rule: names of the specification, and the graph, are there for who opens the details.
 */
import { t } from "../i18n.js";
import { html, useState } from "../ui/html.js";
import { lateView } from "../ui/late.js";
import { Markdown } from "../ui/markdown.js";
import { Passages, passagesOf } from "./evidence.js";
import { nodeWords } from "../ui/step_words.js";
import { Clock, nextOf, Steps, useDrawing } from "./steps.js";

/** @typedef {import("./stream.js").Run} Run */

/** The pages of a site that were read for an answer. */
export const Visited = lateView(() => import("../sites/visited.js"));

/** @param {{run: Run, agent: string}} props */
export function Waiting({ run, agent }) {
  const steps = run.steps.value;
  const pages = run.pages.value;
  const chosen = steps.find((step) => step.node === "choose_agent")?.action ?? agent;
  const now = nextOf(steps.filter((step) => step.node !== "choose_agent"), useDrawing(chosen));
  return html`<div class="waiting">
    <p class="waiting-now"><span class="spinner" aria-hidden="true"></span>
      <span>${nodeWords(now)}</span><${Clock} since=${run.since.value} /></p>
    ${pages.length > 0 && html`<p class="hint">${t("ask.visits", { n: pages.at(-1)?.pages ?? pages.length, links: pages.at(-1)?.links ?? 0 })}</p>
      <${Visited} visits=${pages} busy />`}
    ${run.ending.value && html`<p class="hint" role="status">${t("ask.finishing")}</p>`}
    ${run.draft.value && html`<div class="draft">
      <p class="draft-head"><span class="draft-badge">${t("ask.draft")}</span> ${t("ask.draft_hint")}</p>
      <${Markdown} text=${run.draft.value} />
    </div>`}
    <${Passages} passages=${passagesOf(steps)} label=${t("ask.reading")} />
    <${Fold} label=${t("ask.details")}><${Steps} agent=${agent} steps=${steps} busy since=${run.since.value} /><//>
  </div>`;
}

/** What is drawn when it is opened, and not before. @param {{label: string, children?: any, opened?: boolean, onOpen?: () => void}} props */
export function Fold({ label, children, opened = false, onOpen }) {
  const [open, setOpen] = useState(opened);
  const toggle = (/** @type {any} */ event) => {
    setOpen(event.currentTarget.open);
    if (event.currentTarget.open) onOpen?.();
  };
  return html`<details class="steps-fold" open=${open} onToggle=${toggle}><summary>${label}</summary>${open && children}</details>`;
}
