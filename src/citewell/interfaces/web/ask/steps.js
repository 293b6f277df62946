/**
 * How an answer comes about, step by step as it happens: what each did in words, how long it took, which one is at work, and
 * the agent's graph beside. The one rule: names of the specification stand small beside words that people use.
 */
import { get } from "../api.js";
import { known, t } from "../i18n.js";
import { said } from "../said.js";
import { html, useEffect, useState } from "../ui/html.js";
import { Dialog, duration, IconButton } from "../ui/index.js";
import { lateView } from "../ui/late.js";
import { nodeWords } from "../ui/step_words.js";

/** @typedef {import("./types.js").Step} Step */
/** @typedef {{agent: string, nodes: string[], edges: [string, string, string][]}} Drawing */

const Graph = lateView(() => import("../ui/graph.js").then((module) => ({ default: module.Graph })));
const END = "END";
const PHASES = ["beginning", "working", "keeping"]; // what is said where no node of the graph is at work
const drawings = new Map(/** @type {[string, Promise<Drawing | null>][]} */ ([]));

/**
 * `since`: when the step in hand began, `performance.now()`; `busy`: one is at work.
 * @param {{agent: string, steps: Step[], busy?: boolean, since?: number}} props
 */
export function Steps({ agent, steps, busy = false, since = 0 }) {
  const chosen = steps.find((step) => step.node === "choose_agent")?.action ?? agent;
  const drawing = useDrawing(chosen);
  const own = steps.filter((step) => step.node !== "choose_agent");
  const now = busy ? nextOf(own, drawing) : "";
  return html`<div class=${`ask-steps${drawing ? " ask-steps-drawn" : ""}`}>
    <ol class="ask-steps-list">
      ${steps.map((step) => html`<${Done} key=${step.n} step=${step} />`)}
      ${busy && now && html`<li class="ask-step ask-step-now" aria-current="step">
        <span class="ask-step-mark" aria-hidden="true"></span>
        <span class="ask-step-words">${nodeWords(now)}${!PHASES.includes(now) && html` <small class="ask-step-node">${now}</small>`}</span>
        <${Clock} since=${since} />
      </li>`}
    </ol>
    ${drawing && html`<${Drawn} drawing=${drawing} steps=${own} current=${now} />`}
  </div>`;
}

/** @param {{step: Step}} props */
function Done({ step }) {
  const told = noteOf(step);
  return html`<li class="ask-step">
    <span class="ask-step-mark" aria-hidden="true"></span>
    <span class="ask-step-words">${nodeWords(step.node)} <small class="ask-step-node">${step.node}</small>
      ${told && html`<span class="ask-step-note">${told}</span>`}</span>
    <span class="ask-step-time">${duration(step.seconds)}</span>
  </li>`;
}

/** Counts up without drawing the list anew. @param {{since: number}} props */
export function Clock({ since }) {
  const [now, setNow] = useState(performance.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(performance.now()), 200);
    return () => clearInterval(timer);
  }, []);
  return html`<span class="ask-step-time" aria-hidden="true">${duration(Math.max(0.1, (now - since) / 1000))}</span>`;
}

/** @param {{drawing: Drawing, steps: Step[], current: string}} props */
function Drawn({ drawing, steps, current }) {
  const [large, setLarge] = useState(false);
  const title = t("ask.graph", { agent: t(`ask.agent_${drawing.agent}`) });
  const graph = html`<${Graph} nodes=${drawing.nodes} edges=${drawing.edges} current=${current} visited=${steps} title=${title} />`;
  return html`<div class="ask-steps-graph">
    ${!large && graph}
    <${IconButton} name="zoom-in" label=${t("ask.graph_large")} class="ask-steps-enlarge" onClick=${() => setLarge(true)} />
    ${large && html`<${Dialog} title=${title} wide onClose=${() => setLarge(false)}>${graph}<//>`}
  </div>`;
}

/** The graph of an agent; null where there is none to draw. @param {string} agent */
export function useDrawing(agent) {
  const [drawing, setDrawing] = useState(/** @type {Drawing | null} */ (null));
  useEffect(() => {
    let mine = true;
    setDrawing(null);
    if (agent && agent !== "auto" && agent !== "paper") { // of a paper, it is the states of its session that are drawn
      if (!drawings.has(agent)) drawings.set(agent, get(`/graphs/${encodeURIComponent(agent)}`).catch(() => null));
      drawings.get(agent)?.then((found) => mine && setDrawing(found));
    }
    return () => {
      mine = false;
    };
  }, [agent]);
  return drawing;
}

/** The node at work: where the last step's way leads. @param {Step[]} steps @param {Drawing | null} drawing */
export function nextOf(steps, drawing) {
  if (!drawing) return steps.length ? "working" : "beginning";
  const last = steps.at(-1);
  if (!last) return drawing.nodes[0] ?? "";
  const to = drawing.edges.find(([from, , label]) => from === last.node && label === last.action)?.[1];
  return !to || to === END ? "keeping" : to;
}

/** What a step did, in a few words; empty where its name says it all. @param {Step} step */
export function noteOf({ node, action, detail }) {
  const parts = [];
  if (node === "choose_agent") parts.push(known(`ask.agent_${action}`) ? t(`ask.agent_${action}`) : action);
  if (detail["reason"]) parts.push(said(detail["reason"]));
  if (detail["failed"] && !Array.isArray(detail["failed"]) && typeof detail["failed"].valueOf() === "string") parts.push(said(detail["failed"]));
  if (detail["query"]) parts.push(t("ask.note_query", { text: detail["query"] }));
  else if (detail["standalone"]) parts.push(t("ask.note_query", { text: detail["standalone"] }));
  if (detail["route"] && !detail["reason"]) parts.push(known(`ask.route_${detail["route"]}`) ? t(`ask.route_${detail["route"]}`) : detail["route"]);
  if (Array.isArray(detail["evidence"])) parts.push(t("ask.note_passages", { n: detail["evidence"].length }));
  if (typeof detail["relevant"] === "boolean") parts.push(t(detail["relevant"] ? "ask.note_yes" : "ask.note_no"));
  if (Array.isArray(detail["verdicts"])) parts.push(checked(detail["verdicts"]));
  if (typeof detail["rows"] === "number") parts.push(t("ask.note_rows", { n: detail["rows"] }));
  if (detail["problem"]) parts.push(said(detail["problem"]));
  if (action === "retry" || action === "repair" || action === "retry_retrieve") parts.push(t("ask.note_again"));
  return parts.filter(Boolean).join(" · ");
}

/** @param {unknown[]} verdicts */
function checked(verdicts) {
  const good = verdicts.filter((one) => (Array.isArray(one) ? one[1] : one) === "supported").length;
  return t("ask.note_checked", { good, n: verdicts.length });
}
