/**
 * How an answer came about: who was asked, what each was sent, what the audit found. Quiet, and read when it is opened.
 * The one rule: what is shown is what the trace has; nothing is made up where it is gone.
 */

import { get } from "../api.js";
import { link } from "../state.js";
import { t } from "../i18n.js";
import { html, useState } from "../ui/html.js";
import { ApiError } from "../api.js";
import { Busy, Problem } from "../ui/index.js";
import { agentWords } from "./live.js";
import { pagesOf } from "./statement.js";

/** @typedef {import("./types.js").Exchange} Exchange */
/** @typedef {import("./types.js").Step} Step */
/** @typedef {import("./reading.js").Reading} Reading */

/** @param {{exchange: Exchange, reading: Reading}} props */
export function How({ exchange, reading }) {
  const [open, setOpen] = useState(false);
  const agents = exchange.agents.map(agentWords).join(t("papers.joint"));
  const references = exchange.data.references ?? [];
  const toggle = (/** @type {any} */ event) => setOpen(event.currentTarget.open);
  return html`${references.length > 0 && html`<${References} references=${references} reading=${reading} />`}
    <details class="paper-how" onToggle=${toggle}>
      <summary>${agents ? t("papers.talk.how.agents", { agents }) : t("papers.talk.how")}</summary>
      ${open && html`<${Inside} exchange=${exchange} agents=${agents} />`}
    </details>`;
}

/** @param {{exchange: Exchange, agents: string}} props */
function Inside({ exchange, agents }) {
  const { clarified, question, sentences, trace_id } = exchange;
  const good = sentences.filter((sentence) => sentence.verdict === "supported").length;
  const n = sentences.length;
  const structure = exchange.agents.includes("structure");
  const found = !n ? "nothing" : structure ? "structure" : good === n ? "all" : "some";
  return html`<dl class="paper-facts">
      ${clarified && clarified !== question && html`<div><dt>${t("papers.talk.understood")}</dt><dd>${clarified}</dd></div>`}
      <div><dt>${t("papers.talk.agents")}</dt><dd>${agents || t("papers.talk.none")}</dd></div>
      <div><dt>${t("papers.talk.audit")}</dt><dd>${t(`papers.audit.${found}`, { n, good })}</dd></div>
    </dl>
    ${trace_id && html`<${Traced} traceId=${trace_id} />`}`;
}

/** What only the trace has. @param {{traceId: string}} props */
function Traced({ traceId }) {
  const [steps, setSteps] = useState(/** @type {Step[] | null} */ (null));
  const [problem, setProblem] = useState(/** @type {unknown} */ (null));
  const [asked, setAsked] = useState("");
  if (asked !== traceId) {
    setAsked(traceId);
    get(`/traces/${encodeURIComponent(traceId)}`).then((trace) => setSteps(trace.steps), setProblem);
  }
  if (problem instanceof ApiError && problem.status === 404) return html`<p class="paper-note">${t("papers.talk.trace.gone")}</p>`;
  if (problem) return html`<${Problem} error=${problem} />`;
  if (!steps) return html`<${Busy} small />`;
  const sent = steps.filter((step) => step.node.startsWith("section_") && step.detail["received"]?.document_chunk);
  const revised = steps.find((step) => step.node === "control_revise");
  const failed = /** @type {string[]} */ (revised?.detail["failed"] ?? []);
  return html`${revised &&
    html`<p class="paper-note">${t("papers.audit.revised")}</p>
      ${failed.length > 0 && html`<p class="paper-sub">${t("papers.audit.failed")}</p>
        <ul class="paper-failed">${failed.map((text) => html`<li key=${text}>${text}</li>`)}</ul>`}`}
    ${sent.length > 0 && html`<p class="paper-sub">${t("papers.talk.received")}</p>`}
    ${sent.map((step) => html`<${Sent} key=${step.n} step=${step} />`)}
    <p class="paper-traced"><a href=${link("traces", traceId)}>${t("papers.talk.trace")}</a></p>`;
}

/** @param {{step: Step}} props */
function Sent({ step }) {
  /** @type {{section: string, page: number | null, text: string}[]} */
  const passages = step.detail["received"].document_chunk;
  return html`<details class="paper-sent">
    <summary>${agentWords(step.node.slice("section_".length))} · ${t("papers.talk.passages", { n: passages.length })}</summary>
    <ol>${passages.map(({ section, page, text }, n) => html`<li key=${n}>
      <small>${[section.split(" › ").at(-1), pagesOf(page ?? 0)].filter(Boolean).join(" · ")}</small>
      <p>${text}</p>
    </li>`)}</ol>
  </details>`;
}

/** Entries of the paper's list that the quotes mention. @param {{references: import("./types.js").Reference[], reading: Reading}} props */
function References({ references, reading }) {
  return html`<details class="paper-how">
    <summary>${t("papers.talk.references")} (${references.length})</summary>
    <ul class="paper-references">
      ${references.map(({ label, text, page, start, end }) => html`<li key=${label}>
        <button type="button" class="paper-quote" onClick=${() => reading.see({ page, start, end, quote: text })}>${text}</button>
      </li>`)}
    </ul>
  </details>`;
}
