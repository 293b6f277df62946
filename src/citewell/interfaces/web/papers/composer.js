/** Where the reader writes: an interest while the guide waits for one, questions then. Enter sends, Shift+Enter breaks the line. */

import { html, useEffect, useRef } from "../ui/html.js";
import { IconButton } from "../ui/index.js";
import { t } from "../i18n.js";

/** @typedef {import("./reading.js").Reading} Reading */

const LONGEST = 500; // characters of a question, as the server takes it

/** @param {{reading: Reading}} props */
export function Composer({ reading }) {
  const box = useRef(/** @type {HTMLTextAreaElement | null} */ (null));
  const session = reading.session.value;
  const about = reading.about.value;
  const text = reading.words.value;
  const state = session?.current_state;
  const wait = state === "GUIDE_PENDING_REPORT" || Boolean(session?.removed);
  const busy = Boolean(reading.live.value?.busy);
  const interest = state === "GUIDE_PENDING_PLAN" && !about;
  useEffect(() => {
    if (about) box.current?.focus();
  }, [about]);
  useEffect(() => {
    if (!box.current) return;
    box.current.style.height = "auto";
    box.current.style.height = `${Math.min(box.current.scrollHeight, 160)}px`;
  }, [text]);
  const send = (/** @type {Event} */ event) => {
    event.preventDefault();
    const said = text.trim();
    if (busy || wait || (!said && !about)) return;
    reading.words.value = "";
    reading.about.value = "";
    if (about) void reading.askAbout(said, about);
    else void reading.say(said);
  };
  const keys = (/** @type {KeyboardEvent} */ event) => {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing && event.keyCode !== 229) send(event);
  };
  const hint = session?.removed ? "gone" : wait ? "wait" : interest ? "interest" : "ask";
  return html`<form class="paper-composer" onSubmit=${send}>
    ${about &&
    html`<p class="paper-about">
      <span>${t("papers.talk.selection", { text: about })}</span>
      <${IconButton} name="close" size=${16} label=${t("papers.talk.selection.drop")} onClick=${() => (reading.about.value = "")} />
    </p>`}
    <div class="paper-compose">
      <textarea ref=${box} rows="1" value=${text} maxlength=${LONGEST} disabled=${wait} placeholder=${t(`papers.compose.${hint}`)}
        aria-label=${t(interest ? "papers.compose.label.interest" : "papers.compose.label.ask")}
        onInput=${(/** @type {any} */ event) => (reading.words.value = event.target.value)} onKeyDown=${keys}></textarea>
      <${IconButton} name="send" type="submit" class="paper-send" disabled=${busy || wait || (!text.trim() && !about)}
        label=${t(interest ? "papers.compose.route" : "papers.compose.send")} />
    </div>
  </form>`;
}
