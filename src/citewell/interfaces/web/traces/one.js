/** One trace: how an answer came about, from the question to the last step, and what comes out today. */
import { del, get } from "../api.js";
import { AnswerView } from "../ask/answer.js";
import { agentName, t } from "../i18n.js";
import { go } from "../state.js";
import { Graph, chainOf } from "../ui/graph.js";
import { useSubject } from "../frame/subject.js";
import { Button } from "../ui/button.js";
import { duration, time } from "../ui/figures.js";
import { html, useEffect, useState } from "../ui/html.js";
import { Icon } from "../ui/icon.js";
import { Busy, Problem } from "../ui/notice.js";
import { Text, Value } from "./value.js";
import { Copy, save } from "./copy.js";
import { Parts } from "./parts.js";
import { Prompts } from "./prompts.js";
import { Replay } from "./replay.js";
import { Sure } from "./sure.js";
import { Steps } from "./steps.js";
import { Usage } from "./usage.js";
import { State } from "./said.js";

const TABS = ["answer", "steps", "prompts", "snapshot", "usage", "replay"];

/** @param {{ id: string, tab: string }} props */
export function One({ id, tab }) {
  const [trace, setTrace] = useState(/** @type {any} */ (null));
  const [error, setError] = useState(/** @type {unknown} */ (null));
  const [turn, setTurn] = useState(0);
  useSubject(trace?.question);
  useEffect(() => {
    const stop = new AbortController();
    setError(null);
    setTrace(null);
    get(`/traces/${encodeURIComponent(id)}`, {}, { signal: stop.signal }).then(setTrace, (problem) => {
      if (!stop.signal.aborted) setError(problem);
    });
    return () => stop.abort();
  }, [id, turn]);
  const back = html`<p class="trace-back"><a class="lib-back" href="#/traces"><${Icon} name="arrow-left" size=${16} />${" "}${t("traces.all_traces")}</a></p>`;
  if (error) return html`<div class="view traces">${back}<${Problem} error=${error} retry=${() => setTurn(turn + 1)} /></div>`;
  if (!trace) return html`<div class="view traces">${back}<${Busy} label=${t("traces.loading")} /></div>`;
  const current = TABS.includes(tab) ? tab : "answer";
  const counts = { steps: trace.steps.length, prompts: trace.prompts.length };
  const parts = TABS.map((name) => ({
    href: `#/traces/${encodeURIComponent(id)}?tab=${name}`, label: t(`traces.tab_${name}`), current: name === current,
    count: counts[/** @type {keyof typeof counts} */ (name)],
  }));
  return html`<div class="view traces">${back}
    <${Head} trace=${trace} />
    <${Parts} parts=${parts} label=${t("traces.parts")} />
    <section class="trace-part" aria-label=${t(`traces.tab_${current}`)} key=${current}>
      <h2 class="unseen">${t(`traces.tab_${current}`)}</h2>
      ${current === "answer" && html`<${AnswerView} answer=${trace.answer} />`}
      ${current === "steps" && html`<${Way} trace=${trace} />`}
      ${current === "prompts" && html`<${Prompts} prompts=${trace.prompts} />`}
      ${current === "snapshot" && html`<${Snapshot} trace=${trace} />`}
      ${current === "usage" && html`<${Usage} usage=${trace.answer.usage} prompts=${trace.prompts} />`}
      ${current === "replay" && html`<${Replay} trace=${trace} />`}
    </section>
  </div>`;
}

/** @param {{ trace: any }} props */
function Head({ trace }) {
  const [asking, setAsking] = useState(false);
  const total = trace.answer.usage.seconds.total;
  async function remove() {
    await del(`/traces/${encodeURIComponent(trace.trace_id)}`);
    go("/traces");
  }
  return html`<header class="trace-head">
    <h1 class="trace-question"><${Text} text=${trace.question} most=${300} /></h1>
    <p class="meta"><${State} state=${trace.answer.status} /><span>${agentName(trace.agent)}</span>
      ${trace.collection && html`<span>${trace.collection}</span>`}<span>${time(trace.created_at)}</span>
      ${total !== undefined && html`<span>${duration(total)}</span>`}
      <code>${trace.trace_id}</code></p>
    <p class="muted small">${t("traces.kept_until", { day: time(trace.expires_at) })}</p>
    <div class="filters">
      <${Copy} label=${t("traces.copy_id")} text=${() => trace.trace_id} />
      <${Button} small icon="download" onClick=${() => save(`${trace.trace_id}.json`, JSON.stringify(trace, null, 2))}>${t("traces.download")}<//>
      <${Button} small kind="danger" icon="trash" onClick=${() => setAsking(true)}>${t("traces.delete")}<//>
    </div>
    ${asking && html`<${Sure} title=${t("traces.delete_sure")} text=${t("traces.delete_about")} yes=${t("traces.delete")}
      act=${remove} close=${() => setAsking(false)} />`}
  </header>`;
}

/** @param {{ trace: any }} props */
function Way({ trace }) {
  const [graph, setGraph] = useState(/** @type {any} */ (null));
  useEffect(() => {
    get(`/graphs/${encodeURIComponent(trace.agent)}`).then(setGraph, () => setGraph(chainOf(trace.steps)));
  }, [trace.trace_id]);
  const follows = graph && trace.steps.some((/** @type {any} */ step) => graph.nodes.includes(step.node));
  const drawn = graph && (follows ? graph : chainOf(trace.steps)); // a paper's steps are no nodes of its states
  return html`<div class="trace-way">
    <${Steps} steps=${trace.steps} prompts=${trace.prompts} />
    ${drawn && trace.steps.length > 0 && html`<div class="trace-graph"><h2>${t("traces.graph")}</h2>
      <${Graph} nodes=${drawn.nodes} edges=${drawn.edges} visited=${trace.steps} /></div>`}
  </div>`;
}

/** The chain of thought of spec 004. @param {{ trace: any }} props */
function Snapshot({ trace }) {
  const { snapshot, request } = trace;
  if (!snapshot) return html`<p class="muted">${t("traces.no_snapshot")}</p>`;
  const intent = snapshot.intent_analysis;
  return html`<div class="snapshot">
    <dl class="item-facts">
      <div><dt>${t("traces.asked")}</dt><dd><${Text} text=${snapshot.user_query} /></dd></div>
      <div><dt>${t("traces.asked_at")}</dt><dd>${time(Date.parse(snapshot.timestamp) / 1000)} <span class="muted">${snapshot.timestamp}</span></dd></div>
      <div><dt>${t("traces.intent")}</dt><dd>${intent.intent_type || t("traces.nothing")}</dd></div>
      <div><dt>${t("traces.reasoning")}</dt><dd><${Text} text=${intent.reasoning || t("traces.nothing")} /></dd></div>
      <div><dt>${t("traces.parameters")}</dt><dd><${Value} value=${intent.parameters} /></dd></div>
      <div><dt>${t("traces.logic")}</dt><dd>${snapshot.generated_logic
        ? html`<pre class="logic" tabindex="0">${snapshot.generated_logic}</pre>` : t("traces.nothing")}</dd></div>
      <div><dt>${t("traces.outcome")}</dt><dd>${snapshot.execution_status}</dd></div>
      <div><dt>${t("traces.final_answer")}</dt><dd><${Text} text=${snapshot.final_answer} /></dd></div>
    </dl>
    <h2>${t("traces.request")}</h2>
    <p class="muted">${t("traces.request_about")}</p>
    <${Value} value=${request} />
  </div>`;
}
