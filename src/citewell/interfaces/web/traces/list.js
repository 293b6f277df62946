/** The traces of this user, newest first, narrowed by agent, status and words. The one rule: the server looks, among all that are kept. */
import { get } from "../api.js";
import { agentName, t } from "../i18n.js";
import { Button } from "../ui/button.js";
import { Field, Select } from "../ui/fields.js";
import { time } from "../ui/figures.js";
import { html, useEffect, useRef, useState } from "../ui/html.js";
import { Busy, Empty, Problem } from "../ui/notice.js";
import { State } from "./said.js";

const PAGE = 50;
const PAUSE = 250; // milliseconds without a key before words are looked for
const AGENTS = ["qa", "dual_loop", "website", "data", "paper"];
const STATES = ["answered", "fallback", "refused", "clarify", "error"];
const NOTHING = { agent: "", status: "", q: "" };

/** @typedef {{ trace_id: string, agent: string, question: string, collection: string, session_id: string, created_at: number, status: string }} Summary */
/** @typedef {typeof NOTHING} Wish */
/** @typedef {{ traces: Summary[], next: string }} Found */

export function List() {
  const [wish, setWish] = useState(NOTHING);
  const { found, error, busy, more, again } = useTraces(wish);
  const narrowed = Object.values(wish).some((each) => each.trim());
  const traces = found?.traces ?? null;
  const whole = traces?.length === 0 && !narrowed && !error;
  return html`<div class="view traces">
    <header class="view-head"><h1>${t("traces.title")}</h1>
      <${Button} small icon="refresh" onClick=${again}>${t("traces.again")}<//></header>
    <p class="lead">${t("traces.about")}</p>
    ${traces && !whole ? html`<${Narrow} wish=${wish} setWish=${setWish} />` : null}
    ${error ? html`<${Problem} error=${error} retry=${again} />` : null}
    ${traces === null && !error ? html`<${Busy} label=${t("traces.loading")} />` : null}
    ${whole ? html`<${Empty} icon="trace" title=${t("traces.empty")} text=${t("traces.empty_about")}
      action=${html`<${Button} kind="primary" href="#/ask">${t("traces.go_ask")}<//>`} />` : null}
    ${traces && narrowed ? html`<p class="muted" role="status">${traces.length || busy ? t(found?.next ? "traces.found_more" : "traces.found", { n: traces.length }) : t("traces.found_none")}</p>` : null}
    <ul class="item-rows" aria-busy=${busy ? "true" : undefined}>${traces?.map((trace) => html`<${Row} key=${trace.trace_id} trace=${trace} />`)}</ul>
    ${found?.next ? html`<p><${Button} busy=${busy} onClick=${more}>${t("traces.load_more")}<//></p>` : null}
  </div>`;
}

/** Those that fit a wish, a page at a time; what was asked for before is let go. @param {Wish} wish */
function useTraces(wish) {
  const [found, setFound] = useState(/** @type {Found | null} */ (null));
  const [error, setError] = useState(/** @type {unknown} */ (null));
  const [busy, setBusy] = useState(false);
  const [turn, setTurn] = useState(0);
  const asked = useRef(/** @type {AbortController | null} */ (null));
  const look = (/** @type {string} */ before, /** @type {Summary[]} */ seen) => {
    asked.current?.abort();
    const mine = (asked.current = new AbortController());
    setBusy(true);
    setError(null);
    const { agent, status, q } = wish;
    get("/traces", { limit: PAGE, before, agent, status, q: q.trim() }, { signal: mine.signal }).then(
      (page) => setFound({ traces: [...seen, ...page.traces], next: page.next }),
      (problem) => mine.signal.aborted || setError(problem),
    ).finally(() => mine === asked.current && setBusy(false));
  };
  useEffect(() => {
    const timer = setTimeout(() => look("", []), wish.q ? PAUSE : 0);
    return () => clearTimeout(timer);
  }, [wish, turn]);
  useEffect(() => () => asked.current?.abort(), []);
  return { found, error, busy, more: () => look(found?.next ?? "", found?.traces ?? []), again: () => setTurn(turn + 1) };
}

/** @param {{ wish: Wish, setWish: (wish: Wish) => void }} props */
function Narrow({ wish, setWish }) {
  const set = (/** @type {string} */ name) => (/** @type {string} */ value) => setWish({ ...wish, [name]: value });
  const any = { value: "", label: t("traces.any") };
  return html`<div class="filters" role="search">
    <${Field} class="grow" type="search" label=${t("traces.words")} maxlength="500" value=${wish.q}
      onInput=${(/** @type {any} */ event) => set("q")(event.currentTarget.value)} />
    <${Select} label=${t("traces.agent")} value=${wish.agent} onChange=${set("agent")}
      options=${[any, ...AGENTS.map((value) => ({ value, label: t(`ask.agent_${value}`) }))]} />
    <${Select} label=${t("traces.status")} value=${wish.status} onChange=${set("status")}
      options=${[any, ...STATES.map((value) => ({ value, label: t(`traces.state_${value}`) }))]} />
  </div>`;
}

/** @param {{ trace: Summary }} props */
function Row({ trace }) {
  return html`<li class="item-row"><a href=${`#/traces/${encodeURIComponent(trace.trace_id)}`}>
    <span class="row-title">${trace.question.slice(0, 400) || t("traces.no_question")}</span>
    <span class="meta"><${State} state=${trace.status} /><span>${agentName(trace.agent)}</span>${trace.collection && html`<span>${trace.collection}</span>`}
      <span>${time(trace.created_at)}</span></span>
  </a></li>`;
}
