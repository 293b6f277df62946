/** A reading session: the paper beside its guide. On a phone these are two tabs. */

import { html, useEffect, useMemo, useRef } from "../ui/html.js";
import { Badge, Busy, figure, Icon, IconButton, Menu, Problem, Tabs } from "../ui/index.js";
import { takeToAsk } from "../ask/asking.js";
import { Composer, focusComposer } from "../ask/composer.js";
import { useSubject } from "../frame/subject.js";
import { t } from "../i18n.js";
import { said } from "../said.js";
import { address } from "../api.js";
import { go } from "../state.js";
import { OutlineView } from "./outline.js";
import { Pane } from "./pane.js";
import { reading as open } from "./reading.js";
import { Renaming, removed, useRenaming } from "./changes.js";
import { ReportView } from "./report.js";
import { RouteView, minutesOf } from "./route.js";
import { TalkView } from "./talk.js";

/** @typedef {import("./reading.js").Reading} Reading */

const PARTS = { report: ReportView, route: RouteView, talk: TalkView, outline: OutlineView };

/** @param {{sessionId: string}} props */
export function Room({ sessionId }) {
  const reading = useMemo(() => open(sessionId), [sessionId]);
  useEffect(() => {
    void reading.show();
    return () => reading.hide();
  }, [reading]);
  const session = reading.session.value;
  useSubject(session?.title);
  if (!session) {
    const problem = reading.problem.value;
    if (!problem) return html`<${Busy} />`;
    return html`<div class="paper-lost">
      <${Problem} error=${problem} retry=${() => reading.refresh()} />
      <p><a href="#/papers">${t("papers.back")}</a></p>
    </div>`;
  }
  const side = reading.side.value;
  return html`<div class="paper-room" data-side=${side}>
    <${Head} reading=${reading} />
    <div class="paper-sides" role="group" aria-label=${t("papers.panes.label")}>
      ${/** @type {const} */ (["paper", "guide"]).map(
        (each) => html`<button type="button" key=${each} aria-pressed=${side === each ? "true" : "false"}
          onClick=${() => (reading.side.value = each)}>${t(`papers.tab.${each}`)}</button>`,
      )}
    </div>
    <section class="paper-side-paper" aria-label=${t("papers.pane.label")}><${Pane} reading=${reading} /></section>
    <section class="paper-side-guide" aria-label=${t("papers.tab.guide")}><${Guide} reading=${reading} /></section>
  </div>`;
}

/** What is read, and how far it is. @param {{reading: Reading}} props */
function Head({ reading }) {
  const session = reading.session.value;
  const renaming = useRenaming();
  if (!session) return null;
  const { current_state: state, plan, title } = session;
  const left = plan ? minutesOf(plan).left : 0;
  const read = plan?.steps.filter((step) => step.done_at !== null).length ?? 0;
  const progress = plan ? t("papers.list.steps", { read, steps: plan.steps.length }) : "";
  return html`<header class="paper-head">
    <a class="paper-back" href="#/papers" title=${t("papers.back")} aria-label=${t("papers.back")}><${Icon} name="arrow-left" /></a>
    <div>
      <h1 title=${title}>${title}</h1>
      <p title=${t(`papers.now.${state}`)}>
        <${Badge} kind=${state === "CONTROL_ROUTING" ? "good" : "info"}>${t(`papers.state.${state}`)}<//>
        ${progress && html`<span>${progress}${left ? ` · ${t("papers.list.minutes", { n: figure(left, 1) })}` : ""}</span>`}
      </p>
    </div>
    <${Menu} label=${t("papers.menu.label", { title })} items=${[
      { label: t("papers.rename"), icon: "edit", action: () => renaming.begin(session) },
      { label: t("papers.export"), icon: "download", href: address(`${reading.path}/export`) },
      !session.removed && { label: t("papers.pane.download"), icon: "file", href: address(`/documents/${session.paper.doc_id}/file`) },
      { label: t("papers.delete"), icon: "trash", danger: true, action: async () => (await removed(session)) && go("/papers") },
    ]} />
    <${Renaming} state=${renaming} onDone=${() => reading.refresh()} />
  </header>`;
}

/** @param {{reading: Reading}} props */
function Guide({ reading }) {
  const session = reading.session.value;
  const tab = reading.tab.value;
  const box = useRef(/** @type {HTMLDivElement | null} */ (null));
  useEffect(() => {
    const panel = tab === "talk" ? null : box.current?.querySelector('[role="tabpanel"]');
    if (panel) panel.scrollTop = 0;
  }, [tab]);
  if (!session) return null;
  const tabs = [
    { id: "report", label: t("papers.tab.report") },
    { id: "route", label: t("papers.tab.route") },
    { id: "talk", label: t("papers.tab.talk"), ...(session.answers.length ? { count: session.answers.length } : {}) },
    { id: "outline", label: t("papers.tab.outline") },
  ];
  const choose = (/** @type {string} */ id) => (reading.tab.value = /** @type {any} */ (id));
  return html`<div class="paper-guide" ref=${box}><${Tabs} class="paper-tabs" tabs=${tabs} value=${tab} onChange=${choose} label=${t("papers.tabs.label")}>
      ${session.current_state !== "CONTROL_ROUTING" && !session.removed && html`<p class="paper-now">${t(`papers.now.${session.current_state}`)}</p>`}
      ${reading.problem.value && html`<${Problem} error=${reading.problem.value} retry=${() => reading.refresh()} />`}
      ${session.warnings.length > 0 && tab === "report" && html`<details class="paper-warnings">
        <summary>${t("papers.warnings")}</summary>
        <ul>${session.warnings.map((warning) => html`<li key=${warning}>${said(warning)}</li>`)}</ul>
      </details>`}
      <${PARTS[tab]} reading=${reading} />
    <//>
    <${Compose} reading=${reading} /></div>`;
}

/** Where the reader writes: an interest while the guide waits for one, questions then. @param {{reading: Reading}} props */
function Compose({ reading }) {
  const session = reading.session.value;
  const about = reading.about.value;
  const state = session?.current_state;
  const wait = state === "GUIDE_PENDING_REPORT";
  const interest = state === "GUIDE_PENDING_PLAN" && !about;
  useEffect(() => {
    if (about) focusComposer();
  }, [about]);
  const onSend = (/** @type {string} */ said) => {
    reading.about.value = "";
    void (about ? reading.askAbout(said, about) : reading.say(said));
  };
  const away = (/** @type {File[]} */ files) => takeToAsk(reading, files, session ? { collection: session.paper.collection, options: { doc_ids: [session.paper.doc_id] } } : undefined);
  return html`<div class="paper-composer"><${Composer} talk=${reading} label=${t(interest ? "papers.compose.label.interest" : "papers.compose.label.ask")}
    placeholder=${t(`papers.compose.${session?.removed ? "gone" : wait ? "wait" : interest ? "interest" : "ask"}`)} busy=${Boolean(reading.live.value?.busy)}
    closed=${wait || Boolean(session?.removed)} bare=${Boolean(about)} onSend=${onSend} onStop=${() => reading.stop()} away=${away}>
    ${about && html`<p class="paper-about">
      <span>${t("papers.talk.selection", { text: about })}</span>
      <${IconButton} name="close" size=${16} label=${t("papers.talk.selection.drop")} onClick=${() => (reading.about.value = "")} />
    </p>`}
  <//></div>`;
}
