/** A message under way: what is being done about it, its draft, how to stop it; or why it has no answer. */

import { html } from "../ui/html.js";
import { Button, Busy, Problem } from "../ui/index.js";
import { known, t } from "../i18n.js";

/** @typedef {import("./reading.js").Reading} Reading */
/** @typedef {import("./types.js").Step} Step */

/** What a step did, in words. @param {Step} step */
export function stepWords({ node }) {
  if (node.startsWith("section_")) return t("papers.step.section", { agent: agentWords(node.slice("section_".length)) });
  return known(`papers.step.${node}`) ? t(`papers.step.${node}`) : node;
}

/** @param {string} agent */
export function agentWords(agent) {
  return known(`papers.agent.${agent}`) ? t(`papers.agent.${agent}`) : agent;
}

/** @param {{reading: Reading}} props */
export function LiveView({ reading }) {
  const live = reading.live.value;
  if (!live) return null;
  const { message, steps, draft, problem, busy, resent } = live;
  const words = message.selection?.text;
  return html`<section class="paper-live" aria-busy=${busy}>
    ${message.kind === "message" && html`<${Question} text=${message.text || t("papers.mark.explain")} words=${words} />`}
    ${resent && html`<p class="paper-note">${t("papers.talk.resent")}</p>`}
    ${busy &&
    html`<${Busy} small label=${!reading.session.value?.plan || message.kind === "plan" ? t("papers.route.making") : t("papers.talk.answering")} />
      <ol class="paper-doing" aria-live="polite">${steps.map((step) => html`<li key=${step.n}>${stepWords(step)}</li>`)}</ol>
      ${draft && html`<p class="paper-draft">${draft}</p>`}`}
    ${problem &&
    html`<${Problem} error=${problem} />
      <p class="paper-actions">
        <${Button} small icon="refresh" onClick=${() => reading.again()}>${t("papers.talk.again")}<//>
        <${Button} small kind="quiet" onClick=${() => reading.dismiss()}>${t("papers.talk.forget")}<//>
      </p>`}
  </section>`;
}

/** What the reader asked. @param {{text: string, words?: string | undefined}} props */
export function Question({ text, words = "" }) {
  return html`<div class="paper-question">
    <h2 class="unseen">${t("papers.talk.you")}</h2>
    <p>${text}</p>
    ${words && html`<blockquote>${words}</blockquote>`}
  </div>`;
}
