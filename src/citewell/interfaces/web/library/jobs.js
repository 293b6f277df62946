/**
 * Work on its way into the library: bytes that are being sent, and the server's jobs.
 *
 * The one rule: whatever page is open, what is under way is followed here and nowhere else; views only look at `works`.
 */
import { signal } from "../ui/html.js";
import { ApiError, del, events, get, isTooLarge, post, upload } from "../api.js";
import { batches } from "./files.js";

/**
 * @typedef {{path: string, status: "added" | "replaced" | "unchanged" | "failed", reason: string, chunks: number, doc_id: string,
 *   warnings: string[]}} FileReport
 * @typedef {{job_id: string, kind: string, payload: Record<string, any>, state: string, done: number, total: number, detail: string,
 *   result: Record<string, any> | null, error: {code: string, message: string, hint: string} | null, created_at: number,
 *   updated_at: number}} Job
 * @typedef {{id: string, collection: string, names: string[], bytes: number, sent: number, job: Job | null, error: ApiError | null,
 *   again: (() => void) | null, abort: AbortController | null}} Work
 */

const KINDS = new Set(["upload", "page", "rechunk", "refresh", "sync"]);
const ENDED = new Set(["done", "failed", "cancelled"]);
const PAUSE = 2_000; // ms until a line that broke is tried again

/** The newest first. @type {import("@preact/signals").Signal<Work[]>} */
export const works = signal([]);

/** Counts up whenever documents may have come or changed. */
export const changes = signal(0);

let numbers = 0;
let pending = 0; // uploads whose bytes are not all there

/** @param {Work} work */
export const ended = (work) => work.error !== null || (work.job !== null && ENDED.has(work.job.state));

/** @param {Work} work @param {Partial<Work>} values */
function change(work, values) {
  works.value = works.value.map((each) => (each.id === work.id ? { ...each, ...values } : each));
}

/** Look for jobs that run already, begun elsewhere or before the page was opened, and for uploads that can be tried again. */
export async function lookForJobs() {
  const { jobs } = await get("/jobs");
  for (const job of jobs) {
    if (KINDS.has(job.kind) && (!ENDED.has(job.state) || (job.kind === "upload" && job.state === "failed"))) follow(job);
  }
}

/** Take an ended work off the list. @param {string} id */
export function dismiss(id) {
  works.value = works.value.filter((each) => each.id !== id);
}

/**
 * Send files into a collection, several requests where they are many, one after the other.
 * @param {string} collection @param {import("./files.js").Sent[]} files
 */
export async function sendFiles(collection, files) {
  const fit = files.filter((each) => !isTooLarge(each.file));
  for (const each of files) if (!fit.includes(each)) await sendBatch(collection, [each]); // told so, and the others go on
  for (const batch of batches(fit)) await sendBatch(collection, batch);
}

/** @param {string} collection @param {import("./files.js").Sent[]} files */
async function sendBatch(collection, files) {
  const bytes = files.reduce((sum, each) => sum + each.file.size, 0);
  const work = begun(collection, files.map((each) => each.name), bytes);
  const form = new FormData();
  for (const each of files) form.append("file", each.file, each.name);
  const again = () => {
    dismiss(work.id);
    void sendBatch(collection, files);
  };
  pending += 1;
  window.addEventListener("beforeunload", stay);
  try {
    const path = `/collections/${encodeURIComponent(collection)}/documents`;
    const onProgress = (/** @type {number} */ share) => change(work, { sent: share });
    const job = await upload(path, form, onProgress, { signal: /** @type {AbortController} */ (work.abort).signal });
    change(work, { sent: 1, abort: null });
    follow(job, work.id);
  } catch (error) {
    failed(work, error, again);
  } finally {
    pending -= 1;
    if (!pending) window.removeEventListener("beforeunload", stay);
  }
}

/** Add a page of the web; the server fetches it. Raises ApiError for an address that is none. @param {string} collection @param {string} url */
export async function sendPage(collection, url) {
  follow(await post(`/collections/${encodeURIComponent(collection)}/documents`, { url }));
}

/** Add the sample library, what is in this language first. @param {string} lang */
export async function sendSamples(lang) {
  follow(await post("/samples", { lang }));
}

/** Stop what is being sent, or its job. What was added stays. @param {Work} work */
export async function cancel(work) {
  if (work.abort) work.abort.abort();
  else if (work.job) {
    try {
      await del(`/jobs/${work.job.job_id}`);
    } catch (error) {
      if (!(error instanceof ApiError && error.status === 409)) throw error; // it has just ended
    }
  }
}

/** Try a job again that failed: the server has kept what it was sent. @param {Work} work */
export async function tryAgain(work) {
  if (!work.job) return;
  const job = await post(`/jobs/${work.job.job_id}/again`);
  dismiss(work.id);
  follow(job);
}

/** @param {string} collection @param {string[]} names @param {number} bytes @returns {Work} */
function begun(collection, names, bytes) {
  const abort = new AbortController();
  const work = { id: `sent_${++numbers}`, collection, names, bytes, sent: 0, job: null, error: null, again: null, abort };
  works.value = [work, ...works.value];
  return work;
}

/** @param {Work} work @param {unknown} error @param {() => void} again */
function failed(work, error, again) {
  if (error instanceof DOMException && error.name === "AbortError") dismiss(work.id);
  else change(work, { abort: null, error: error instanceof ApiError ? error : new ApiError(0, { message: String(error) }), again });
}

/**
 * Watch a job to its end. `id`: the work that it goes on from.
 * @param {Job} job @param {string} [id]
 */
export function follow(job, id) {
  const known = works.value.find((each) => each.job?.job_id === job.job_id || each.id === id);
  if (known?.job) return;
  const names = job.payload.names ?? (job.payload.url ? [job.payload.url] : []);
  const collection = String(job.payload.collection ?? "");
  const work = known ?? { ...begun(collection, names, 0), abort: null };
  change(work, { job, collection, names, abort: null, sent: 1 });
  void watch(work, job);
}

/** @param {Work} work @param {Job} job */
async function watch(work, job) {
  let files = -1;
  for (let state = job.state; !ENDED.has(state); ) {
    try {
      for await (const { event, data } of events(`/jobs/${job.job_id}/events`)) {
        if (event === "error") throw new ApiError(0, data.error ?? {});
        change(work, { job: data });
        state = data.state;
        const now = data.result?.files?.length ?? 0;
        if (now !== files || ENDED.has(state)) changes.value += 1;
        files = now;
      }
    } catch (error) {
      if (error instanceof ApiError && (error.status === 404 || error.status === 401)) {
        dismiss(work.id); // it is gone, or nobody is signed in any more
        return;
      }
    }
    if (!ENDED.has(state)) await new Promise((done) => setTimeout(done, PAUSE));
  }
}

/** @param {BeforeUnloadEvent} event */
function stay(event) {
  event.preventDefault();
}
