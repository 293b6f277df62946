/**
 * Ask: the composer with who is asked and where; and a conversation held right beside what it is about, such as tables or a site.
 * The one rule: what belongs to no such conversation, a file or a whole mail, is taken to the part of the page that is for conversations.
 */
import { get } from "../api.js";
import { t } from "../i18n.js";
import { go, link, online } from "../state.js";
import { stray } from "../ui/drop.js";
import { html, useEffect, useRef, useState } from "../ui/html.js";
import { Button } from "../ui/index.js";
import { agent, AGENTS, choice, choiceOf, choose, chooseAgent, known, requestOf, setOption } from "./choices.js";
import { Composer, focusComposer } from "./composer.js";
import { listOf } from "./option_table.js";
import { Chips, Options } from "./options.js";
import { Places } from "./places.js";
import { beginTalk, send, sessions, talkOf } from "./talks.js";
import { TurnView } from "./turn.js";

/** @typedef {import("./talks.js").Talk} Talk */
/** @typedef {import("./talks.js").Turn} Turn */
/** @typedef {import("./choices.js").Fixed} Fixed */

/**
 * `fixed`: what is asked, where a part of the page is about it.
 * @param {{talk: Talk, fixed?: Fixed | null, placeholder?: string, away?: (files: File[]) => void}} props
 */
export function Asking({ talk, fixed = null, placeholder = "", away }) {
  const [lacking, setLacking] = useState("");
  const name = fixed?.agent ?? agent.value;
  const site = name === "website" && !fixed?.collection; // it is named here
  const run = talk.turns.value.find((turn) => turn.run?.busy.value)?.run;
  const onSite = sessionOf(talk)?.agent === "website" || Boolean(fixed ? fixed.collection : site && choice(name).collection);
  useEffect(() => {
    if (!fixed && matchMedia("(pointer: fine)").matches) focusComposer();
  }, [talk.id.value]);
  const may = (/** @type {string} */ question) => {
    const knows = !site || onSite || choice(name).options["start_urls"] || /https?:\/\//i.test(question);
    setLacking(knows ? "" : t("ask.needs_site"));
    if (!knows) document.getElementById("ask-sites")?.focus();
    return Boolean(knows);
  };
  const onSend = async (/** @type {string} */ question) => {
    const request = requestOf(question, talk, fixed);
    const ids = request.options?.["doc_ids"];
    if (ids && talk.shelf.value) {
      const { documents } = await get(`/collections/${encodeURIComponent(talk.shelf.value)}/documents`);
      request.options = { ...request.options, doc_ids: [...ids, ...documents.map((/** @type {{doc_id: string}} */ each) => each.doc_id)] };
    }
    await send(talk, request);
  };
  const onAgent = (/** @type {any} */ event) => {
    const chosen = event.currentTarget.value;
    if (chosen === "paper") go("/papers");
    else chooseAgent(chosen);
    event.currentTarget.value = agent.value;
  };
  const pages = run ? run.pages.value.length > 0 || Boolean(run.traceId.value && run.steps.value.some((step) => step.node === "CrawlAndExtract")) : false;
  const finish = () => run?.finish().catch((/** @type {unknown} */ error) => (run.error.value = error));
  const picks = fixed
    ? site && html`<${Options} agent=${name} />`
    : html`<label class="composer-pick"><span class="unseen">${t("ask.agent")}</span>
        <select value=${name} onChange=${onAgent}>${AGENTS.map((each) => html`<option key=${each} value=${each}>${t(`ask.agent_${each}`)}</option>`)}</select></label>
      <${Places} /><${Options} agent=${name} />`;
  return html`<${Composer} talk=${talk} placeholder=${placeholder || t(`ask.placeholder_${name}`)} busy=${Boolean(run)} onSend=${onSend} onStop=${() => run?.stop()}
      onFinish=${pages && !run?.ending.value ? finish : null} away=${away} may=${may} until=${fixed ? undefined : known} picks=${picks}>
      ${site && html`<${StartPages} lacking=${lacking} optional=${onSite} />`}
      ${(!fixed || site) && html`<${Chips} agent=${name} />`}
    <//>
    <p class="unseen" aria-live="polite">${said(talk.turns.value)}</p>`;
}

/**
 * A conversation beside what it is about. `place`: the name of it, with an `@`.
 * @param {{place: string, fixed: Fixed, label: string, placeholder?: string, away?: (files: File[]) => void, onAnswer?: () => void}} props
 */
export function AskHere({ place, fixed, label, placeholder, away, onAnswer }) {
  const [, drawAgain] = useState(0);
  const box = useRef(/** @type {HTMLDivElement | null} */ (null));
  const talk = talkOf(place);
  const turns = talk.turns.value;
  const came = turns.filter((turn) => turn.run?.answer.value).length;
  useEffect(() => {
    if (turns.length) box.current?.lastElementChild?.scrollIntoView({ block: "start" });
  }, [turns.length, came]);
  useEffect(() => {
    if (came) onAnswer?.();
  }, [came]);
  return html`<section class="ask-here" aria-label=${label}>
    <div ref=${box}>${turns.map((turn, n) => html`<${TurnView} key=${turn.key} talk=${talk} turn=${turn} last=${n === turns.length - 1} onEdit=${() => editIn(talk, turn)} />`)}</div>
    <${Asking} talk=${talk} fixed=${fixed} placeholder=${placeholder} away=${away ?? ((/** @type {File[]} */ files) => takeToAsk(talk, files, fixed.collection ? { collection: fixed.collection, options: {} } : undefined))} />
    ${turns.length > 0 && html`<div class="row">
      <${Button} small kind="quiet" icon="plus" onClick=${() => (beginTalk(place), drawAgain((n) => n + 1))}>${t("ask.new_talk")}<//>
      ${talk.id.value && html`<${Button} small kind="quiet" icon="ask" href=${link("ask", talk.id.value)}>${t("ask.as_talk")}<//>`}
    </div>`}
  </section>`;
}

/** What is written, and files, to a new conversation, about what it was about. @param {Pick<Talk, "text">} talk @param {File[]} files @param {{collection: string, options: Record<string, any>}} [about] */
export function takeToAsk(talk, files, about) {
  beginTalk();
  const there = talkOf("");
  there.text.value = [there.text.value, talk.text.value].filter(Boolean).join("\n");
  talk.text.value = "";
  chooseAgent("auto");
  if (about) choose({ ...about, more: [] });
  stray.value = files;
  go("/ask");
}

/** Its words, to be asked otherwise. @param {Talk} talk @param {Turn} turn */
export function editIn(talk, turn) {
  if (!talk.place) choiceOf(turn.request);
  talk.text.value = turn.question;
  focusComposer();
}

/** What is kept of a conversation. @param {Talk} talk */
export function sessionOf(talk) {
  return sessions.value?.find((each) => each.session_id === talk.id.value) ?? talk.session.value;
}

/** What is read out: that it is at work, then the answer itself; the draft is not. @param {Turn[]} turns */
function said(turns) {
  const run = turns.at(-1)?.run;
  if (!run) return "";
  if (run.busy.value) return t("ask.working");
  if (run.error.value) return t("ask.failed");
  return run.answer.value ? t("ask.said", { text: run.answer.value.answer.replace(/\[\d+\]/g, "") }) : "";
}

/** Where a question to a web site begins. @param {{lacking: string, optional: boolean}} props */
function StartPages({ lacking, optional }) {
  const urls = choice("website").options["start_urls"] ?? [];
  const onChange = (/** @type {any} */ event) => {
    choose({ collection: "" }, "website"); // no kept site is meant
    setOption("start_urls", listOf(event.currentTarget.value).map(withScheme), "website");
  };
  return html`<div class="composer-sites">
    <label for="ask-sites">${t("ask.option_start_urls")}</label>
    <input id="ask-sites" type="text" inputmode="url" autocomplete="off" autocapitalize="off" spellcheck=${false} value=${urls.join(" ")} placeholder=${t(optional ? "ask.same_site" : "ask.option_start_urls_example")}
      aria-invalid=${lacking ? "true" : "false"} aria-describedby=${lacking ? "ask-sites-lacking" : null}
      onChange=${onChange} />
    ${lacking && html`<p class="field-error" id="ask-sites-lacking" role="alert">${lacking}</p>`}
  </div>`;
}

/** @param {string} address */
function withScheme(address) {
  return /^[a-z][a-z0-9+.-]*:\/\//i.test(address) ? address : `https://${address}`;
}
