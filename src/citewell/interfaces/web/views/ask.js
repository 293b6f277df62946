/** The place to ask: a conversation, its composer, and in the sidebar all conversations. */
import { get } from "../api.js";
import { isShelf } from "../ask/attachments.js";
import { newTalk, Conversations } from "../talks/conversations.js";
import { choiceOf, requestOf, setUsual } from "../ask/choices.js";
import { Composer, focusComposer } from "../ask/composer.js";
import { forgetTalks, load, loadSessions, lookAgain, send, sessions, talkOf } from "../ask/talks.js";
import { Thread } from "../ask/thread.js";
import { Welcome } from "../ask/welcome.js";
import { useSubject } from "../frame/subject.js";
import { t } from "../i18n.js";
import { changes } from "../library/jobs.js";
import { me, online, sidebar, user } from "../state.js";
import { html, signal, useEffect } from "../ui/html.js";
import { Busy, Problem } from "../ui/index.js";

/** @typedef {import("../ask/talks.js").Turn} Turn */
/** @typedef {import("../ask/types.js").Request} Request */

const collections = signal(/** @type {{name: string, documents: number}[] | null} */ (null));
const sources = signal(/** @type {string[]} */ ([]));
let whose = ""; // the person whose conversations are shown

/** @param {{parts: string[], params: Record<string, string>}} props */
export default function Ask({ parts }) {
  const talk = talkOf(parts[0] ?? "");
  const person = `${me.value?.user_id ?? ""} ${user.value}`;
  const turns = talk.turns.value;
  const making = turns.find((turn) => turn.run?.busy.value)?.run;
  const session = sessions.value?.find((each) => each.session_id === talk.id.value) ?? talk.session.value;

  useSubject(turns.length ? session?.title || turns[0]?.question : "");
  useEffect(() => {
    sidebar.value = Conversations;
    return () => {
      sidebar.value = null;
    };
  }, []);
  useEffect(() => {
    if (whose && whose !== person) forgetTalks();
    whose = person;
    if (!online.value) return; // what is here stays, and is looked at again when the server is back
    void loadSessions();
    get("/collections").then((found) => {
      collections.value = asked(found.collections);
      setUsual(collections.value ?? [], me.value?.collection ?? "");
    }, () => setUsual(null, ""));
    get("/data/sources").then((found) => (sources.value = namesOf(found)), () => undefined);
  }, [person, online.value, changes.value]);

  useEffect(() => {
    const seen = () => void (document.visibilityState === "visible" && sessions.value && lookAgain(talk));
    document.addEventListener("visibilitychange", seen);
    return () => document.removeEventListener("visibilitychange", seen);
  }, [talk]);

  const onEdit = (/** @type {Turn} */ turn) => {
    choiceOf(turn.request);
    talk.text.value = turn.question;
    focusComposer();
  };
  const onSend = (/** @type {Request} */ request) => void send(talk, request);
  const finish = () => making?.finish().catch((/** @type {unknown} */ error) => (making.error.value = error));
  const pages = making ? making.pages.value.length > 0 || Boolean(making.traceId.value && making.steps.value.some((step) => step.node === "CrawlAndExtract")) : false;
  return html`<div class="ask">
    <h1 class="unseen">${session?.title || t("ask.heading")}</h1>
    <${Thread} talk=${talk} onEdit=${onEdit}>
      ${talk.loading.value && html`<${Busy} />`}
      ${talk.error.value && html`<${Problem} error=${talk.error.value} retry=${() => load(talk)} />
        <button type="button" class="button" onClick=${newTalk}>${t("ask.new_talk")}</button>`}
      ${!turns.length && !talk.loading.value && !talk.error.value && html`<${Welcome} collections=${collections.value} sources=${sources.value}
        onPick=${(/** @type {string} */ question) => onSend(requestOf(question, talk.id.value, talk.shelf.value))} />`}
    <//>
    <div class="ask-foot">
      <${Composer} talk=${talk} sessionId=${talk.id.value} onSite=${session?.agent === "website"} busy=${Boolean(making)} mayFinish=${pages && !making?.ending.value}
        collections=${collections.value ?? []} sources=${sources.value} onSend=${onSend} onStop=${() => making?.stop()} onFinish=${finish} />
      <p class="unseen" aria-live="polite">${said(turns)}</p>
    </div>
  </div>`;
}

/** What is read out: that it is at work, then the answer itself; the draft is not. @param {Turn[]} turns */
function said(turns) {
  const run = turns.at(-1)?.run;
  if (!run) return "";
  if (run.busy.value) return t("ask.working");
  if (run.error.value) return t("ask.failed");
  return run.answer.value ? t("ask.said", { text: run.answer.value.answer.replace(/\[\d+\]/g, "") }) : "";
}

/** Without what people confirmed and what conversations brought, which belong to no question's own documents. @param {{name: string, documents: number}[]} found */
function asked(found) {
  return found.filter((each) => each.name !== "confirmed_qa" && !isShelf(each.name));
}

/** @param {any} found @returns {string[]} */
function namesOf(found) {
  const list = Array.isArray(found) ? found : (found.sources ?? []);
  return list.map((/** @type {{name: string}} */ each) => each.name);
}
