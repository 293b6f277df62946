/**
 * Where a question is written and sent. The one rule: Enter sends only what is written to its end; while an input method is
 * composing (Chinese, Japanese), Enter belongs to that.
 */
import { t } from "../i18n.js";
import { go } from "../state.js";
import { keptName } from "../library/kinds.js";
import { html, useEffect, useLayoutEffect, useRef, useState } from "../ui/html.js";
import { Icon } from "../ui/index.js";
import { agent, AGENTS, choice, choose, chooseAgent, countOptions, requestOf, setOption, usual } from "./choices.js";
import { FROM_DOCUMENTS, listOf, shownOf } from "./option_table.js";
import { Chips, Options } from "./options.js";

/** @typedef {import("./types.js").Request} Request */
/** @typedef {{name: string, documents: number}} Collection */

const HIGHEST = 240; // pixels, from which on the text is scrolled
const TEXT = "ask-text"; // its id, so that others can send the reader here

/** Send the reader to the composer. */
export function focusComposer() {
  document.getElementById(TEXT)?.focus();
}

/**
 * @param {object} props
 * @param {import("@preact/signals").Signal<string>} props.text
 * @param {string} props.sessionId
 * @param {boolean} props.onSite  the conversation is about a site already
 * @param {boolean} props.busy
 * @param {boolean} props.mayFinish  what is at work can be asked to answer from what it has
 * @param {Collection[]} props.collections
 * @param {string[]} props.sources
 * @param {(request: Request) => void} props.onSend
 * @param {() => void} props.onStop
 * @param {() => void} props.onFinish
 */
export function Composer({ text, sessionId, onSite, busy, mayFinish, collections, sources, onSend, onStop, onFinish }) {
  const box = useRef(/** @type {HTMLTextAreaElement | null} */ (null));
  const gear = useRef(/** @type {HTMLButtonElement | null} */ (null));
  const [open, setOpen] = useState(false);
  const [lacking, setLacking] = useState("");
  const name = agent.value;
  const count = countOptions(name);

  useLayoutEffect(() => {
    const area = box.current;
    if (!area) return;
    area.style.blockSize = "auto";
    area.style.blockSize = `${Math.min(area.scrollHeight, HIGHEST)}px`;
  }, [text.value]);
  useEffect(() => {
    if (matchMedia("(pointer: fine)").matches) box.current?.focus();
  }, [sessionId]);

  const send = () => {
    const question = text.value.trim();
    if (!question || busy) return;
    if (name === "website" && !onSite && !choice().options["start_urls"] && !/https?:\/\//i.test(question)) {
      setLacking(t("ask.needs_site"));
      document.getElementById("ask-sites")?.focus();
      return;
    }
    setLacking("");
    setOpen(false);
    text.value = "";
    onSend(requestOf(question, sessionId));
  };
  const onKeyDown = (/** @type {KeyboardEvent} */ event) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing || event.keyCode === 229) return;
    event.preventDefault();
    send();
  };
  const onAgent = (/** @type {string} */ chosen) => {
    if (chosen === "paper") go("/papers");
    else chooseAgent(chosen);
  };
  const close = () => {
    setOpen(false);
    gear.current?.focus();
  };
  return html`<form class="composer" aria-label=${t("ask.composer")} onSubmit=${(/** @type {Event} */ event) => (event.preventDefault(), send())}>
    ${name === "website" && html`<${Sites} lacking=${lacking} optional=${onSite} />`}
    <label class="unseen" for=${TEXT}>${t("ask.question")}</label>
    <textarea id=${TEXT} class="composer-text" rows="1" ref=${box} value=${text.value} placeholder=${t(`ask.placeholder_${name}`)}
      aria-describedby="composer-hint" enterkeyhint="send"
      onInput=${(/** @type {any} */ event) => (text.value = event.currentTarget.value)} onKeyDown=${onKeyDown}></textarea>
    ${!open && html`<${Chips} />`}
    <div class="composer-bar">
      <label class="composer-pick"><span class="unseen">${t("ask.agent")}</span>
        <select value=${name} onChange=${(/** @type {any} */ event) => { onAgent(event.currentTarget.value); event.currentTarget.value = agent.value; }}>
          ${AGENTS.map((each) => html`<option key=${each} value=${each}>${t(`ask.agent_${each}`)}</option>`)}
        </select></label>
      ${FROM_DOCUMENTS.includes(name) && collections.length > 0 && html`<${Collections} collections=${collections} />`}
      ${name === "data" && html`<${DataSources} sources=${sources} />`}
      ${shownOf(name).length > 0 && html`<button type="button" class="composer-options" data-options ref=${gear} aria-haspopup="dialog" aria-expanded=${open ? "true" : "false"}
        aria-controls=${open ? "ask-options" : null} aria-label=${count ? t("ask.options_set", { n: count }) : t("ask.options")} onClick=${() => setOpen(!open)}>
        <${Icon} name="filter" /><span class="composer-options-words">${t("ask.options")}</span>
        ${count > 0 && html`<span class="composer-count" aria-hidden="true">${count}</span>`}</button>`}
      <span class="composer-hint" id="composer-hint">${t("ask.keys")}</span>
      ${busy && mayFinish && html`<button type="button" class="button" onClick=${onFinish}>${t("ask.finish")}</button>`}
      ${busy
        ? html`<button type="button" class="composer-send composer-stop" onClick=${onStop} aria-label=${t("ask.stop")} title=${t("ask.stop")}><${Icon} name="stop" /></button>`
        : html`<button type="submit" class="composer-send" disabled=${!text.value.trim()} aria-label=${t("ask.send")} title=${t("ask.send")}><${Icon} name="send" /></button>`}
    </div>
    ${open && html`<${Options} id="ask-options" close=${close} />`}
  </form>`;
}

/** @param {{collections: Collection[]}} props */
function Collections({ collections }) {
  const chosen = choice().collection || usual.value;
  const known = !chosen || collections.some((each) => each.name === chosen);
  return html`<label class="composer-pick"><span class="unseen">${t("ask.collection")}</span>
    <select value=${known ? chosen : ""} onChange=${(/** @type {any} */ event) => choose({ collection: event.currentTarget.value })}>
      ${!usual.value && html`<option value="">${t("ask.any_collection")}</option>`}
      ${collections.map((each) => html`<option key=${each.name} value=${each.name}>${t("ask.collection_of", { name: keptName(each.name) || each.name, n: each.documents })}</option>`)}
    </select></label>`;
}

/** @param {{sources: string[]}} props */
function DataSources({ sources }) {
  if (!sources.length) return html`<a class="composer-none" href="#/data">${t("ask.no_tables")}</a>`;
  const chosen = choice().options["source"] ?? "";
  return html`<label class="composer-pick"><span class="unseen">${t("ask.option_source")}</span>
    <select value=${sources.includes(chosen) ? chosen : ""} onChange=${(/** @type {any} */ event) => setOption("source", event.currentTarget.value)}>
      <option value="">${t("ask.any_tables")}</option>
      ${sources.map((each) => html`<option key=${each} value=${each}>${each}</option>`)}
    </select></label>`;
}

/** Where a question to a web site begins. @param {{lacking: string, optional: boolean}} props */
function Sites({ lacking, optional }) {
  const urls = choice().options["start_urls"] ?? [];
  return html`<div class="composer-sites">
    <label for="ask-sites">${t("ask.option_start_urls")}</label>
    <input id="ask-sites" type="text" inputmode="url" autocomplete="off" spellcheck=${false} value=${urls.join(" ")} placeholder=${t(optional ? "ask.same_site" : "ask.option_start_urls_example")}
      aria-invalid=${lacking ? "true" : "false"} aria-describedby=${lacking ? "ask-sites-lacking" : null}
      onChange=${(/** @type {any} */ event) => setOption("start_urls", listOf(event.currentTarget.value).map(withScheme))} />
    ${lacking && html`<p class="field-error" id="ask-sites-lacking" role="alert">${lacking}</p>`}
  </div>`;
}

/** @param {string} address */
function withScheme(address) {
  return /^[a-z][a-z0-9+.-]*:\/\//i.test(address) ? address : `https://${address}`;
}
