/** The reading route: its steps, ticks, where the reader is, and changes by hand. The one rule: the server's route is the route. */

import { html, useState } from "../ui/html.js";
import { Badge, Button, Field, figure, IconButton, Progress, Select, toast, useWork } from "../ui/index.js";
import { t } from "../i18n.js";
import { pagesOf } from "./statement.js";
import { LiveView } from "./live.js";

/** @typedef {import("./reading.js").Reading} Reading */
/** @typedef {import("./types.js").Plan} Plan */
/** @typedef {import("./types.js").PlanStep} PlanStep */
/** @typedef {import("./types.js").PlanEdit} PlanEdit */

/** Minutes still to read, and of all. @param {Plan} plan */
export function minutesOf(plan) {
  const sum = (/** @type {PlanStep[]} */ steps) => steps.reduce((n, step) => n + step.minutes, 0);
  return { left: sum(plan.steps.filter((step) => step.done_at === null)), all: sum(plan.steps) };
}

/** @param {{reading: Reading}} props */
export function RouteView({ reading }) {
  const [editing, setEditing] = useState(false);
  const { busy, run: edit } = useWork((/** @type {PlanEdit[]} */ edits) => reading.edit(edits), toast);
  const plan = reading.session.value?.plan;
  const live = reading.live.value;
  const making = live && (live.message.kind === "plan" || !plan) ? html`<${LiveView} reading=${reading} />` : null;
  if (!plan) return making ?? html`<p class="paper-note paper-pad">${t("papers.route.none")}</p>`;
  const next = plan.steps.find((step) => step.done_at === null)?.step_id ?? "";
  const current = plan.steps.some((step) => step.step_id === reading.step.value) ? reading.step.value : "";
  return html`<article class="paper-route">
    <${Head} plan=${plan} />
    ${making}
    <ol class="paper-steps" aria-busy=${busy}>
      ${plan.steps.map(
        (step, place) => html`<${StepView} key=${step.step_id} ...${{ step, place, reading, edit, editing, plan }}
          current=${step.step_id === current} next=${step.step_id === next} />`,
      )}
    </ol>
    <div class="paper-actions">
      <${Button} onClick=${() => setEditing(!editing)}>${t(editing ? "papers.route.edit.end" : "papers.route.edit")}<//>
    </div>
    ${editing && html`<${Add} reading=${reading} plan=${plan} edit=${edit} />`}
    ${editing && html`<${Other} reading=${reading} />`}
  </article>`;
}

/** @param {{plan: Plan}} props */
function Head({ plan }) {
  const { left, all } = minutesOf(plan);
  const read = plan.steps.filter((step) => step.done_at !== null).length;
  const steps = plan.steps.length;
  const progress = t("papers.route.progress", { read, steps });
  return html`<header>
    <h2>${plan.interest ? t("papers.route.for", { interest: plan.interest }) : t("papers.route.all")}</h2>
    <${Progress} value=${steps ? read / steps : 0} label=${progress} hidden />
    <p class="paper-note">
      ${progress} · ${left ? t("papers.route.left", { left: figure(left), all: figure(all) }) : t("papers.route.done")}
    </p>
  </header>`;
}

/**
 * @param {{step: PlanStep, place: number, plan: Plan, reading: Reading, editing: boolean, current: boolean, next: boolean,
 *   edit: (edits: PlanEdit[]) => Promise<void>}} props
 */
function StepView({ step, place, plan, reading, editing, current, next, edit }) {
  const { step_id, section } = step;
  const name = section.split(" › ").at(-1) ?? section;
  const done = step.done_at !== null;
  const open = () => {
    reading.at(step_id);
    reading.see({ page: step.first_page, start: step.start, end: step.end, quote: section });
  };
  const quote = () => {
    reading.at(step_id);
    reading.see({ page: step.first_page, start: step.start, end: step.end, quote: step.quote });
  };
  const [ticked, setTicked] = useState(/** @type {boolean | null} */ (null)); // as it was just clicked, until the server says so
  const tick = async () => {
    setTicked(!done);
    await edit([{ do: done ? "untick" : "tick", step_id }]);
    setTicked(null);
  };
  const mark = current ? "current" : next ? "next" : "";
  return html`<li class=${`paper-step ${done ? "paper-step-done" : ""} ${current ? "paper-step-current" : ""}`}
    aria-current=${current ? "step" : undefined}>
    <input type="checkbox" checked=${ticked ?? done} aria-label=${t("papers.route.tick", { section: name })}
      onChange=${tick} />
    <div>
      <button type="button" class="paper-place" onClick=${open} aria-label=${t("papers.route.go", { section: name })}>${name}</button>
      ${mark && html`<${Badge} kind=${current ? "info" : "plain"}>${t(`papers.route.${mark}`)}<//>`}
      <small>${[pagesOf(step.first_page, step.last_page), t("papers.route.minutes", { n: figure(step.minutes) })].filter(Boolean).join(" · ")}</small>
      <p>${step.why}</p>
      ${step.quote &&
      html`<button type="button" class="paper-quote" title=${t("papers.route.quote")} onClick=${quote}>${step.quote}</button>`}
    </div>
    ${editing &&
    html`<span class="paper-tools">
      <${IconButton} name="chevron-up" label=${t("papers.route.up", { section: name })} disabled=${place === 0}
        onClick=${() => edit([{ do: "move", step_id, place }])} />
      <${IconButton} name="chevron-down" label=${t("papers.route.down", { section: name })} disabled=${place === plan.steps.length - 1}
        onClick=${() => edit([{ do: "move", step_id, place: place + 2 }])} />
      <${IconButton} name="close" label=${t("papers.route.remove", { section: name })} onClick=${() => edit([{ do: "remove", step_id }])} />
    </span>`}
  </li>`;
}

/** A section that is not in the route. @param {{reading: Reading, plan: Plan, edit: (edits: PlanEdit[]) => Promise<void>}} props */
function Add({ reading, plan, edit }) {
  const [section, setSection] = useState("");
  const inRoute = new Set(plan.steps.map((step) => step.start));
  const all = reading.structure.value?.parts ?? [];
  const parts = all.filter((part) => part.heading && !inRoute.has(part.start) && !["front", "references"].includes(part.role));
  if (!parts.length) return null;
  const add = async (/** @type {Event} */ event) => {
    event.preventDefault();
    if (section) await edit([{ do: "add", section }]);
    setSection("");
  };
  const options = parts.map((part) => ({ value: part.heading, label: part.heading_path.join(" › ") }));
  return html`<form class="paper-line" onSubmit=${add}>
    <${Select} label=${t("papers.route.add")} value=${section} onChange=${setSection}
      options=${[{ value: "", label: t("papers.route.add.choose") }, ...options]} />
    <${Button} type="submit" icon="plus" disabled=${!section}>${t("papers.route.add.go")}<//>
  </form>`;
}

/** A route for another interest. @param {{reading: Reading}} props */
function Other({ reading }) {
  const [interest, setInterest] = useState("");
  const send = (/** @type {Event} */ event) => {
    event.preventDefault();
    void reading.interest(interest.trim());
    setInterest("");
  };
  return html`<form class="paper-line" onSubmit=${send}>
    <${Field} label=${t("papers.route.other.label")} hint=${t("papers.route.other.hint")} value=${interest} maxlength="500"
      placeholder=${t("papers.compose.interest")} onInput=${(/** @type {any} */ event) => setInterest(event.target.value)} />
    <${Button} type="submit" disabled=${Boolean(reading.live.value?.busy)}>${t("papers.route.other.go")}<//>
  </form>`;
}
