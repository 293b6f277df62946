/**
 * An answer with all that proves it: text, verdicts, sources, confidence, warnings, rows, what people say of it.
 * The one rule: an answer that is none (refused, a question back, unproved, an error) looks like none and says what to do next.
 */
import { agentName, known, t } from "../i18n.js";
import { said } from "../said.js";
import { route } from "../state.js";
import { html } from "../ui/html.js";
import { Button, day as dayOf, duration, Icon } from "../ui/index.js";
import { Markdown } from "../ui/markdown.js";
import { DataResult } from "../data/result.js";
import { Feedback } from "./feedback.js";
import { openSource } from "../source/state.js";
import { Sources } from "./sources.js";

/** @typedef {import("./types.js").Answer} Answer */
/** @typedef {import("./types.js").Citation} Citation */
/** @typedef {import("./types.js").Sentence} Sentence */

const HIGH = 0.75; // of a hundred answers of this confidence, so many were right when it was calibrated
const MIDDLE = 0.5;
const MARKS = { refused: "search", clarify: "ask", fallback: "warning", error: "error" };

/**
 * `children`: more buttons in the answer's row; `beside`: what stands below its text; `details`: what its details end with; `after`: what
 * stands below its buttons; `plain`:
 * without feedback and buttons, where another view shows it; `onChoose`: one of the things that a question back names was chosen.
 * @param {{answer: Answer, onCite?: (citation: Citation) => void, onChoose?: (choice: string) => void, children?: any, beside?: any, details?: any, after?: any, plain?: boolean}} props
 */
export function AnswerView({ answer, onCite, onChoose, children = null, beside = null, details = null, after = null, plain = false }) {
  const { status } = answer;
  const { text, proved, unproved } = partsOf(answer);
  const listed = onChoose ? listedChoices(answer) : "";
  const cite = onCite ?? ((/** @type {Citation} */ citation) => openSource(citation, answer.citations, answer));
  return html`<article class=${`answer answer-${status}`} aria-label=${t("ask.answer")}>
    ${status !== "answered" && !listed && !isTalk(answer) && html`<${StatusHead} answer=${answer} partly=${unproved.length > 0} />`}
    ${status === "error"
      ? html`<p class="answer-error">${said(answer.error_info?.["message"]) || answer.answer}</p>`
      : html`<${Markdown} text=${listed ? text.slice(0, -listed.length) : text} citations=${answer.citations} sentences=${proved} onCite=${cite} />`}
    <${Unproved} sentences=${unproved} />
    ${onChoose && status === "clarify" && answer.choices && answer.choices.length > 1 && html`<ul class="answer-choices" aria-label=${t("ask.choices")}>
      ${answer.choices.map((each) => html`<li key=${each}><button type="button" class="button" onClick=${() => onChoose(each)}>${each}</button></li>`)}
    </ul>`}
    <${Followed} answer=${answer} />
    ${answer.data?.columns && html`<${DataResult} data=${answer.data} traceId=${answer.trace_id} />`}
    <${Doubts} answer=${answer} apart=${unproved.length} />
    ${answer.warnings.length > 0 && html`<ul class="answer-warnings" aria-label=${t("ask.warnings")}>
      ${answer.warnings.map((text) => html`<li key=${text}><${Icon} name="warning" /><span>${said(text)}</span></li>`)}
    </ul>`}
    ${beside}
    <${Sources} citations=${answer.citations} onCite=${cite} />
    <${SmallPrint} answer=${answer}>${details}<//>
    ${!plain && html`<footer class="answer-foot">
      ${children}
      ${answer.trace_id && status !== "error" && html`<${Feedback} traceId=${answer.trace_id} />`}
    </footer>`}
    ${after}
  </article>`;
}

/** The end of a text that lists what can be chosen, which are buttons here; empty where it does not. @param {Answer} answer */
function listedChoices({ answer: text, choices = [] }) {
  const list = choices.map((each) => `- ${each}`).join("\n");
  return list && text.endsWith(list) ? list : "";
}

/** Whether it only greets back: nothing is asked, and nothing can be chosen. @param {Answer} answer */
function isTalk({ status, answer: text, choices = [] }) {
  return status === "clarify" && !choices.length && !/[?？]/.test(text);
}

/**
 * The text without what stands unproved behind it, which is shown apart.
 * @param {Answer} answer
 * @returns {{text: string, proved: Sentence[], unproved: Sentence[]}}
 */
function partsOf({ answer: text, sentences }) {
  const unproved = sentences.filter((sentence) => sentence.verdict === "unsupported");
  const tail = unproved.map((sentence) => `\n- ${sentence.text}`).join("");
  const heading = tail && text.endsWith(tail) ? text.slice(0, -tail.length) : "";
  if (!/[:：]$/.test(heading)) return { text, proved: sentences, unproved: [] };
  const proved = sentences.filter((sentence) => sentence.verdict !== "unsupported");
  return { text: heading.slice(0, heading.lastIndexOf("\n") + 1).trimEnd(), proved, unproved };
}

/** What kind of no-answer this is, why, and what to do. `partly`: some of it is proved. @param {{answer: Answer, partly: boolean}} props */
function StatusHead({ answer, partly }) {
  const { status, stop_reason: stop } = answer;
  const hint = said(answer.error_info?.["hint"]);
  const ended = `ask.next_${answer.stop_reason}`;
  const special = known(ended) ? ended : `ask.next_${status}_${answer.agent}`;
  return html`<header class="answer-head">
    <${Icon} name=${MARKS[/** @type {keyof typeof MARKS} */ (status)]} />
    <div>
      <strong>${t(`ask.status_${status}`)}</strong>
      ${stop && known(`ask.stop_${stop}`) && html`<span class="answer-stop">${t(`ask.stop_${stop}`)}</span>`}
      <p class="answer-next">${(status === "error" && hint) || t(partly ? "ask.next_partly" : known(special) ? special : `ask.next_${status}`)}</p>
      ${stop === "no_model" && html`<p><${Button} small icon="settings" href="#/settings">${t("ask.choose_model")}<//></p>`}
    </div>
  </header>`;
}

/** What the documents do not prove, under its own heading, with the reason of each. @param {{sentences: Sentence[]}} props */
function Unproved({ sentences }) {
  if (!sentences.length) return null;
  return html`<section class="answer-unproved" aria-label=${t("ask.unproved")}>
    <h3><${Icon} name="warning" size=${18} />${t("ask.unproved")}</h3>
    <p class="muted">${t("ask.unproved_hint")}</p>
    <ul>${sentences.map((sentence, n) => html`<li key=${n}>
      ${sentence.text}
      ${sentence.problems.length > 0 && html`<span class="doubt-why">${sentence.problems.map(said).join(t("ask.joint"))}</span>`}
      ${sentence.calculation && html`<small class="sentence-note">${sentence.calculation}</small>`}
    </li>`)}</ul>
  </section>`;
}

/** Sentences that are not fully proved, and what is wrong with each. `apart`: how many stand under their own heading. @param {{answer: Answer, apart: number}} props */
function Doubts({ answer, apart }) {
  const { good, all, doubtful } = countProved(answer);
  if (!doubtful.length || answer.status === "error") return null;
  if (apart && doubtful.length === apart) return html`<p class="answer-proved answer-partly"><${Icon} name="warning" />${t("ask.some_proved", { good, n: all })}</p>`;
  return html`<details class="answer-doubts">
    <summary>${t("ask.some_proved", { good, n: all })}</summary>
    <ul>
      ${doubtful.map((sentence, n) => html`<li key=${n}>
        <q>${sentence.text}</q>
        <span class=${`doubt doubt-${sentence.verdict}`}>${t(`ask.verdict_${sentence.verdict}`)}</span>
        ${sentence.problems.length > 0 && html`<span class="doubt-why">${sentence.problems.map(said).join(t("ask.joint"))}</span>`}
      </li>`)}
    </ul>
  </details>`;
}

/** @param {Answer} answer */
function countProved({ sentences }) {
  const said = sentences.filter((sentence) => sentence.kind !== "not_told" || sentence.verdict !== "supported");
  const doubtful = said.filter((sentence) => sentence.verdict !== "supported");
  return { all: said.length, good: said.length - doubtful.length, doubtful };
}

/** That every sentence is proved, where that is so; empty where it is not, or where nothing is said. @param {Answer} answer */
function provedWords(answer) {
  const { all, doubtful } = countProved(answer);
  if (!answer.sentences.length || answer.status === "error" || doubtful.length) return "";
  if (!all) return t("ask.one_not_told");
  // of an answer that is not certain they are the sources' words, which may be about something else
  const [one, more] = answer.status === "fallback" ? ["ask.one_stands", "ask.all_stand"] : ["ask.one_proved", "ask.all_proved"];
  return t(all === 1 ? one : more, { n: all });
}

/** What people have confirmed, and this answer follows. @param {{answer: Answer}} props */
function Followed({ answer }) {
  if (!answer.followed.length) return null;
  return html`<ul class="answer-followed" aria-label=${t("ask.followed")}>
    ${answer.followed.map((each) => {
      const names = each.confirmed_by.join(t("ask.joint")) || t("ask.somebody");
      const day = each.confirmed_at ? dayOf(each.confirmed_at) : "";
      return html`<li key=${each.item_id}>
        <${Icon} name="check" />
        <span>${t(`ask.followed_${each.kind}`, { names, day })}${" "}
          <a href=${`#/knowledge?item=${encodeURIComponent(each.item_id)}`}>${each.question || each.item_id}</a>${" "}
          <small>${known(`ask.how_${each.how}`) ? t(`ask.how_${each.how}`) : each.how}</small></span>
      </li>`;
    })}
  </ul>`;
}

/** One quiet line: proved, how sure, how long; what that means, who answered and why, and what it cost behind it. @param {{answer: Answer, children?: any}} props */
function SmallPrint({ answer, children }) {
  const { confidence, usage, status } = answer;
  const level = confidence >= HIGH ? "high" : confidence >= MIDDLE ? "middle" : "low";
  const percent = Math.round(confidence * 100);
  const given = (status === "answered" || status === "fallback") && (answer.citations.length > 0 || answer.data !== null); // "I will remember" is no answer
  const rated = given && answer.route !== "overview"; // how well quotes sum something up was not calibrated
  const total = usage.seconds["total"];
  const proved = provedWords(answer);
  return html`<details class="answer-small">
    <summary>
      ${proved && html`<span class="answer-proved"><${Icon} name=${answer.sentences.every((each) => each.kind === "not_told") ? "info" : "check"} size=${16} />${proved}</span>`}
      ${rated && html`<span class=${`confidence confidence-${level}`}>${t("ask.confidence", { n: percent })}</span>`}
      ${total !== undefined && html`<span>${duration(total)}</span>`}
      <span class="answer-more">${t("ask.details")}</span>
    </summary>
    ${given && html`<p>${t(rated ? `ask.confidence_${level}` : "ask.confidence_overview", { n: percent })}</p>`}
    <p class="answer-facts">
      <span>${agentName(answer.agent)}${answer.agent_reason && html`${t("ask.colon")}${said(answer.agent_reason)}`}</span>
      ${usage.calls > 0 && html`<span>${t("ask.calls", { n: usage.calls, tokens: usage.prompt_tokens + usage.completion_tokens })}</span>`}
      ${answer.trace_id && route.value.parts.join("/") !== `traces/${answer.trace_id}` && html`<a href=${`#/traces/${encodeURIComponent(answer.trace_id)}`}>${t("ask.trace")}</a>`}
    </p>
    ${children}
  </details>`;
}
