/** The list of conversations, in the page's sidebar: by day, of one agent or all, searched by what was said. The one rule: titles are text. */
import { get } from "../api.js";
import { agentName, t } from "../i18n.js";
import { closeSource } from "../source/state.js";
import { go, me, online, user } from "../state.js";
import { Button, IconButton, month, Problem } from "../ui/index.js";
import { html, signal, useEffect, useState } from "../ui/html.js";
import { focusComposer } from "../ask/composer.js";
import { FolderDialog, FolderRows } from "./folders.js";
import { counts, LISTED, listing } from "./listing.js";
import { Row, titleOf } from "./row.js";
import { beginTalk, folders, forgetTalks, goOn, hear, list, loadSessions, sessions, sessionsError, underway, unfinished } from "../ask/talks.js";

/** @typedef {import("../ask/types.js").Session} Session */

const FOUND = 100; // that are listed of a search
const DAY = 86_400_000;
const PAUSE = 250; // milliseconds of no key before what was said is searched

const wanted = signal("");

/** Begin a new one. */
export function newTalk() {
  closeSource();
  beginTalk();
  go("/ask");
  setTimeout(focusComposer);
}

let whose = ""; // the person whose conversations are shown

/** They are those of who is here now. */
export function useConversations() {
  const person = `${me.value?.user_id ?? ""} ${user.value}`;
  useEffect(() => {
    if (whose && whose !== person) forgetTalks();
    whose = person;
    if (online.value) void loadSessions();
  }, [person, online.value]);
}

export function Conversations() {
  const [making, setMaking] = useState(false);
  const all = sessions.value;
  const { total, archived, agents } = counts.value;
  const { agent, archived: stored, limit } = listing.value;
  const words = wanted.value.trim().toLocaleLowerCase();
  const said = useSaid(words, agent);
  const here = (all ?? []).filter((each) => (words ? titleOf(each).toLocaleLowerCase().includes(words) : stored || !each.archived));
  const found = [...here, ...said.filter((each) => !here.some((one) => one.session_id === each.session_id))];
  // what is searched for is listed whatever its folder
  const inside = words || agent ? [] : found.filter((each) => folders.value.some((one) => one.folder_id === each.folder));
  const loose = found.filter((each) => !inside.includes(each));
  return html`<section class="talks" aria-label=${t("ask.talks")}>
    <div class="talks-new">
      <${Button} kind="plain" icon="plus" onClick=${newTalk}>${t("ask.new_talk")}<//>
      <${IconButton} name="folder" label=${t("ask.new_folder")} onClick=${() => setMaking(true)} />
    </div>
    ${all && (all.length > 4 || archived > 0 || agent) && html`<input type="search" class="talks-search" aria-label=${t("ask.search_talks")} placeholder=${t("ask.search_talks_short")}
      value=${wanted.value} onInput=${(/** @type {any} */ event) => (wanted.value = event.currentTarget.value)} />`}
    ${agents.length > 1 && html`<select class="talks-agent" aria-label=${t("ask.talks_of")} value=${agent}
      onChange=${(/** @type {any} */ event) => list({ agent: event.currentTarget.value, limit: LISTED })}>
      <option value="">${t("ask.all_agents")}</option>
      ${agents.map((each) => html`<option key=${each} value=${each}>${agentName(each)}</option>`)}
    </select>`}
    ${sessionsError.value && html`<${Problem} error=${sessionsError.value} retry=${loadSessions} />`}
    <${LeftOver} />
    ${all && !all.length && !archived && !agent && html`<p class="talks-none">${t("ask.no_talks")}</p>`}
    ${all && all.length > 0 && !found.length && html`<p class="talks-none" role="status">${t("ask.none_found")}</p>`}
    ${!words && !agent && html`<${FolderRows} sessions=${inside} />`}
    ${byDay(loose).map(([day, members]) => html`<div class="talks-day" key=${day}>
      <h3>${day}</h3>
      <ul>${members.map((each) => html`<${Row} key=${each.session_id} session=${each} />`)}</ul>
    </div>`)}
    ${!words && total > loose.length && html`<button type="button" class="link" onClick=${() => list({ limit: limit + LISTED })}>
      ${t("ask.more_talks", { n: total - loose.length })}</button>`}
    ${archived > 0 && !words && html`<button type="button" class="link" onClick=${() => list({ archived: !stored })}>
      ${t(stored ? "ask.hide_archived" : "ask.show_archived", { n: archived })}</button>`}
    ${making && html`<${FolderDialog} close=${() => setMaking(false)} />`}
  </section>`;
}

/** The conversations in which these words were said, by the server. @param {string} words @param {string} agent @returns {Session[]} */
function useSaid(words, agent) {
  const [found, setFound] = useState(/** @type {Session[]} */ ([]));
  useEffect(() => {
    let mine = true;
    if (!words) setFound([]);
    const look = () => get("/sessions", { q: words, agent, limit: FOUND }).then(({ sessions: list }) => mine && setFound(list), () => undefined);
    const timer = words ? setTimeout(look, PAUSE) : 0;
    return () => {
      mine = false;
      clearTimeout(timer);
    };
  }, [words, agent, counts.value]); // the counts come anew with every list, such as after one was deleted
  return words ? found : [];
}

/** Questions that are answered now, asked elsewhere; and those that were stopped before their answer. */
function LeftOver() {
  return html`<${Questions} title=${t("ask.underway")} found=${underway.value} action=${hear} />
    <${Questions} title=${t("ask.stopped_ones")} found=${unfinished.value.slice(0, 5)} action=${goOn} />`;
}

/** @param {{title: string, found: any[], action: (left: any) => void}} props */
function Questions({ title, found, action }) {
  if (!found.length) return null;
  return html`<div class="talks-day talks-left">
    <h3>${title}</h3>
    <ul>${found.map((each) => html`<li class="talk" key=${each.trace_id}>
      <button type="button" class="talk-go-on" onClick=${() => action(each)}>
        <span class="talk-title">${each.question}</span>
        <small class="talk-agent">${t(action === hear ? "ask.working" : "ask.go_on")} · ${agentName(each.agent)}</small>
      </button>
    </li>`)}</ul>
  </div>`;
}

/** The newest first. @param {Session[]} found @returns {[string, Session[]][]} */
function byDay(found) {
  const today = new Date().setHours(0, 0, 0, 0);
  const days = new Map(/** @type {[string, Session[]][]} */ ([]));
  for (const session of [...found].sort((one, other) => Number(other.pinned ?? false) - Number(one.pinned ?? false))) {
    const at = session.last_updated * 1000;
    const day = session.pinned ? t("ask.pinned") : at >= today ? t("ask.today") : at >= today - DAY ? t("ask.yesterday") : at >= today - 7 * DAY ? t("ask.this_week")
      : month(session.last_updated);
    days.set(day, [...(days.get(day) ?? []), session]);
  }
  return [...days];
}
