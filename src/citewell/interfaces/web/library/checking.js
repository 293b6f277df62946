/**
 * A text held against a collection, sentence by sentence. The one rule: a verdict has a sign and a word, never a colour alone, and
 * each quote opens where it stands.
 */
import { post } from "../api.js";
import { placed } from "../ask/place.js";
import { t } from "../i18n.js";
import { said } from "../said.js";
import { openSource } from "../source/state.js";
import { figure, percent } from "../ui/figures.js";
import { html, useEffect, useRef, useState } from "../ui/html.js";
import { Badge, Busy, Button, Field, Icon, Problem } from "../ui/index.js";

/**
 * @typedef {import("../ask/types.js").Citation} Citation
 * @typedef {"entailed" | "contradicted" | "not_stated"} Verdict
 * @typedef {{text: string, start: number, end: number, verdict: Verdict, score: number, reason: string, citations: number[]}} Checked
 * @typedef {{sentences: Checked[], citations: Citation[], judge: string, measured: boolean, seconds: number, warnings: string[]}} Result
 */

const LONGEST = 20000; // characters, as the server has it
/** @type {Record<Verdict, string>} */
const SIGNS = { entailed: "check", contradicted: "close", not_stated: "unknown" };
const VERDICTS = /** @type {Verdict[]} */ (["entailed", "contradicted", "not_stated"]);

/** @param {{collection: string}} props */
export function Checking({ collection }) {
  const [text, setText] = useState("");
  const [result, setResult] = useState(/** @type {Result | null} */ (null));
  const [error, setError] = useState(/** @type {unknown} */ (null));
  const [busy, setBusy] = useState(false);
  const line = useRef(/** @type {AbortController | null} */ (null));
  useEffect(() => () => line.current?.abort(), []);
  const check = async (/** @type {Event} */ event) => {
    event.preventDefault();
    if (!text.trim()) return;
    line.current?.abort();
    const mine = (line.current = new AbortController());
    setBusy(true);
    setError(null);
    try {
      setResult(await post("/check", { text, collections: [collection] }, { signal: mine.signal }));
    } catch (problem) {
      if (!mine.signal.aborted) setError(problem);
    }
    if (!mine.signal.aborted) setBusy(false);
  };
  const keys = (/** @type {KeyboardEvent} */ event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && !event.isComposing) void check(event);
  };
  return html`<div class="lib-check">
    <form class="form" onSubmit=${check}>
      <${Field} label=${t("library.check_label")} hint=${t("library.check_hint")} rows=${8} maxlength=${LONGEST} value=${text} onKeyDown=${keys}
        onInput=${(/** @type {any} */ event) => setText(event.currentTarget.value)} />
      <div class="lib-check-foot"><${Button} kind="primary" icon="check" type="submit" busy=${busy} disabled=${!text.trim()}>${t("library.check")}<//></div>
    </form>
    ${busy && html`<${Busy} label=${t("library.checking")} small />`}
    <${Problem} error=${error} />
    ${result && !error && html`<${Results} result=${result} />`}
  </div>`;
}

/** @param {{result: Result}} props */
function Results({ result }) {
  const { sentences, citations } = result;
  const counted = VERDICTS.map((verdict) => ({ verdict, n: sentences.filter((each) => each.verdict === verdict).length }));
  const quotes = new Map(citations.map((citation) => [citation.n, citation]));
  const head = useRef(/** @type {HTMLElement | null} */ (null));
  useEffect(() => {
    const below = (head.current?.getBoundingClientRect().bottom ?? 0) > window.innerHeight * 0.8;
    if (below) head.current?.scrollIntoView({ block: "start" });
  }, [result]);
  return html`<p class="checked-sum" role="status" ref=${head}>
      <strong>${t("library.checked_n", { n: sentences.length })}</strong>
      ${counted.filter(({ n }) => n).map(({ verdict, n }) => html`<span key=${verdict} class=${`checked-count checked-${verdict}`}>
        <${Icon} name=${SIGNS[verdict]} size=${16} />${t(`library.verdict_${verdict}`)} ${n}</span>`)}
      <span class="muted">${t(result.judge ? "library.judged_by" : "library.judged_by_none", { judge: result.judge, seconds: figure(result.seconds) })}</span>
    </p>
    ${result.warnings.map((text) => html`<p key=${text}><${Badge} kind="warn">${said(text)}<//></p>`)}
    <ol class="checked-list">${sentences.map((sentence) => html`<${CheckedSentence} key=${sentence.start} sentence=${sentence} quotes=${quotes} all=${citations} />`)}</ol>`;
}

/** @param {{sentence: Checked, quotes: Map<number, Citation>, all: Citation[]}} props */
function CheckedSentence({ sentence, quotes, all }) {
  const { verdict, score, reason, text } = sentence;
  const shown = sentence.citations.map((n) => quotes.get(n)).filter((citation) => citation !== undefined);
  return html`<li class=${`checked checked-${verdict}`}>
    <p class="checked-head"><span class="checked-mark"><${Icon} name=${SIGNS[verdict]} size=${16} />${t(`library.verdict_${verdict}`)}</span>
      <span class="muted">${t("library.checked_score", { percent: percent(score) })}</span></p>
    <p class="checked-text">${text}</p>
    ${reason && html`<p class="checked-why">${said(reason)}</p>`}
    ${shown.length > 0 && html`<ul class="checked-quotes" aria-label=${t(`library.quotes_${verdict}`)}>
      ${shown.map((citation) => html`<li key=${citation.n}>
        <button type="button" class="checked-quote" title=${t("library.open_source")} onClick=${() => openSource(citation, all)}>
          <span class="source-n" aria-hidden="true">${citation.n}</span>
          <span class="source-words"><span class="source-place">${placed(citation)}</span><q class="source-quote">${citation.quote}</q></span>
        </button>
      </li>`)}
    </ul>`}
  </li>`;
}
