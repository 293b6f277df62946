/**
 * One reading session as the page knows it: what is kept, what is being made, where the reader looks.
 * The one rule: what is shown is what the server has; a message under way is all that is held here, and in the tab's storage.
 */

import { effect } from "@preact/signals";
import { ApiError, del, events, get, patch } from "../api.js";
import { draftOf, keepDraft } from "../ask/drafts.js";
import { t } from "../i18n.js";
import { user } from "../state.js";
import { batch, signal } from "../ui/html.js";
import * as kept from "./kept.js";

/** @typedef {import("./types.js").PaperSession} PaperSession */
/** @typedef {import("./types.js").Structure} Structure */
/** @typedef {import("./types.js").Message} Message */
/** @typedef {import("./types.js").Job} Job */
/** @typedef {import("./types.js").Look} Look */
/** @typedef {import("./types.js").Step} Step */
/** @typedef {import("./types.js").PlanEdit} PlanEdit */

/**
 * A message under way. `resume`: the trace of a run that was stopped. `problem`: why there is no answer.
 * @typedef {{message: Message, resume: string, steps: Step[], draft: string, problem: unknown, busy: boolean, resent: boolean}} Live
 */

/** @typedef {"report" | "route" | "talk" | "outline"} Tab */

const LOOK_AGAIN = 1500; // milliseconds between two looks at a session in which something is made elsewhere
const FIRST = "GUIDE_PENDING_REPORT";

export class Reading {
  /** @param {string} id */
  constructor(id) {
    this.id = id;
    this.session = signal(/** @type {PaperSession | null} */ (null));
    this.structure = signal(/** @type {Structure | null} */ (null));
    this.problem = signal(/** @type {unknown} */ (null));
    this.job = signal(/** @type {Job | null} */ (null));
    this.searching = signal(true); // for the job of the report
    this.live = signal(/** @type {Live | null} */ (null));
    this.look = signal(/** @type {Look | null} */ (null));
    this.step = signal(kept.keptStep(id));
    this.tab = signal(/** @type {Tab} */ ("report"));
    this.side = signal(/** @type {"paper" | "guide"} */ ("guide")); // of the two, on a phone
    this.marked = signal(""); // words of the paper under the mouse
    this.about = signal(""); // words of the paper that the next question is about
    this.text = signal(draftOf(`paper ${id}`)); // in the composer
    effect(() => keepDraft(`paper ${id}`, this.text.value));
    /** @type {AbortController | null} */
    this.line = null;
    this.timer = 0;
    this.shown = false;
    this.following = "";
  }

  get path() {
    return `/papers/${encodeURIComponent(this.id)}`;
  }

  /** While the session is on the screen. */
  async show() {
    this.shown = true;
    kept.setActiveSession(this.id);
    await this.refresh();
    const session = this.session.value;
    if (!session || !this.shown) return;
    this.tab.value = session.answers.length ? "talk" : session.plan ? "route" : "report";
    void this.findJob(session);
    if (!session.removed) void this.loadStructure();
    this.resend(session);
  }

  hide() {
    this.shown = false;
    clearTimeout(this.timer);
  }

  /** The session as it is now; looked at again while something of it is made elsewhere. */
  async refresh() {
    clearTimeout(this.timer);
    try {
      const session = await get(this.path);
      batch(() => {
        this.session.value = session;
        this.problem.value = null;
      });
    } catch (error) {
      this.problem.value = error;
      return;
    }
    const session = this.session.value;
    const making = session && (session.current_state === FIRST || session.under_way.length > 0);
    if (this.shown && making) this.timer = window.setTimeout(() => void this.refresh(), LOOK_AGAIN);
  }

  async loadStructure() {
    if (this.structure.value) return;
    try {
      this.structure.value = await get(`${this.path}/structure`);
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== "paper_removed") this.problem.value = error;
    }
  }

  // ---------------------------------------------------------------- the report

  /** The job that makes the report: the one this tab began, else the one the server has. @param {PaperSession} session */
  async findJob(session) {
    let jobId = kept.keptJob(this.id);
    if (!jobId && session.current_state === FIRST) {
      const found = await get("/jobs").catch(() => ({ jobs: [] }));
      const mine = found.jobs.filter((/** @type {Job} */ job) => job.kind === "paper" && job.payload["session_id"] === this.id);
      jobId = mine.sort((/** @type {any} */ a, /** @type {any} */ b) => b.created_at - a.created_at)[0]?.job_id ?? "";
    }
    if (jobId) await this.follow(jobId);
    this.searching.value = false;
  }

  /** @param {string} jobId */
  async follow(jobId) {
    if (this.following === jobId) return;
    this.following = jobId;
    kept.keepJob(this.id, jobId);
    try {
      for await (const { data } of events(`/jobs/${encodeURIComponent(jobId)}/events`)) {
        if (data && data.job_id) this.job.value = data;
        this.searching.value = false;
      }
      if (this.job.value?.state === "done" || this.job.value?.state === "cancelled") kept.keepJob(this.id, "");
    } catch (error) {
      if (error instanceof ApiError && error.status === 404) kept.keepJob(this.id, ""); // cleaned away
    }
    this.following = "";
    await this.refresh();
  }

  async stopReport() {
    const job = this.job.value;
    if (job) this.job.value = await del(`/jobs/${encodeURIComponent(job.job_id)}`).catch(() => this.job.value);
  }

  /** The report, where its job is over and it is not there: what was stopped is gone on with. */
  async makeReport() {
    const left = this.session.value?.unfinished[0]?.trace_id ?? "";
    this.job.value = null;
    await this.deliver({ message_id: kept.newName(), kind: "report", text: "", selection: null }, { resume: left });
  }

  // ---------------------------------------------------------------- messages

  /** What a reload cut off, under the name it had: what was answered meanwhile comes back as it is. @param {PaperSession} session */
  resend(session) {
    const message = kept.keptMessage(this.id);
    if (!message || this.live.value) return;
    if (session.answers.some((each) => each.message_id === message.message_id)) kept.keepMessage(this.id, null);
    else {
      const left = session.unfinished.find((each) => each.question === message.text);
      void this.deliver(message, { resume: left?.trace_id ?? "", resent: true });
    }
  }

  /** A route for an interest, and nothing else; an empty one is the paper in short. @param {string} text */
  async interest(text) {
    await this.deliver({ message_id: kept.newName(), kind: "plan", text, selection: null });
  }

  /** What the state expects: an interest, or a question; one that comes before there is a route makes the route for it too.
   * @param {string} text */
  async say(text) {
    await this.deliver({ message_id: kept.newName(), kind: "message", text, selection: null });
  }

  /** A question about words of the paper, an empty one: explain them. It comes after a route: that of the paper in short, where
   * there is none. @param {string} text @param {string} words */
  async askAbout(text, words) {
    if (this.session.value?.current_state === "GUIDE_PENDING_PLAN") await this.interest("");
    if (this.live.value) return; // there is no route, and why is told
    await this.deliver({ message_id: kept.newName(), kind: "message", text, selection: { text: words } });
  }

  /** @param {Message} message @param {{resume?: string, resent?: boolean}} [how] */
  async deliver(message, { resume = "", resent = false } = {}) {
    if (this.live.value?.busy) return;
    if (message.message_id) kept.keepMessage(this.id, message);
    this.live.value = { message, resume, steps: [], draft: "", problem: null, busy: true, resent };
    const asks = message.kind === "message" && this.session.value?.current_state === "CONTROL_ROUTING";
    this.tab.value = message.kind === "report" ? "report" : asks ? "talk" : "route";
    this.side.value = "guide";
    this.line = new AbortController();
    try {
      await this.stream(message, resume, this.line.signal);
    } catch (error) {
      await this.failed(message, error);
      return;
    }
    kept.keepMessage(this.id, null);
    await this.refresh();
    this.live.value = null;
  }

  /** @param {Message} message @param {string} resume @param {AbortSignal} stop */
  async stream(message, resume, stop) {
    const { message_id, text, selection } = message;
    const [path, body] = resume
      ? ["/ask", { resume, user_id: this.session.value?.user_id }]
      : message.kind === "plan"
        ? [`${this.path}/plan`, { interest: text, message_id }]
        : [`${this.path}/messages`, { text, message_id, ...(selection ? { selection } : {}) }];
    let answered = false;
    for await (const { event, data } of events(path, body, { signal: stop })) {
      if (event === "error") throw new ApiError(0, data?.error ?? data ?? {});
      if (event === "answer") {
        answered = true;
        if (data?.data?.event === "ask") this.tab.value = "talk";
      } else this.take(event, data);
    }
    if (!answered) throw new ApiError(0, { code: "offline", message: t("ask.lost_line") });
  }

  /** @param {string} event @param {any} data */
  take(event, data) {
    const live = this.live.value;
    if (!live) return;
    if (event === "step") this.live.value = { ...live, draft: "", steps: [...live.steps, data] };
    if (event === "token") this.live.value = { ...live, draft: live.draft + data.text };
  }

  /** @param {Message} message @param {unknown} error */
  async failed(message, error) {
    const stopped = error instanceof DOMException && error.name === "AbortError";
    // what never reached the server, or was cut off there, is sent again after a reload; what was refused is not
    const lost = error instanceof ApiError && ["offline", "stopping"].includes(error.code);
    if (!lost) kept.keepMessage(this.id, null);
    const live = this.live.value;
    if (live) this.live.value = stopped ? null : { ...live, busy: false, problem: error };
    if (stopped && message.text && !this.text.value) this.text.value = message.text;
    await this.refresh();
  }

  /** What was stopped before its end, from its beginning. @param {import("./types.js").Pending} left */
  async resume(left) {
    const message = /** @type {Message} */ ({ message_id: "", kind: "message", text: left.question, selection: null });
    await this.deliver(message, { resume: left.trace_id });
  }

  /** The same message again, under its name. */
  async again() {
    const live = this.live.value;
    if (!live) return;
    const over = live.problem instanceof ApiError && ["gave_up", "not_found"].includes(live.problem.code);
    const message = live.message.message_id ? live.message : { ...live.message, message_id: kept.newName() };
    await this.deliver(message, { resume: over ? "" : live.resume });
  }

  /** What failed is given up; its words are back in the composer. */
  dismiss() {
    const live = this.live.value;
    kept.keepMessage(this.id, null);
    this.live.value = null;
    if (live && !this.text.value) this.text.value = live.message.text;
  }

  stop() {
    this.line?.abort();
  }

  // ---------------------------------------------------------------- the route, and where the reader is

  /** @param {PlanEdit[]} edits */
  async edit(edits) {
    this.session.value = await patch(`${this.path}/plan`, { edits });
  }

  /** Where the reader is in the route. @param {string} stepId */
  at(stepId) {
    this.step.value = stepId;
    kept.keepStep(this.id, stepId);
  }

  /** Show a place of the paper. @param {{page?: number | null, start?: number, end?: number, boxes?: number[][], quote?: string}} place */
  see({ page, start = -1, end = -1, boxes = [], quote = "" }) {
    batch(() => {
      this.look.value = { page: page || 0, start, end, boxes, quote, at: performance.now() };
      this.side.value = "paper";
    });
  }
}

/** @type {Map<string, Reading>} */
const open = new Map();

/** The session of this id; what it is making goes on while another page is looked at. @param {string} id */
export function reading(id) {
  const key = `${user.value} ${id}`;
  const known = open.get(key) ?? new Reading(id);
  open.set(key, known);
  return known;
}

/** It is deleted. @param {string} id */
export function forget(id) {
  const key = `${user.value} ${id}`;
  open.get(key)?.hide();
  open.delete(key);
}
