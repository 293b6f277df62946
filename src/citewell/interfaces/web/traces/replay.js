/** The stored steps run again, and what comes out otherwise. The one rule: before and now stand side by side, in words. */
import { post } from "../api.js";
import { t } from "../i18n.js";
import { said } from "../said.js";
import { me } from "../state.js";
import { Button } from "../ui/button.js";
import { Check } from "../ui/fields.js";
import { html, useEffect, useRef, useState } from "../ui/html.js";
import { Busy, Problem } from "../ui/notice.js";
import { Value } from "./value.js";
import { pieces } from "./words_differ.js";

/** @typedef {{ where: string, what: string, before: unknown, now: unknown }} Difference */
/**
 * @typedef {object} Replayed
 * @property {boolean} same
 * @property {boolean} recorded
 * @property {Difference[]} differences
 * @property {string[]} unknown_prompts
 * @property {string[]} notes
 * @property {{ steps: unknown[] }} replayed
 */
/** @typedef {{ trace_id: string, agent: string, request: Record<string, unknown>, prompts: unknown[] }} Trace */

/** @param {{ trace: Trace }} props */
export function Replay({ trace }) {
  const [found, setFound] = useState(/** @type {Replayed | null} */ (null));
  const [error, setError] = useState(/** @type {unknown} */ (null));
  const [busy, setBusy] = useState("");
  const [fetch, setFetch] = useState(false);
  const stop = useRef(/** @type {AbortController | null} */ (null));
  useEffect(() => () => stop.current?.abort(), []);

  /** @param {boolean} recorded */
  async function run(recorded) {
    stop.current = new AbortController();
    setBusy(recorded ? "recorded" : "live");
    setError(null);
    setFound(null);
    try {
      setFound(await post(`/traces/${encodeURIComponent(trace.trace_id)}/replay`, { recorded, fetch }, { signal: stop.current.signal }));
    } catch (problem) {
      if (!(problem instanceof DOMException && problem.name === "AbortError")) setError(problem);
    } finally {
      setBusy("");
    }
  }

  if (!Object.keys(trace.request ?? {}).length) return html`<p class="muted">${t("traces.replay_old")}</p>`;
  const web = trace.agent === "website" || trace.agent === "dual_loop";
  return html`<div class="trace-replay">
    <p>${t("traces.replay_about")}</p>
    <div class="filters">
      <${Button} kind="primary" icon="play" disabled=${Boolean(busy)} onClick=${() => run(true)}
        aria-describedby="replay-recorded">${t("traces.replay_recorded")}<//>
      <${Button} icon="play" disabled=${Boolean(busy)} onClick=${() => run(false)} aria-describedby="replay-live">${t("traces.replay_live")}<//>
      ${web && html`<${Check} label=${t("traces.replay_fetch")} checked=${fetch} onChange=${setFetch} disabled=${me.value?.role === "reader"}
        hint=${me.value?.role === "reader" ? t("traces.replay_fetch_not") : ""} />`}
      ${busy && html`<${Button} icon="stop" onClick=${() => stop.current?.abort()}>${t("traces.stop")}<//>`}
    </div>
    <ul class="muted small"><li id="replay-recorded">${t("traces.replay_recorded_about")}</li>
      <li id="replay-live">${t("traces.replay_live_about")}</li></ul>
    <div role="status">
      ${busy && html`<${Busy} label=${t("traces.replaying")} />`}
      ${found && html`<${Outcome} found=${found} />`}
    </div>
    ${error && html`<${Problem} error=${error} />`}
  </div>`;
}

/** @param {{ found: Replayed }} props */
function Outcome({ found }) {
  const steps = found.replayed.steps.length;
  const outcome = found.same ? t("traces.replay_same", { n: steps }) : t("traces.replay_differs", { n: found.differences.length });
  return html`<div class="replay-outcome">
    <p class=${`outcome ${found.same ? "good" : "bad"}`}><strong>${outcome}</strong>
      <span class="muted"> ${t(found.recorded ? "traces.replayed_recorded" : "traces.replayed_live")}</span></p>
    ${found.notes.length > 0 && html`<h3>${t("traces.replay_notes")}</h3><ul>${found.notes.map((note) => html`<li key=${note}>${said(note)}</li>`)}</ul>`}
    ${found.differences.length > 0 && html`<h3>${t("traces.replay_where")}</h3>
      <ol class="differences">${found.differences.map((each, n) => html`<${Differs} key=${n} each=${each} />`)}</ol>`}
    ${found.unknown_prompts.length > 0 && html`<h3>${t("traces.replay_unknown", { n: found.unknown_prompts.length })}</h3>
      <ul>${found.unknown_prompts.slice(0, 20).map((text, n) => html`<li key=${n}><pre tabindex="0">${text}</pre></li>`)}</ul>`}
  </div>`;
}

/** @param {{ each: Difference }} props */
function Differs({ each }) {
  const texts = typeof each.before === "string" && typeof each.now === "string";
  const [before, now] = texts ? pieces(/** @type {string} */ (each.before), /** @type {string} */ (each.now)) : [null, null];
  return html`<li class="difference">
    <p class="difference-where"><strong>${each.where === "answer" ? t("traces.answer") : each.where}</strong> <code>${each.what}</code></p>
    <dl>
      <div class="before"><dt>${t("traces.before")}</dt><dd>${before ? html`<${Marked} pieces=${before} tag="del" />` : html`<${Value} value=${each.before} />`}</dd></div>
      <div class="now"><dt>${t("traces.now")}</dt><dd>${now ? html`<${Marked} pieces=${now} tag="ins" />` : html`<${Value} value=${each.now} />`}</dd></div>
    </dl>
  </li>`;
}

/** @param {{ pieces: { text: string, differs: boolean }[], tag: "del" | "ins" }} props */
function Marked({ pieces: parts, tag }) {
  return html`<span class="value-text">${parts.map((part, n) => (part.differs ? html`<${tag} key=${n}>${part.text}</${tag}>` : part.text))}</span>`;
}
