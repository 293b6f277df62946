/** The place to ask: a conversation and its composer. */
import { Asking, editIn, sessionOf } from "../ask/asking.js";
import { requestOf } from "../ask/choices.js";
import { collections, sources, usePlaces } from "../ask/places.js";
import { forgetTalks, load, lookAgain, send, sessions, talkOf } from "../ask/talks.js";
import { Thread } from "../ask/thread.js";
import { Welcome } from "../ask/welcome.js";
import { useSubject } from "../frame/subject.js";
import { t } from "../i18n.js";
import { html, useEffect } from "../ui/html.js";
import { Busy, Button, Problem } from "../ui/index.js";
import { newTalk } from "../talks/conversations.js";

/** @typedef {import("../ask/talks.js").Turn} Turn */

/** @param {{parts: string[], params: Record<string, string>}} props */
export default function Ask({ parts }) {
  const talk = talkOf(parts[0] ?? "");
  const turns = talk.turns.value;
  const title = sessionOf(talk)?.title;

  useSubject(turns.length ? title || turns[0]?.question : "");
  usePlaces();
  useEffect(() => {
    const seen = () => void (document.visibilityState === "visible" && sessions.value && lookAgain(talk));
    document.addEventListener("visibilitychange", seen);
    return () => document.removeEventListener("visibilitychange", seen);
  }, [talk]);

  return html`<div class="ask">
    <h1 class="unseen">${title || t("ask.heading")}</h1>
    <${Thread} talk=${talk} onEdit=${(/** @type {Turn} */ turn) => editIn(talk, turn)}>
      ${talk.loading.value && html`<${Busy} />`}
      ${talk.error.value && html`<${Problem} error=${talk.error.value} retry=${() => load(talk)} />
        <${Button} onClick=${newTalk}>${t("ask.new_talk")}<//>`}
      ${!turns.length && !talk.loading.value && !talk.error.value && html`<${Welcome} collections=${collections.value} sources=${sources.value}
        onPick=${(/** @type {string} */ question) => send(talk, requestOf(question, talk))} />`}
    <//>
    <div class="ask-foot"><${Asking} talk=${talk} /></div>
  </div>`;
}
