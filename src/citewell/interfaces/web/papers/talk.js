/** Questions and answers of a reading session, and quietly how each came about. */

import { AnswerView } from "../ask/answer.js";
import { html, useEffect, useRef } from "../ui/html.js";
import { Button, Empty } from "../ui/index.js";
import { t } from "../i18n.js";
import { How } from "./how.js";
import { LiveView, Question } from "./live.js";

/** @typedef {import("./reading.js").Reading} Reading */
/** @typedef {import("./types.js").Exchange} Exchange */
/** @typedef {import("./types.js").Answer} Answer */

/** @param {{reading: Reading}} props */
export function TalkView({ reading }) {
  const end = useRef(/** @type {HTMLDivElement | null} */ (null));
  const session = reading.session.value;
  const live = reading.live.value;
  const count = session?.answers.length ?? 0;
  useEffect(() => end.current?.scrollIntoView({ block: "nearest" }), [Boolean(live)]);
  const last = useRef(/** @type {HTMLLIElement | null} */ (null));
  useEffect(() => last.current?.scrollIntoView({ block: "start" }), [count]);
  if (!session) return null;
  const asking = live && live.message.kind === "message" && Boolean(session.plan);
  return html`<div class="paper-talk">
    ${!count && !asking && html`<${Empty} icon="quote" title=${t("papers.talk.empty.title")} text=${t("papers.talk.empty.text")} />`}
    <ol class="paper-exchanges">
      ${session.answers.map((each, n) => html`<li key=${each.trace_id || n} ref=${n === count - 1 ? last : null}>
        <${Question} text=${each.question} />
        <${Answered} exchange=${each} reading=${reading} />
      </li>`)}
    </ol>
    ${asking && html`<${LiveView} reading=${reading} />`}
    <${Elsewhere} reading=${reading} />
    <div ref=${end}></div>
  </div>`;
}

/** What another tab or process is answering, and what was stopped before its end. @param {{reading: Reading}} props */
function Elsewhere({ reading }) {
  const session = reading.session.value;
  const busy = reading.live.value?.busy;
  if (!session || busy) return null;
  const said = (/** @type {string} */ question) => question || t("papers.talk.elsewhere.route");
  return html`${session.under_way.map(
      (each) => html`<p class="paper-note" key=${each.trace_id} role="status">
        ${t("papers.talk.elsewhere", { question: said(each.question) })}
      </p>`,
    )}
    ${session.unfinished.map(
      (each) => html`<div class="paper-unfinished" key=${each.trace_id}>
        <p>${t("papers.talk.unfinished", { question: said(each.question) })}</p>
        <${Button} small icon="play" onClick=${() => reading.resume(each)}>${t("papers.talk.resume")}<//>
      </div>`,
    )}`;
}

/** An exchange as an answer is shown. @param {Exchange} each @param {string} sessionId @returns {Answer} */
function answerOf(each, sessionId) {
  const { answer, sentences, citations, status, confidence, trace_id, warnings } = each;
  const nothing = { agent_reason: "", route: "", stop_reason: "", usage: { calls: 0, prompt_tokens: 0, completion_tokens: 0, seconds: {} } };
  const kept = { answer, sentences, citations, status, confidence, trace_id, warnings, agent: "paper", session_id: sessionId };
  return { ...nothing, ...kept, data: null, followed: [], error_info: null };
}

/** @param {{exchange: Exchange, reading: Reading}} props */
function Answered({ exchange, reading }) {
  const onCite = (/** @type {any} */ citation) => reading.see(citation);
  return html`<${AnswerView} answer=${answerOf(exchange, reading.id)} onCite=${onCite} />
    <${How} exchange=${exchange} reading=${reading} />`;
}
