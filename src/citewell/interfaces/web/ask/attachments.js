/**
 * Files, pictures and long texts that a conversation is about: kept in a collection of its own, which its questions ask too.
 * The one rule: a question is asked when all that was attached before it has been read.
 */
import { events, post, upload } from "../api.js";
import { t } from "../i18n.js";
import { said } from "../said.js";

/** @typedef {{id: string, name: string, state: "reading" | "read" | "failed", why: string}} Attached */
/** @typedef {import("./talks.js").Talk} Talk */

const SHELF = /^(Attached|附件) \d{4}-\d\d-\d\d \d\d\.\d\d\.\d\d$/;
const shelves = new WeakMap(/** @type {[Talk, Promise<string>][]} */ ([]));
const works = new WeakMap(/** @type {[Talk, Promise<unknown>[]][]} */ ([]));
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
    set(talk, { id, name, state: "reading", why: "" });
    const work = read(talk, file, name).then(
      (why) => set(talk, { id, name, state: why ? "failed" : "read", why }),
      (error) => set(talk, { id, name, state: "failed", why: said(error?.message ?? String(error)) }),
    );
    works.set(talk, [...(works.get(talk) ?? []), work]);
  }
}

/** Until all has been read, or has failed. @param {Talk} talk */
export async function allRead(talk) {
  await Promise.all(works.get(talk) ?? []);
}

/** @param {Talk} talk @param {Attached} one */
function set(talk, one) {
  const known = talk.attached.value.some((each) => each.id === one.id);
  talk.attached.value = known ? talk.attached.value.map((each) => (each.id === one.id ? one : each)) : [...talk.attached.value, one];
}

/** Why it could not be read; empty where it was. @param {Talk} talk @param {File} file @param {string} name */
async function read(talk, file, name) {
  const shelf = await shelfOf(talk);
  const form = new FormData();
  form.append("file", file, name);
  const job = await upload(`/collections/${encodeURIComponent(shelf)}/documents`, form);
  let last = job;
  for await (const { event, data } of events(`/jobs/${job.job_id}/events`)) if (event !== "error") last = data;
  const failed = last.result?.files?.find((/** @type {{status: string}} */ each) => each.status === "failed");
  return failed ? said(failed.reason) : last.state === "done" ? "" : said(last.error?.message ?? last.state);
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
