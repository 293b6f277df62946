/** A question and its answer, kept or in the making. The one rule: a draft says that it is one, until the proved answer replaces it. */
import { get } from "../api.js";
import { t } from "../i18n.js";
import { link, me } from "../state.js";
import { html, useEffect, useState } from "../ui/html.js";
import { Busy, Button, IconButton, time, toast } from "../ui/index.js";
import { Markdown } from "../ui/markdown.js";
import { AnswerView } from "./answer.js";
import { usual } from "./choices.js";
import { asMarkdown, copyText } from "./copy.js";
import { Passages, passagesOf } from "./evidence.js";
import { FROM_DOCUMENTS } from "./option_table.js";
import { NextQuestions } from "./questions.js";
import { Lost } from "./lost.js";
import { Steps } from "./steps.js";
import { again, askAnew } from "./talks.js";
import { Fold, Visited, Waiting } from "./waiting.js";

/** @typedef {import("./talks.js").Talk} Talk */
/** @typedef {import("./talks.js").Turn} Turn */
/** @typedef {import("./types.js").Answer} Answer */
/** @typedef {import("./types.js").Step} Step */
/** @typedef {import("./types.js").Visit} Visit */
/** @typedef {import("./stream.js").Run} Run */

/** @param {{talk: Talk, turn: Turn, last: boolean, onEdit: (turn: Turn) => void}} props */
export function TurnView({ talk, turn, last, onEdit }) {
  const { run } = turn;
  return html`<div class=${`turn${last ? " turn-last" : ""}`}>
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
  const { answer } = turn;
  const [steps, setSteps] = useState(/** @type {Step[] | null} */ (null));
  const fetch = async () => steps ?? setSteps((await get(`/traces/${encodeURIComponent(answer?.trace_id ?? "")}`)).steps);
  const refused = answer?.status === "refused";
  useEffect(() => {
    if (refused && answer.trace_id) fetch().catch(() => undefined); // the cards are a help, and no more
  }, [answer?.trace_id]);
  if (!answer) return html`<div class="answer"><${Markdown} text=${turn.said ?? ""} /><p class="hint">${t("ask.only_words")}</p></div>`;
  return html`<${Whole} talk=${talk} turn=${turn} answer=${answer} steps=${steps ?? []} last=${last} onEdit=${onEdit}>
    <${Fold} label=${t("ask.steps")} onOpen=${() => fetch().catch(toast)}>
      ${steps ? html`<${Steps} agent=${answer.agent} steps=${steps} />` : html`<${Busy} />`}<//>
  <//>`;
}

/** @param {{talk: Talk, turn: Turn, run: Run, last: boolean, onEdit: (turn: Turn) => void}} props */
function Making({ talk, turn, run, last, onEdit }) {
  const answer = run.answer.value;
  const busy = run.busy.value;
  const agent = turn.request.agent ?? "auto";
  if (answer && !busy) {
    return html`<${Whole} talk=${talk} turn=${turn} answer=${answer} steps=${run.steps.value} pages=${run.pages.value} last=${last} onEdit=${onEdit}>
      <${Fold} label=${t("ask.steps")}><${Steps} agent=${agent} steps=${run.steps.value} /><//>
    <//>`;
  }
  return html`<div class="making" aria-busy=${busy ? "true" : "false"}>
    ${busy && html`<${Waiting} run=${run} agent=${agent} />`}
    ${run.stopped.value && html`<div class="stopped" role="status">
      <p>${t(run.resumable.value ? "ask.was_stopped" : "ask.was_stopped_early")}</p>
      <${Ways} talk=${talk} turn=${turn} run=${run} onEdit=${onEdit} />
    </div>`}
    ${run.error.value && html`<${Lost} run=${run} /><${Ways} talk=${talk} turn=${turn} run=${run} onEdit=${onEdit} />`}
  </div>`;
}

/** On from a question that was not answered. @param {{talk: Talk, turn: Turn, run: Run, onEdit: (turn: Turn) => void}} props */
function Ways({ talk, turn, run, onEdit }) {
  return html`<div class="stopped-foot">
    ${run.resumable.value && html`<${Button} kind="primary" icon="play" onClick=${() => again(talk, turn, true)}>${t("ask.go_on")}<//>`}
    <${Button} icon="refresh" disabled=${run.looking.value} onClick=${() => again(talk, turn, false)}>${t("ask.ask_again")}<//>
    <${Button} icon="edit" onClick=${() => onEdit(turn)}>${t("ask.edit")}<//>
  </div>`;
}

/** `pages`: of a site, that were read for it. @param {{talk: Talk, turn: Turn, answer: Answer, steps: Step[], pages?: Visit[], last: boolean, onEdit: (turn: Turn) => void, children?: any}} props */
function Whole({ talk, turn, answer, steps, pages = [], last, onEdit, children }) {
  const choose = (/** @type {string} */ choice) => void askAnew(talk, { ...turn, question: choice });
  const told = (answer.status === "answered" || answer.status === "fallback") && answer.citations.length > 0;
  const collection = FROM_DOCUMENTS.includes(answer.agent) && last ? turn.request.collection || usual.value || me.value?.collection || "" : "";
  return html`<${AnswerView} answer=${answer} onChoose=${last ? choose : undefined} details=${children}
    after=${html`${pages.length > 0 && html`<${Fold} label=${t("sites.pages_visited", { n: pages.length })} opened=${answer.status === "refused"}><${Visited} visits=${pages} busy=${false} /><//>`}
      ${answer.status !== "refused" && last && answer.elsewhere && html`<div class="stopped-foot"><${AskThere} talk=${talk} turn=${turn} elsewhere=${answer.elsewhere} /></div>`}
      ${told && collection && html`<${NextQuestions} collection=${collection} cited=${answer.citations} asked=${talk.turns.value.map((each) => each.question)} onAsk=${choose} />`}`}
    beside=${answer.status === "refused" && html`<${Passages} passages=${passagesOf(steps)} label=${t("ask.nearest")} />
      ${last && html`<${Onward} talk=${talk} turn=${turn} answer=${answer} onEdit=${onEdit} />`}`}>
    <div class="answer-actions">
      <${IconButton} name="copy" label=${t("ask.copy_answer")} onClick=${() => copyText(asMarkdown(turn.question, answer))} />
      <${IconButton} name="refresh" label=${t("ask.ask_again")} onClick=${() => askAnew(talk, turn)} />
      <${IconButton} name="edit" label=${t("ask.edit")} onClick=${() => onEdit(turn)} />
    </div>
  <//>`;
}

/** To who may know it, or more of it. @param {{talk: Talk, turn: Turn, elsewhere: NonNullable<Answer["elsewhere"]>, kind?: "primary"}} props */
function AskThere({ talk, turn, elsewhere, kind }) {
  const { agent, source, collection } = elsewhere;
  const askThere = () => {
    const options = { ...turn.request.options };
    delete options["source"];
    if (source) options["source"] = source;
    void askAnew(talk, { ...turn, request: { ...turn.request, agent, options, ...(collection && { collection }) } });
  };
  return html`<${Button} kind=${kind} icon=${source ? "table" : "search"} onClick=${askThere}>
    ${t(source ? "ask.ask_tables" : "ask.ask_documents", { name: source })}<//>`;
}

/** What to do where it is not told. @param {{talk: Talk, turn: Turn, answer: Answer, onEdit: (turn: Turn) => void}} props */
function Onward({ talk, turn, answer, onEdit }) {
  const { elsewhere } = answer;
  const { agent = "auto", collection } = turn.request;
  const once = ["auto", "qa"].includes(agent) && answer.agent !== "dual_loop"; // which has searched so
  const thorough = () => void askAnew(talk, { ...turn, request: { ...turn.request, agent: "dual_loop" } });
  return html`<div class="stopped-foot">
    ${elsewhere && html`<${AskThere} talk=${talk} turn=${turn} elsewhere=${elsewhere} kind="primary" />`}
    <${Button} icon="edit" onClick=${() => onEdit(turn)}>${t("ask.reword")}<//>
    ${once && html`<${Button} icon="search" onClick=${thorough}>${t("ask.search_thoroughly")}<//>`}
    ${agent !== "website" && agent !== "data" && html`<${Button} icon="plus" href=${collection ? link("library", collection) : "#/library"}>${t("ask.add_documents")}<//>`}
  </div>`;
}
