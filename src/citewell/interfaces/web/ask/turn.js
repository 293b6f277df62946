/** A question and its answer, kept or in the making. The one rule: a draft says that it is one, until the proved answer replaces it. */
import { get } from "../api.js";
import { t } from "../i18n.js";
import { html, useEffect, useRef, useState } from "../ui/html.js";
import { Busy, Button, duration, IconButton, time, toast } from "../ui/index.js";
import { Markdown } from "../ui/markdown.js";
import { AnswerView } from "./answer.js";
import { asMarkdown, copyText } from "./copy.js";
import { Lost } from "./lost.js";
import { Steps } from "./steps.js";
import { again, askAnew } from "./talks.js";

/** @typedef {import("./talks.js").Talk} Talk */
/** @typedef {import("./talks.js").Turn} Turn */
/** @typedef {import("./types.js").Answer} Answer */
/** @typedef {import("./types.js").Step} Step */
/** @typedef {import("./stream.js").Run} Run */

/** @param {{talk: Talk, turn: Turn, last: boolean, onAnswer: (turn: HTMLElement) => void, onEdit: (turn: Turn) => void}} props */
export function TurnView({ talk, turn, last, onAnswer, onEdit }) {
  const box = useRef(/** @type {HTMLElement | null} */ (null));
  const { run } = turn;
  const answer = run ? run.answer.value : turn.answer;
  const came = Boolean(run && answer);
  useEffect(() => {
    if (came && last && box.current) onAnswer(box.current);
  }, [came]);
  return html`<div class="turn" ref=${box}>
    <header class="question">
      <h2 class="question-text">${turn.question}</h2>
      ${turn.at > 0 && html`<time class="question-time">${time(turn.at)}</time>`}
    </header>
    ${run ? html`<${Making} talk=${talk} turn=${turn} run=${run} last=${last} onEdit=${onEdit} />`
      : html`<${Kept} talk=${talk} turn=${turn} last=${last} onEdit=${onEdit} />`}
  </div>`;
}

/** @param {{talk: Talk, turn: Turn, last: boolean, onEdit: (turn: Turn) => void}} props */
function Kept({ talk, turn, last, onEdit }) {
  if (turn.answer) {
    return html`<${Whole} talk=${talk} turn=${turn} answer=${turn.answer} last=${last} onEdit=${onEdit}>
      <${KeptSteps} answer=${turn.answer} />
    <//>`;
  }
  return html`<div class="answer"><${Markdown} text=${turn.said ?? ""} /><p class="hint">${t("ask.only_words")}</p></div>`;
}

/** @param {{talk: Talk, turn: Turn, run: Run, last: boolean, onEdit: (turn: Turn) => void}} props */
function Making({ talk, turn, run, last, onEdit }) {
  const answer = run.answer.value;
  const busy = run.busy.value;
  const agent = turn.request.agent ?? "auto";
  if (answer && !busy) {
    return html`<${Whole} talk=${talk} turn=${turn} answer=${answer} last=${last} onEdit=${onEdit}>
      <details class="steps-fold"><summary>${t("ask.steps_done", { n: run.steps.value.length, time: duration(answer.usage.seconds["total"] ?? total(run.steps.value)) })}</summary>
        <${Steps} agent=${agent} steps=${run.steps.value} pages=${run.pages.value} /></details>
    <//>`;
  }
  return html`<div class="making" aria-busy=${busy ? "true" : "false"}>
    ${busy && html`<details class="steps-fold" open><summary>${t("ask.steps_now")}</summary>
      <${Steps} agent=${agent} steps=${run.steps.value} pages=${run.pages.value} busy since=${run.since.value} /></details>`}
    ${busy && run.ending.value && html`<p class="hint" role="status">${t("ask.finishing")}</p>`}
    ${busy && run.draft.value && html`<div class="draft">
      <p class="draft-head"><span class="draft-badge">${t("ask.draft")}</span> ${t("ask.draft_hint")}</p>
      <${Markdown} text=${run.draft.value} />
    </div>`}
    ${run.stopped.value && html`<div class="stopped" role="status">
      <p>${t(run.resumable.value ? "ask.was_stopped" : "ask.was_stopped_early")}</p>
      <div class="stopped-foot">
        ${run.resumable.value && html`<${Button} kind="primary" icon="play" onClick=${() => again(talk, turn, true)}>${t("ask.go_on")}<//>`}
        <${Button} icon="refresh" onClick=${() => again(talk, turn, false)}>${t("ask.ask_again")}<//>
        <${Button} icon="edit" onClick=${() => onEdit(turn)}>${t("ask.edit")}<//>
      </div>
    </div>`}
    ${run.error.value && html`<${Lost} run=${run} />
      <div class="stopped-foot">
        ${run.resumable.value && html`<${Button} kind="primary" icon="play" onClick=${() => again(talk, turn, true)}>${t("ask.go_on")}<//>`}
        <${Button} icon="refresh" disabled=${run.looking.value} onClick=${() => again(talk, turn, false)}>${t("ask.ask_again")}<//>
        <${Button} icon="edit" onClick=${() => onEdit(turn)}>${t("ask.edit")}<//>
      </div>`}
  </div>`;
}

/** @param {{talk: Talk, turn: Turn, answer: Answer, last: boolean, onEdit: (turn: Turn) => void, children?: any}} props */
function Whole({ talk, turn, answer, last, onEdit, children }) {
  const choose = (/** @type {string} */ choice) => void askAnew(talk, { ...turn, question: choice });
  return html`<${AnswerView} answer=${answer} onChoose=${last ? choose : undefined}>
    <div class="answer-actions">
      <${IconButton} name="copy" label=${t("ask.copy_answer")} onClick=${() => copyText(asMarkdown(turn.question, answer))} />
      <${IconButton} name="refresh" label=${t("ask.ask_again")} onClick=${() => askAnew(talk, turn)} />
      <${IconButton} name="edit" label=${t("ask.edit")} onClick=${() => onEdit(turn)} />
    </div>
    ${children}
  <//>`;
}

/** Steps of an answer that was made before, fetched when somebody wants to see them. @param {{answer: Answer}} props */
function KeptSteps({ answer }) {
  const [steps, setSteps] = useState(/** @type {Step[] | null} */ (null));
  const [open, setOpen] = useState(false);
  const show = async (/** @type {any} */ event) => {
    setOpen(event.currentTarget.open);
    if (!event.currentTarget.open || steps) return;
    try {
      setSteps((await get(`/traces/${encodeURIComponent(answer.trace_id)}`)).steps);
    } catch (error) {
      toast(error);
    }
  };
  const seconds = answer.usage.seconds["total"];
  return html`<details class="steps-fold" onToggle=${show}>
    <summary>${seconds === undefined ? t("ask.steps") : t("ask.steps_kept", { time: duration(seconds) })}</summary>
    ${open && (steps ? html`<${Steps} agent=${answer.agent} steps=${steps} />` : html`<${Busy} />`)}
  </details>`;
}

/** @param {Step[]} steps */
function total(steps) {
  return steps.reduce((sum, step) => sum + step.seconds, 0);
}
