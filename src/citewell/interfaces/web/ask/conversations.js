/** The list of conversations, in the page's sidebar: by day, of one agent or all, searched by title. The one rule: titles are text. */
import { known, t } from "../i18n.js";
import { closeSource } from "../source/state.js";
import { go, link, route } from "../state.js";
import { ask as confirm, Button, Dialog, Menu, month, Problem, toast } from "../ui/index.js";
import { html, signal, useState } from "../ui/html.js";
import { focusComposer } from "./composer.js";
import { beginTalk, goOn, loadSessions, remove, rename, sessions, sessionsError, unfinished } from "./talks.js";

/** @typedef {import("./types.js").Session} Session */

const SHOWN = 60; // titles laid out at once
const LONGEST = 200; // characters of a title
const DAY = 86_400_000;

const wanted = signal("");
const ofAgent = signal("");

/** Begin a new one. */
export function newTalk() {
  closeSource();
  beginTalk();
  go("/ask");
  setTimeout(focusComposer);
}

export function Conversations() {
  const [most, setMost] = useState(SHOWN);
  const [renamed, setRenamed] = useState(/** @type {Session | null} */ (null));
  const all = sessions.value;
  const agents = [...new Set((all ?? []).map((each) => each.agent))].sort();
  const words = wanted.value.trim().toLocaleLowerCase();
  const found = (all ?? []).filter((each) => (!ofAgent.value || each.agent === ofAgent.value)
    && (!words || titleOf(each).toLocaleLowerCase().includes(words)));
  return html`<section class="talks" aria-label=${t("ask.talks")}>
    <${Button} kind="plain" icon="plus" class="talks-new" onClick=${newTalk}>${t("ask.new_talk")}<//>
    ${all && all.length > 4 && html`<input type="search" class="talks-search" aria-label=${t("ask.search_talks")} placeholder=${t("ask.search_talks")}
      value=${wanted.value} onInput=${(/** @type {any} */ event) => (wanted.value = event.currentTarget.value)} />`}
    ${agents.length > 1 && html`<select class="talks-agent" aria-label=${t("ask.talks_of")} value=${ofAgent.value}
      onChange=${(/** @type {any} */ event) => (ofAgent.value = event.currentTarget.value)}>
      <option value="">${t("ask.all_agents")}</option>
      ${agents.map((each) => html`<option key=${each} value=${each}>${agentWords(each)}</option>`)}
    </select>`}
    ${sessionsError.value && html`<${Problem} error=${sessionsError.value} retry=${loadSessions} />`}
    <${LeftOver} />
    ${all && !all.length && html`<p class="talks-none">${t("ask.no_talks")}</p>`}
    ${all && all.length > 0 && !found.length && html`<p class="talks-none" role="status">${t("ask.none_found")}</p>`}
    ${byDay(found.slice(0, most)).map(([day, members]) => html`<div class="talks-day" key=${day}>
      <h3>${day}</h3>
      <ul>${members.map((each) => html`<${Row} key=${each.session_id} session=${each} onRename=${setRenamed} />`)}</ul>
    </div>`)}
    ${found.length > most && html`<button type="button" class="link" onClick=${() => setMost(most + SHOWN)}>
      ${t("ask.more_talks", { n: found.length - most })}</button>`}
    ${renamed && html`<${Rename} session=${renamed} close=${() => setRenamed(null)} />`}
  </section>`;
}

/** @param {{session: Session, onRename: (session: Session) => void}} props */
function Row({ session, onRename }) {
  const title = titleOf(session);
  const paper = session.agent === "paper";
  const here = route.value.parts[1] === session.session_id;
  const erase = async () => {
    const text = t(paper ? "ask.delete_paper_text" : "ask.delete_text", { title });
    if (!(await confirm({ title: t("ask.delete_title"), text, action: t("ask.delete"), danger: true }))) return;
    try {
      await remove(session.session_id);
      toast(t("ask.deleted"), "good");
    } catch (error) {
      toast(error);
    }
  };
  return html`<li class=${`talk${here ? " talk-here" : ""}`}>
    <a href=${link(paper ? "papers" : "ask", session.session_id)} aria-current=${here ? "page" : null} title=${title}>
      <span class="talk-title">${title}</span>
      <small class="talk-agent">${agentWords(session.agent)}</small>
    </a>
    <${Menu} label=${t("ask.talk_menu", { title })} items=${[
      { label: t("ask.rename"), icon: "edit", action: () => onRename(session) },
      { label: t("ask.delete"), icon: "trash", danger: true, action: erase },
    ]} />
  </li>`;
}

/** Questions that were stopped before their answer. */
function LeftOver() {
  if (!unfinished.value.length) return null;
  return html`<div class="talks-day talks-left">
    <h3>${t("ask.stopped_ones")}</h3>
    <ul>${unfinished.value.slice(0, 5).map((each) => html`<li class="talk" key=${each.trace_id}>
      <button type="button" class="talk-go-on" onClick=${() => goOn(each)}>
        <span class="talk-title">${each.question}</span>
        <small class="talk-agent">${t("ask.go_on")} · ${agentWords(each.agent)}</small>
      </button>
    </li>`)}</ul>
  </div>`;
}

/** @param {{session: Session, close: () => void}} props */
function Rename({ session, close }) {
  const [title, setTitle] = useState(session.title);
  const [error, setError] = useState(/** @type {unknown} */ (null));
  const save = async (/** @type {Event} */ event) => {
    event.preventDefault();
    try {
      await rename(session.session_id, title.trim());
      close();
    } catch (problem) {
      setError(problem);
    }
  };
  return html`<${Dialog} title=${t("ask.rename_title")} onClose=${close}>
    <form class="rename" onSubmit=${save}>
      <label>${t("ask.title")}
        <input type="text" required maxlength=${LONGEST} value=${title} autofocus onInput=${(/** @type {any} */ event) => setTitle(event.currentTarget.value)} /></label>
      ${error && html`<${Problem} error=${error} />`}
      <div class="rename-foot">
        <${Button} onClick=${close}>${t("ask.cancel")}<//>
        <${Button} kind="primary" type="submit" disabled=${!title.trim()}>${t("ask.save")}<//>
      </div>
    </form>
  <//>`;
}

/** @param {Session} session */
function titleOf(session) {
  return session.title || t("ask.untitled");
}

/** @param {string} name */
export function agentWords(name) {
  return known(`ask.agent_${name}`) ? t(`ask.agent_${name}`) : name;
}

/** The newest first. @param {Session[]} found @returns {[string, Session[]][]} */
function byDay(found) {
  const today = new Date().setHours(0, 0, 0, 0);
  const days = new Map(/** @type {[string, Session[]][]} */ ([]));
  for (const session of found) {
    const at = session.last_updated * 1000;
    const day = at >= today ? t("ask.today") : at >= today - DAY ? t("ask.yesterday") : at >= today - 7 * DAY ? t("ask.this_week")
      : month(session.last_updated);
    days.set(day, [...(days.get(day) ?? []), session]);
  }
  return [...days];
}
