/**
 * One answer as it is made: its steps, its draft, the pages it visits, and at the end what was proved.
 * The one rule: the draft is never the answer; only the `answer` event sets that.
 */
import { ApiError, events, post } from "../api.js";
import { t } from "../i18n.js";
import { batch, signal } from "../ui/html.js";
import { afterLoss, afterStop, keepsItsWork, leavesOpen } from "./recover.js";

/** @typedef {import("./types.js").Answer} Answer */
/** @typedef {import("./types.js").Citation} Citation */
/** @typedef {import("./types.js").Request} Request */
/** @typedef {import("./types.js").Step} Step */
/** @typedef {import("./types.js").Visit} Visit */
/** @template T @typedef {import("@preact/signals").Signal<T>} Signal */

/**
 * @typedef {object} Run
 * @property {Signal<Step[]>} steps
 * @property {Signal<Visit[]>} pages
 * @property {Signal<string>} draft
 * @property {Signal<Citation[]>} citations  found while it is worded
 * @property {Signal<Answer | null>} answer
 * @property {Signal<unknown>} error
 * @property {Signal<boolean>} busy
 * @property {Signal<boolean>} stopped  by who asked, before there was an answer
 * @property {Signal<string>} traceId  of a run that may be kept or not
 * @property {Signal<boolean>} looking  for what became of it, after its line was lost
 * @property {Signal<boolean>} resumable  what was done is kept: it can be gone on with
 * @property {Signal<number>} since  when the step in hand began, `performance.now()`
 * @property {Signal<boolean>} ending  asked to answer from what it has
 * @property {(request: Request, path?: string) => Promise<Answer | null>} ask
 * @property {(request: Request, traceId: string, since: number) => Promise<Answer | null>} find  what became of a question that the page before this one asked
 * @property {() => void} stop
 * @property {() => Promise<void>} finish  a website question answers from what it has read
 */

const EVERY = 80; // milliseconds between two looks at the draft: each one lays the text out anew

/** @returns {Run} */
export function newRun() {
  /** @type {AbortController | null} */
  let line = null;
  let written = ""; // the draft as far as it came, shown a little later
  let fresh = true; // the next token begins a new draft
  let timer = 0;
  let begun = 0; // seconds since the epoch
  const run = {
    steps: signal(/** @type {Step[]} */ ([])),
    pages: signal(/** @type {Visit[]} */ ([])),
    draft: signal(""),
    citations: signal(/** @type {Citation[]} */ ([])),
    answer: signal(/** @type {Answer | null} */ (null)),
    error: signal(/** @type {unknown} */ (null)),
    busy: signal(false),
    stopped: signal(false),
    traceId: signal(""),
    since: signal(0),
    ending: signal(false),
    looking: signal(false),
    resumable: signal(false),
    ask,
    find,
    stop,
    finish,
  };

  /** @type {Record<string, (data: any) => void>} */
  const takes = {
    step(/** @type {Step} */ step) {
      run.steps.value = [...run.steps.value.filter((each) => each.n !== step.n), step];
      run.traceId.value = step.detail?.["trace_id"] || run.traceId.value;
      run.since.value = performance.now();
      fresh = true;
    },
    progress(data) {
      if (data?.kind === "begin") run.traceId.value = data.trace_id ?? "";
      if (data?.kind === "page") run.pages.value = [...run.pages.value, data];
    },
    token(data) {
      written = fresh ? data.text : written + data.text;
      fresh = false;
      if (!timer) timer = window.setTimeout(showDraft, EVERY);
    },
    citation(/** @type {Citation} */ citation) {
      run.citations.value = [...run.citations.value, citation];
    },
    answer(/** @type {Answer} */ answer) {
      run.answer.value = answer;
      run.traceId.value = answer.trace_id || run.traceId.value;
    },
    error(data) {
      run.traceId.value = data?.error?.detail?.resume || run.traceId.value; // the server stopped: what it can go on with
      run.error.value = errorOf(data);
    },
  };

  function showDraft() {
    timer = 0;
    run.draft.value = written;
  }

  function reset() {
    clearTimeout(timer);
    timer = 0;
    written = "";
    fresh = true;
    run.steps.value = [];
    run.pages.value = [];
    run.citations.value = [];
    run.draft.value = "";
    run.answer.value = null;
    run.error.value = null;
    run.stopped.value = run.ending.value = run.looking.value = run.resumable.value = false;
    run.since.value = performance.now();
  }

  /** @param {Request} request @param {string} [path] @returns {Promise<Answer | null>} */
  async function ask(request, path = "/ask") {
    begun = Date.now() / 1000;
    return listen(request, request.resume ?? "", (signal) => events(path, request, { signal, params: path === "/ask" ? { detach: true } : {} }));
  }

  /** @param {Request} request @param {string} traceId @param {(signal: AbortSignal) => ReturnType<typeof events>} open @returns {Promise<Answer | null>} */
  async function listen(request, traceId, open) {
    line?.abort();
    const mine = (line = new AbortController());
    reset();
    run.traceId.value = traceId;
    run.busy.value = true;
    try {
      for await (const { event, data } of open(mine.signal)) {
        if (line === mine) takes[event]?.(data);
      }
      if (line === mine && !run.answer.value && !run.error.value) {
        run.error.value = errorOf({ code: "cut_off", message: t("ask.cut_off"), hint: t("ask.cut_off_hint") });
      }
    } catch (error) {
      if (line !== mine) return null;
      if (mine.signal.aborted) run.stopped.value = true;
      else run.error.value = error;
    } finally {
      if (line === mine) {
        clearTimeout(timer);
        showDraft();
        run.busy.value = false;
      }
    }
    if (line !== mine) return null;
    const mayBeKept = run.traceId.value && keepsItsWork(run.steps.value.find((step) => step.node === "choose_agent")?.action ?? request.agent ?? "website");
    if (run.stopped.value && mayBeKept) await recover(request, afterStop);
    else if (leavesOpen(run.error.value, Boolean(traceId))) await recover(request, afterLoss);
    return run.busy.value ? null : run.answer.value; // another question may have been asked meanwhile
  }

  /** @param {Request} request @param {string} traceId @param {number} since @returns {Promise<Answer | null>} */
  async function find(request, traceId, since) {
    run.traceId.value = traceId;
    run.error.value = errorOf({ code: "reloaded", message: t("ask.lost_page") });
    begun = since;
    await recover(request, afterLoss);
    return run.busy.value ? null : run.answer.value;
  }

  /** Ends with the next question, or when the run is let go. @param {Request} request @param {typeof afterLoss} how */
  async function recover(request, how) {
    const mine = (line = new AbortController());
    run.looking.value = how === afterLoss;
    const became = await how({ traceId: run.traceId.value, question: request.question, since: begun, signal: mine.signal });
    if (line !== mine) return;
    if (became && "live" in became && how === afterLoss) {
      await listen(request, became.live, (signal) => events(`/runs/${encodeURIComponent(became.live)}/events`, undefined, { signal }));
      return;
    }
    batch(() => {
      run.looking.value = false;
      if (became && "answer" in became) {
        takes["answer"]?.(became.answer);
        run.steps.value = became.steps;
        run.error.value = null;
        run.stopped.value = false;
      } else run.resumable.value = Boolean(became);
    });
  }

  /** The server goes on with what nobody stops. */
  function stop() {
    const id = run.traceId.value;
    if (run.busy.value && id) post(`/runs/${encodeURIComponent(id)}/cancel`).catch(() => undefined); // it may have ended
    line?.abort();
  }

  async function finish() {
    run.ending.value = true;
    await post(`/runs/${encodeURIComponent(run.traceId.value)}/stop`);
  }
  return run;
}

/** What an `error` event says, as what a failed request throws. @param {any} data */
function errorOf(data) {
  return new ApiError(0, data?.error ?? data ?? {});
}
