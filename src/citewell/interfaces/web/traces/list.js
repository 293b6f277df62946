/** The traces of this user, newest first, narrowed by agent, status and words. */
import { get } from "../api.js";
import { t } from "../i18n.js";
import { Button } from "../ui/button.js";
import { Field, Select } from "../ui/fields.js";
import { time } from "../ui/figures.js";
import { html, useEffect, useMemo, useState } from "../ui/html.js";
import { Busy, Empty, Problem } from "../ui/notice.js";
import { State } from "./said.js";

const PAGE = 50;
const MOST = 500; // that the server gives at once

/** @typedef {{ trace_id: string, agent: string, question: string, collection: string, session_id: string, created_at: number, status: string }} Summary */

export function List() {
  const [traces, setTraces] = useState(/** @type {Summary[] | null} */ (null));
  const [error, setError] = useState(/** @type {unknown} */ (null));
  const [limit, setLimit] = useState(PAGE);
  const [turn, setTurn] = useState(0);
  const [wish, setWish] = useState({ agent: "", status: "", words: "" });
  useEffect(() => {
    const stop = new AbortController();
    setError(null);
    get("/traces", { limit }, { signal: stop.signal }).then((found) => setTraces(found.traces), (problem) => {
      if (!stop.signal.aborted) setError(problem);
    });
    return () => stop.abort();
  }, [limit, turn]);
  const found = useMemo(() => (traces ?? []).filter((trace) => fits(trace, wish)), [traces, wish]);
  const more = traces !== null && traces.length >= limit && limit < MOST;
  const narrowed = Object.values(wish).some(Boolean);
  return html`<div class="view traces">
    <header class="view-head"><h1>${t("traces.title")}</h1>
      <${Button} small icon="refresh" onClick=${() => setTurn(turn + 1)}>${t("traces.again")}<//></header>
    <p class="lead">${t("traces.about")}</p>
    ${traces?.length ? html`<${Narrow} traces=${traces} wish=${wish} setWish=${setWish} />` : null}
    ${error ? html`<${Problem} error=${error} retry=${() => setTurn(turn + 1)} />` : null}
    ${traces === null && !error ? html`<${Busy} label=${t("traces.loading")} />` : null}
    ${traces?.length === 0 ? html`<${Empty} icon="trace" title=${t("traces.empty")} text=${t("traces.empty_about")}
      action=${html`<${Button} kind="primary" href="#/ask">${t("traces.go_ask")}<//>`} />` : null}
    ${traces?.length && narrowed ? html`<p class="muted" role="status">${t("traces.found", { n: found.length, all: traces.length })}</p>` : null}
    <ul class="item-rows">${found.map((trace) => html`<${Row} key=${trace.trace_id} trace=${trace} />`)}</ul>
    ${more ? html`<p><${Button} onClick=${() => setLimit(limit === PAGE ? 200 : MOST)}>${t("traces.load_more")}<//></p>` : null}
    ${traces !== null && traces.length >= MOST ? html`<p class="muted">${t("traces.most", { n: MOST })}</p>` : null}
  </div>`;
}

/** @param {{ traces: Summary[], wish: any, setWish: (wish: any) => void }} props */
function Narrow({ traces, wish, setWish }) {
  const set = (/** @type {string} */ name) => (/** @type {string} */ value) => setWish({ ...wish, [name]: value });
  const any = { value: "", label: t("traces.any") };
  const agents = [...new Set(traces.map((trace) => trace.agent))].sort();
  const states = [...new Set(traces.map((trace) => trace.status))].sort();
  return html`<div class="filters" role="search">
    <${Field} class="grow" type="search" label=${t("traces.words")} value=${wish.words}
      onInput=${(/** @type {any} */ event) => set("words")(event.currentTarget.value)} />
    <${Select} label=${t("traces.agent")} value=${wish.agent} onChange=${set("agent")}
      options=${[any, ...agents.map((name) => ({ value: name, label: name }))]} />
    <${Select} label=${t("traces.status")} value=${wish.status} onChange=${set("status")}
      options=${[any, ...states.map((name) => ({ value: name, label: t(`traces.state_${name}`) }))]} />
  </div>`;
}

/** @param {{ trace: Summary }} props */
function Row({ trace }) {
  return html`<li class="item-row"><a href=${`#/traces/${encodeURIComponent(trace.trace_id)}`}>
    <span class="row-title">${trace.question.slice(0, 400)}</span>
    <span class="meta"><${State} state=${trace.status} /><span>${trace.agent}</span>${trace.collection && html`<span>${trace.collection}</span>`}
      <span>${time(trace.created_at)}</span></span>
  </a></li>`;
}

/** @param {Summary} trace @param {{ agent: string, status: string, words: string }} wish */
function fits(trace, { agent, status, words }) {
  const wanted = words.trim().toLowerCase();
  return (!agent || trace.agent === agent) && (!status || trace.status === status)
    && (!wanted || `${trace.question} ${trace.trace_id} ${trace.collection}`.toLowerCase().includes(wanted));
}
