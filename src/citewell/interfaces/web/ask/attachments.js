/**
 * Files, pictures and long texts that a conversation is about: kept in a collection of its own, which its questions ask too.
 * The one rule: a question is asked when all that was attached before it has been read.
 */
import { del, events, post, upload } from "../api.js";
import { t } from "../i18n.js";
import { advice } from "../library/advice.js";
import { said } from "../said.js";
import { toast } from "../ui/index.js";

/** `advice`: the key of what to do. @typedef {{id: string, name: string, state: "reading" | "read" | "failed", why: string, advice: string}} Attached */
/** @typedef {{why: any, document: string}} Read  what became of a file: `why` it could not be read, else empty */
/** @typedef {import("./talks.js").Talk} Talk */

const SHELF = /^(Attached|附件) \d{4}-\d\d-\d\d \d\d\.\d\d\.\d\d$/;
const shelves = new WeakMap(/** @type {[Talk, Promise<string>][]} */ ([]));
const works = new WeakMap(/** @type {[Talk, Map<string, Promise<Read>>][]} */ ([]));
let count = 0;

/** Whether a collection holds what a conversation is about. @param {string} name */
export function isShelf(name) {
  return SHELF.test(name);
}

/** @param {Talk} talk @param {File[]} files */
export function attach(talk, files) {
  for (const file of files) {
    const id = `file${(count += 1)}`;
    const name = file.name || t("ask.pasted_picture");
    talk.attached.value = [...talk.attached.value, { id, name, state: "reading", why: "", advice: "" }];
    const work = read(talk, file, name).catch((error) => ({ why: error?.message ?? String(error), document: "" }));
    works.set(talk, (works.get(talk) ?? new Map()).set(id, work));
    void work.then(({ why }) => change(talk, id, { state: why ? "failed" : "read", why: said(why), advice: why ? advice(why) : "" }));
  }
}

/** Take a file off again; what was read of it is deleted, and no question waits for it. @param {Talk} talk @param {string} id */
export function detach(talk, id) {
  const work = works.get(talk)?.get(id);
  works.get(talk)?.delete(id);
  talk.attached.value = talk.attached.value.filter((each) => each.id !== id);
  void work?.then(({ document }) => (document ? del(`/documents/${encodeURIComponent(document)}`) : null)).catch(toast);
}

/** Until all has been read, or has failed. @param {Talk} talk */
export async function allRead(talk) {
  await Promise.all(works.get(talk)?.values() ?? []);
}

/** @param {Talk} talk @param {string} id @param {Partial<Attached>} values */
function change(talk, id, values) {
  talk.attached.value = talk.attached.value.map((each) => (each.id === id ? { ...each, ...values } : each));
}

/** @param {Talk} talk @param {File} file @param {string} name @returns {Promise<Read>} */
async function read(talk, file, name) {
  const shelf = await shelfOf(talk);
  const form = new FormData();
  form.append("file", file, name);
  const job = await upload(`/collections/${encodeURIComponent(shelf)}/documents`, form);
  let last = job;
  for await (const { event, data } of events(`/jobs/${job.job_id}/events`)) {
    if (event !== "error") last = data;
    if (last.result?.files?.length) break; // its words are found now; its meanings are learned while it is asked
  }
  const [one] = last.result?.files ?? [];
  if (one?.status === "failed") return { why: one.reason, document: "" };
  return { why: one || last.state === "done" ? "" : (last.error?.message ?? last.state), document: one?.doc_id ?? "" };
}

/** @param {Talk} talk */
function shelfOf(talk) {
  if (talk.shelf.value) return Promise.resolve(talk.shelf.value);
  const made = shelves.get(talk) ?? make(talk);
  shelves.set(talk, made);
  return made;
}

/** @param {Talk} talk */
async function make(talk) {
  const now = new Date();
  const local = new Date(now.getTime() - now.getTimezoneOffset() * 60_000).toISOString();
  const name = t("ask.attached_name", { when: local.slice(0, 19).replace("T", " ").replaceAll(":", ".") });
  await post("/collections", { name, private: true });
  talk.shelf.value = name;
  return name;
}
