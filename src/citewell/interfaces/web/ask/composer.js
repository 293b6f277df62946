/**
 * Where a question is written and sent. The one rule: Enter sends only what is written to its end; while an input method is
 * composing (Chinese, Japanese), Enter belongs to that.
 */
import { t } from "../i18n.js";
import { go, me } from "../state.js";
import { keptName } from "../library/kinds.js";
import { html, useEffect, useLayoutEffect, useRef, useState } from "../ui/html.js";
import { DropAnywhere, FileButton, stray } from "../ui/drop.js";
import { figure } from "../ui/figures.js";
import { Icon, toast } from "../ui/index.js";
import { allRead, attach, detach } from "./attachments.js";
import { agent, AGENTS, ALL, choice, choose, chooseAgent, countOptions, known, requestOf, setOption, tick, tickedOf, usual } from "./choices.js";
import { LONGEST_QUESTION, LONGEST_TEXT, questionIn } from "./long_text.js";
import { FROM_DOCUMENTS, listOf, shownOf } from "./option_table.js";
import { Chips, Options } from "./options.js";

/** @typedef {import("./types.js").Request} Request */
/** @typedef {{name: string, documents: number}} Collection */

const HIGHEST = 240; // pixels, from which on the text is scrolled
const SCANNED = "library.advice_scanned";
const SEVERAL = "+"; // in the place of a collection: those that are ticked
const TEXT = "ask-text"; // its id, so that others can send the reader here

/** Send the reader to the composer. */
export function focusComposer() {
  document.getElementById(TEXT)?.focus();
}

/**
 * @param {object} props
 * @param {import("./talks.js").Talk} props.talk
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
export function Composer({ talk, sessionId, onSite, busy, mayFinish, collections, sources, onSend, onStop, onFinish }) {
  const box = useRef(/** @type {HTMLTextAreaElement | null} */ (null));
  const gear = useRef(/** @type {HTMLButtonElement | null} */ (null));
  const [open, setOpen] = useState(false);
  const [lacking, setLacking] = useState("");
  const [reading, setReading] = useState(false);
  const { text, attached } = talk;
  const { question: asked, material } = questionIn(text.value);
  const mayAttach = me.value?.role !== "reader";
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

  const add = (/** @type {File[]} */ files) => void (mayAttach ? attach(talk, files) : toast(t("ask.may_not_attach")));
  const strays = stray.value; // dropped on another part of the page
  useEffect(() => {
    if (!strays.length) return;
    stray.value = [];
    add(strays);
  }, [strays]);
  const send = async () => {
    const { question, material } = questionIn(text.value);
    if (!question || busy || reading) return;
    if (name === "website" && !onSite && !choice().options["start_urls"] && !/https?:\/\//i.test(question)) {
      setLacking(t("ask.needs_site"));
      document.getElementById("ask-sites")?.focus();
      return;
    }
    setLacking("");
    setOpen(false);
    if (material && mayAttach) add([asFile(material)]);
    setReading(true);
    await Promise.all([allRead(talk), known]);
    setReading(false);
    text.value = "";
    attached.value = [];
    onSend(requestOf(question, talk.id.value, talk.shelf.value));
  };
  const onPaste = (/** @type {ClipboardEvent} */ event) => {
    const files = [...(event.clipboardData?.files ?? [])];
    const pasted = event.clipboardData?.getData("text/plain") ?? "";
    if (!files.length && text.value.length + pasted.length <= LONGEST_TEXT) return;
    event.preventDefault();
    add(files.length ? files : [asFile(pasted)]);
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
    <${DropAnywhere} label=${t("ask.drop_here")} onFiles=${(/** @type {{file: File}[]} */ found) => add(found.map((each) => each.file))} />
    <${Files} talk=${talk} />
    ${FROM_DOCUMENTS.includes(name) && choice().more && html`<${Ticks} collections=${collections} />`}
    ${name === "website" && html`<${Sites} lacking=${lacking} optional=${onSite} />`}
    <label class="unseen" for=${TEXT}>${t("ask.question")}</label>
    <textarea id=${TEXT} class="composer-text" rows="1" ref=${box} value=${text.value} placeholder=${t(`ask.placeholder_${name}`)}
      aria-describedby="composer-hint" enterkeyhint="send" maxlength=${LONGEST_TEXT} onPaste=${onPaste}
      onInput=${(/** @type {any} */ event) => (text.value = event.currentTarget.value)} onKeyDown=${onKeyDown}></textarea>
    ${material && html`<p class="composer-found" role="status"><strong>${t("ask.question_found")}</strong>${" "}${asked}${" "}
      <span class="muted">${t("ask.question_rest")}</span></p>`}
    ${!open && html`<${Chips} />`}
    <div class="composer-bar">
      <${FileButton} label=${t("ask.attach")} bare icon="clip" disabled=${!mayAttach} onFiles=${(/** @type {FileList | null} */ list) => add([...(list ?? [])])} />
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
      <span class="composer-hint" id="composer-hint">${reading ? t("ask.reading_files") : text.value.length > LONGEST_QUESTION - 100
        ? t("ask.length", { n: figure(text.value.length), most: figure(LONGEST_TEXT) }) : t("ask.keys")}</span>
      ${busy && mayFinish && html`<button type="button" class="button" onClick=${onFinish}>${t("ask.finish")}</button>`}
      ${busy
        ? html`<button type="button" class="composer-send composer-stop" onClick=${onStop} aria-label=${t("ask.stop")} title=${t("ask.stop")}><${Icon} name="stop" /></button>`
        : html`<button type="submit" class="composer-send" disabled=${!text.value.trim() || reading} aria-label=${t("ask.send")} title=${t("ask.send")}><${Icon} name="send" /></button>`}
    </div>
    ${open && html`<${Options} id="ask-options" close=${close} />`}
  </form>`;
}

/** @param {string} text */
function asFile(text) {
  return new File([text], `${t("ask.pasted_text")}.txt`, { type: "text/plain" });
}

/** @param {{talk: import("./talks.js").Talk}} props */
function Files({ talk }) {
  if (!talk.attached.value.length) return null;
  return html`<ul class="composer-files" aria-label=${t("ask.attached")}>
    ${talk.attached.value.map((each) => html`<li key=${each.id} class=${`composer-file composer-file-${each.state}`}>
      ${each.state === "reading" ? html`<span class="spinner" aria-hidden="true"></span>` : html`<${Icon} name=${each.state === "read" ? "file" : "warning"} size=${16} />`}
      <span>${each.name}</span>${each.advice === SCANNED ? html`<small>${t(SCANNED)} <a href="#/settings">${t("frame.settings")}</a></small>` : each.why && html`<small>${each.why}</small>`}
      <button type="button" aria-label=${t("ask.detach", { name: each.name })} title=${t("ask.detach", { name: each.name })}
        onClick=${() => (detach(talk, each.id), focusComposer())}><${Icon} name="close" size=${14} /></button>
    </li>`)}
  </ul>`;
}

/** @param {{collections: Collection[]}} props */
function Collections({ collections }) {
  const chosen = choice().collection || usual.value;
  const filled = collections.filter((each) => each.documents > 0);
  const known = !chosen || chosen === ALL || collections.some((each) => each.name === chosen);
  const onChange = (/** @type {string} */ name) => {
    const one = chosen === ALL ? (filled[0]?.name ?? "") : chosen;
    choose(name === SEVERAL ? { collection: one, more: [] } : { collection: name, more: undefined });
  };
  return html`<label class="composer-pick"><span class="unseen">${t("ask.collection")}</span>
    <select value=${choice().more ? SEVERAL : known ? chosen : ""} onChange=${(/** @type {any} */ event) => onChange(event.currentTarget.value)}>
      ${!usual.value && html`<option value="">${t("ask.any_collection")}</option>`}
      ${collections.map((each) => html`<option key=${each.name} value=${each.name}>${t("ask.collection_of", { name: keptName(each.name) || each.name, n: each.documents })}</option>`)}
      ${(filled.length > 2 || choice().more) && html`<option value=${SEVERAL}>${t("ask.several_collections")}</option>`}
      ${filled.length > 1 && html`<option value=${ALL}>${t("ask.all_collections", { n: filled.length })}</option>`}
    </select></label>`;
}

/** Which collections are asked together. @param {{collections: Collection[]}} props */
function Ticks({ collections }) {
  const ticked = tickedOf();
  return html`<fieldset class="composer-ticks">
    <legend class="unseen">${t("ask.ticked")}</legend>
    ${collections.filter((each) => each.documents > 0).map((each) => html`<label key=${each.name}>
      <input type="checkbox" checked=${ticked.includes(each.name)} disabled=${ticked.length === 1 && ticked[0] === each.name} onChange=${() => tick(each.name)} />
      ${t("ask.collection_of", { name: keptName(each.name) || each.name, n: each.documents })}</label>`)}
  </fieldset>`;
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
