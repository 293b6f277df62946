/**
 * Ask tables in plain words: the question, its steps as they come, the answer, and what it was read from. The one rule: a question is
 * never sent while the one before is still at work.
 */
import { AnswerView } from "../ask/answer.js";
import { Lost } from "../ask/lost.js";
import { Steps } from "../ask/steps.js";
import { Fold, Waiting } from "../ask/waiting.js";
import { get } from "../api.js";
import { t } from "../i18n.js";
import { go } from "../state.js";
import { html, useEffect, useRef, useState } from "../ui/html.js";
import { Button } from "../ui/index.js";
import { beginTalk, send, talkOf as talk } from "../ask/talks.js";
import { askAgain, askData, forget, talkOf } from "./talk.js";

/** @typedef {import("./talk.js").Turn} Turn */

/** `source`: the tables that are asked; empty: whichever fit. @param {{source: string, label: string}} props */
export function Asking({ source, label }) {
  const [text, setText] = useState("");
  const talk = talkOf(source).value;
  const last = talk.at(-1);
  const busy = last?.run.busy.value ?? false;
  const turns = useRef(/** @type {HTMLDivElement | null} */ (null));
  const came = Boolean(last?.run.answer.value);
  const example = useExample(source);
  useEffect(() => {
    if (talk.length) turns.current?.lastElementChild?.scrollIntoView({ block: "start" });
  }, [talk.length, came]);
  const send = (/** @type {Event} */ event) => {
    event.preventDefault();
    if (busy || !text.trim()) return;
    void askData(source, text.trim());
    setText("");
  };
  const keys = (/** @type {KeyboardEvent} */ event) => event.key === "Enter" && !event.shiftKey && !event.isComposing && event.keyCode !== 229 && send(event);
  return html`<section class="data-ask" aria-label=${label}>
    <div class="data-turns" ref=${turns}>${talk.map((turn) => html`<${OneTurn} key=${turn.n} source=${source} turn=${turn} last=${turn === last} />`)}</div>
    <form class="data-composer" onSubmit=${send}>
      <label class="unseen" for=${`data-question-${source}`}>${t("data.question")}</label>
      <textarea id=${`data-question-${source}`} rows="2" maxlength="2000" placeholder=${example || t("data.question_hint")} value=${text}
        onInput=${(/** @type {any} */ event) => setText(event.currentTarget.value)} onKeyDown=${keys}></textarea>
      <div class="data-composer-foot">
        <span class="muted">${!talk.length && t("data.no_question_yet")}</span>
        ${talk.length > 0 && html`<${Button} kind="quiet" icon="plus" onClick=${() => forget(source)}>${t("data.new_talk")}<//>`}
        ${busy
          ? html`<${Button} icon="stop" onClick=${() => last?.run.stop()}>${t("data.stop")}<//>`
          : html`<${Button} kind="primary" icon="send" type="submit" disabled=${!text.trim()}>${t("data.ask")}<//>`}
      </div>
    </form>
  </section>`;
}

/** A question that these very tables can answer: the sum of a number for each value of a text. @param {string} source */
function useExample(source) {
  const [found, setFound] = useState(/** @type {{number: string, text: string} | null} */ (null));
  useEffect(() => {
    setFound(null);
    if (!source) return;
    let here = true;
    get(`/data/sources/${encodeURIComponent(source)}/schema`).then((schema) => here && setFound(exampleOf(schema.tables)), () => undefined);
    return () => {
      here = false;
    };
  }, [source]);
  return found ? t("data.placeholder", found) : "";
}

/** @param {import("./tables.js").Table[]} tables */
function exampleOf(tables) {
  for (const { columns, primary_key, foreign_keys } of tables) {
    const keys = new Set([...primary_key, ...foreign_keys.flatMap((each) => each.columns)]);
    const number = columns.findLast((each) => each.kind === "number" && !keys.has(each.name) && !/(^|_)id$/i.test(each.name));
    const text = columns.find((each) => each.kind === "text" && !keys.has(each.name));
    if (number && text) return { number: number.name, text: text.name };
  }
  return null;
}

/** The question once more, where its answer may be. @param {string} question @param {{source: string, collection: string}} place */
function askThere(question, { source, collection }) {
  if (source) {
    void askData(source, question);
    return go(`/data/${encodeURIComponent(source)}`);
  }
  beginTalk();
  void send(talk(""), { question, agent: "qa", collection });
  go("/ask");
}

/** @param {{question: string, place: {source: string, collection: string}}} props */
function Proposal({ question, place }) {
  return html`<p><${Button} kind="primary" icon=${place.source ? "table" : "search"} onClick=${() => askThere(question, place)}>
    ${t(place.source ? "ask.ask_tables" : "ask.ask_documents", { name: place.source })}<//></p>`;
}

/** @param {{source: string, turn: Turn, last: boolean}} props */
function OneTurn({ source, turn, last }) {
  const { run, question } = turn;
  const [busy, answer, steps] = [run.busy.value, run.answer.value, run.steps.value];
  const again = () => askAgain(source, turn);
  return html`<div class="data-turn">
    <h2 class="data-question"><span class="unseen">${t("data.you_asked")}:${" "}</span>${question}</h2>
    <div aria-live="polite">
      ${busy && html`<${Waiting} run=${run} agent="data" />`}
      ${answer && html`<${AnswerView} answer=${answer} onChoose=${last && !busy ? (/** @type {string} */ choice) => askData(source, choice) : undefined}
        beside=${last && answer.elsewhere && html`<${Proposal} question=${question} place=${answer.elsewhere} />`}
        details=${html`<${Fold} label=${t("ask.steps")}><${Steps} agent="data" steps=${steps} /><//>`} />`}
      ${run.error.value && html`<${Lost} run=${run} />
        <p><${Button} small icon="refresh" onClick=${again}>${t("data.ask_again")}<//></p>`}
      ${run.stopped.value && html`<p class="muted">${t("data.stopped")}${" "}<${Button} small onClick=${again}>${t("data.ask_again")}<//></p>`}
    </div>
  </div>`;
}
