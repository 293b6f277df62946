/**
 * Where a question is written and sent, on every part of the page. The one rule: Enter sends only what is written to its end; while an
 * input method is composing (Chinese, Japanese), Enter belongs to that.
 */
import { t } from "../i18n.js";
import { me } from "../state.js";
import { html, useEffect, useLayoutEffect, useRef, useState } from "../ui/html.js";
import { DropAnywhere, FileButton, stray } from "../ui/drop.js";
import { figure } from "../ui/figures.js";
import { Icon, toast } from "../ui/index.js";
import { allRead, attach, detach } from "./attachments.js";
import { LONGEST_QUESTION, LONGEST_TEXT, questionIn } from "./long_text.js";

/** @typedef {import("./talks.js").Talk} Talk */

const HIGHEST = 240; // pixels, from which on the text is scrolled
const SCANNED = "library.advice_scanned";
const TEXT = "ask-text"; // its id, so that others can send the reader here

/** Send the reader to the composer. */
export function focusComposer() {
  document.getElementById(TEXT)?.focus();
}

/**
 * @param {object} props
 * @param {Pick<Talk, "text"> & Partial<Talk>} props.talk  what is written, and what is attached
 * @param {string} props.placeholder
 * @param {(question: string) => void} props.onSend
 * @param {string} [props.label]
 * @param {boolean} [props.busy]
 * @param {boolean} [props.closed]  nothing can be asked now
 * @param {boolean} [props.bare]  it can be sent without words
 * @param {() => void} [props.onStop]
 * @param {(() => void) | null} [props.onFinish]  what is at work can be asked to answer from what it has
 * @param {(files: File[]) => void} [props.away]  who takes files and long texts where the conversation does not
 * @param {(question: string) => boolean} [props.may]  whether it can be sent as it is
 * @param {Promise<unknown>} [props.until]  before which nothing is sent
 * @param {any} [props.picks]  what stands in its bar
 * @param {any} [props.children]  what stands above its text
 */
export function Composer({ talk, placeholder, onSend, label = t("ask.question"), busy = false, closed = false, bare = false, onStop, onFinish, away, may, until, picks, children }) {
  const box = useRef(/** @type {HTMLTextAreaElement | null} */ (null));
  const [reading, setReading] = useState(false);
  const { text } = talk;
  const own = away ? null : /** @type {Talk} */ (talk); // what is attached belongs to it
  const { question: asked, material } = questionIn(text.value);
  const mayAttach = me.value?.role !== "reader";
  const nothing = closed || reading || (!text.value.trim() && !bare);

  useLayoutEffect(() => {
    const area = box.current;
    if (!area) return;
    area.style.blockSize = "auto";
    area.style.blockSize = `${Math.min(area.scrollHeight, HIGHEST)}px`;
  }, [text.value]);

  const add = (/** @type {File[]} */ files) => void (!mayAttach ? toast(t("ask.may_not_attach")) : own ? attach(own, files) : away?.(files));
  const strays = own ? stray.value : []; // dropped on another part of the page
  useEffect(() => {
    if (!strays.length) return;
    stray.value = [];
    add(strays);
  }, [strays]);
  const send = async () => {
    const { question, material } = questionIn(text.value);
    if (nothing || busy || (question && may && !may(question))) return;
    if (material && away) return away([]);
    if (material && mayAttach) add([asFile(material)]);
    setReading(true);
    await Promise.all([own && allRead(own), until]);
    setReading(false);
    text.value = "";
    if (own) own.attached.value = [];
    onSend(question);
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
  return html`<form class="composer" aria-label=${t("ask.composer")} onSubmit=${(/** @type {Event} */ event) => (event.preventDefault(), send())}>
    ${own && html`<${DropAnywhere} label=${t("ask.drop_here")} onFiles=${(/** @type {{file: File}[]} */ found) => add(found.map((each) => each.file))} />
      <${Files} talk=${own} />`}
    ${children}
    <label class="unseen" for=${TEXT}>${label}</label>
    <textarea id=${TEXT} class="composer-text" rows="1" ref=${box} value=${text.value} placeholder=${placeholder} disabled=${closed}
      aria-describedby="composer-hint" enterkeyhint="send" maxlength=${LONGEST_TEXT} onPaste=${onPaste}
      onInput=${(/** @type {any} */ event) => (text.value = event.currentTarget.value)} onKeyDown=${onKeyDown}></textarea>
    ${material && html`<p class="composer-found" role="status"><strong>${t("ask.question_found")}</strong>${" "}${asked}${" "}
      <span class="muted">${t("ask.question_rest")}</span></p>`}
    <div class="composer-bar">
      <${FileButton} label=${t("ask.attach")} bare icon="clip" disabled=${!mayAttach} onFiles=${(/** @type {FileList | null} */ list) => add([...(list ?? [])])} />
      ${picks}
      <span class="composer-hint" id="composer-hint">${reading ? t("ask.reading_files") : text.value.length > LONGEST_QUESTION - 100
        ? t("ask.length", { n: figure(text.value.length), most: figure(LONGEST_TEXT) }) : t("ask.keys")}</span>
      ${busy && onFinish && html`<button type="button" class="button" onClick=${onFinish}>${t("ask.finish")}</button>`}
      ${busy // two elements: a press on one that became the other meanwhile would send what was stopped
        ? html`<button key="stop" type="button" class="composer-send composer-stop" onClick=${onStop} aria-label=${t("ask.stop")} title=${t("ask.stop")}><${Icon} name="stop" /></button>`
        : html`<button key="send" type="submit" class="composer-send" disabled=${nothing} aria-label=${t("ask.send")} title=${t("ask.send")}><${Icon} name="send" /></button>`}
    </div>
  </form>`;
}

/** @param {string} text */
function asFile(text) {
  return new File([text], `${t("ask.pasted_text")}.txt`, { type: "text/plain" });
}

/** @param {{talk: Talk}} props */
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
