/** The only way to the server. Every failure is an ApiError with the server's own words and hint. */

import { t } from "./i18n.js";
import { revived } from "./said.js";
import { ended, me, online, user } from "./state.js";
import { bytes } from "./ui/figures.js";

/** What went wrong, as the server tells it; `code` is `offline` where it did not answer at all. */
export class ApiError extends Error {
  /** @param {number} status @param {{code?: string, message?: string, hint?: string, detail?: unknown}} told @param {unknown} [whole] */
  constructor(status, told, whole = undefined) {
    super(told.message || t("frame.answered", { status }));
    this.name = "ApiError";
    this.status = status;
    this.code = told.code ?? "";
    /** The message in every language that the server has, see said.js. */
    this.text = told.message || this.message;
    this.hint = told.hint ?? "";
    this.detail = told.detail;
    /** The address that was asked, without its query; empty where none was. */
    this.path = "";
    /** The whole reply, where it has another shape than an error. @type {any} */
    this.told = whole;
  }
}

/** @typedef {Record<string, string | number | boolean | string[] | null | undefined>} Params */
/** @typedef {{signal?: AbortSignal}} More */

/** @param {string} path @param {Params} [params] @param {More} [more] @returns {Promise<any>} */
export const get = (path, params, more) => send("GET", path, undefined, params, more);
/** @param {string} path @param {unknown} [body] @param {More} [more] @returns {Promise<any>} */
export const post = (path, body, more) => send("POST", path, body ?? {}, undefined, more);
/** @param {string} path @param {unknown} [body] @param {More} [more] @returns {Promise<any>} */
export const put = (path, body, more) => send("PUT", path, body ?? {}, undefined, more);
/** @param {string} path @param {unknown} [body] @param {More} [more] @returns {Promise<any>} */
export const patch = (path, body, more) => send("PATCH", path, body ?? {}, undefined, more);
/** @param {string} path @param {Params} [params] @param {More} [more] @returns {Promise<any>} */
export const del = (path, params, more) => send("DELETE", path, undefined, params, more);

/** A file that the server makes. @param {string} path @param {Params} [params] @returns {Promise<Blob>} */
export const file = async (path, params) => (await asked("GET", address(path, params), undefined)).blob();
/** A reply that is a file. @param {string} path @param {Params} params @param {unknown} body @param {More} [more] */
export const postForFile = (path, params, body, more) => asked("POST", address(path, params), body, more);

/** The address of something that a tag loads by itself (a picture, a file). @param {string} path @param {Params} [params] */
export function address(path, params = {}) {
  const [bare, query = ""] = path.split("?", 2);
  const all = new URLSearchParams(query);
  for (const [name, value] of Object.entries(params)) {
    if (Array.isArray(value)) value.forEach((each) => all.append(name, each));
    else if (value !== null && value !== undefined && value !== "") all.set(name, String(value));
  }
  if (user.value && me.value?.auth !== "token" && !all.has("user_id")) all.set("user_id", user.value);
  const text = all.toString();
  return `/api${bare}${text ? `?${text}` : ""}`;
}

/** Whether the server takes no file of this size. @param {File} file */
export function isTooLarge(file) {
  return file.size > (me.value?.largest_file || Infinity);
}

/** @param {File} file */
function tooLarge({ name, size }) {
  const values = { name, size: bytes(size), most: bytes(me.value?.largest_file) };
  return new ApiError(413, { code: "too_large", message: t("frame.file_too_large", values), hint: t("frame.file_too_large_hint") });
}

/**
 * Send a form with files; XHR, for only that tells how much has gone.
 * @param {string} path @param {FormData} form @param {(share: number) => void} [onProgress] 0 to 1 @param {More} [more]
 * @returns {Promise<any>}
 */
export function upload(path, form, onProgress, more = {}) {
  return new Promise((resolve, reject) => {
    const large = [...form.values()].find((each) => each instanceof File && isTooLarge(each));
    if (large instanceof File) return reject(tooLarge(large));
    const request = new XMLHttpRequest();
    request.open("POST", address(path));
    for (const [name, value] of Object.entries(headers("POST"))) request.setRequestHeader(name, value);
    request.upload.onprogress = (event) => event.lengthComputable && onProgress?.(event.loaded / event.total);
    request.onload = () => {
      online.value = true;
      const told = parsed(request.responseText);
      if (request.status < 300) resolve(told);
      else reject(refused(request.status, told, path));
    };
    request.onerror = () => reject(unreachable());
    request.onabort = () => reject(new DOMException("stopped", "AbortError"));
    more.signal?.addEventListener("abort", () => request.abort());
    request.send(form);
  });
}

/**
 * The server's events, one by one: `for await (const {event, data} of events("/ask", {question}, {signal}))`. `data` is parsed
 * JSON. Leaving the loop, or the signal, closes the line, and the server stops the work behind it.
 * @param {string} path @param {unknown} [body] none: GET @param {{signal?: AbortSignal, method?: string, params?: Params}} [how]
 * @returns {AsyncGenerator<{event: string, data: any}, void, void>}
 */
export async function* events(path, body, { signal, method, params } = {}) {
  const verb = method ?? (body === undefined ? "GET" : "POST");
  const response = await asked(verb, address(path, params), body, { signal }, { Accept: "text/event-stream" });
  if (!response.body) return;
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let waiting = "";
  try {
    for (;;) {
      const { done, value } = await reader.read().catch((error) => {
        throw error?.name === "AbortError" ? error : unreachable();
      });
      waiting = (waiting + (value ?? "")).replace(/\r\n?/g, "\n");
      for (let end = waiting.indexOf("\n\n"); end >= 0; end = waiting.indexOf("\n\n")) {
        const found = event(waiting.slice(0, end));
        waiting = waiting.slice(end + 2);
        if (found) yield found;
      }
      if (done) return;
    }
  } finally {
    reader.cancel().catch(() => undefined);
  }
}

/** One event of its lines; null for a comment. @param {string} block */
function event(block) {
  let name = "message";
  /** @type {string[]} */
  const data = [];
  for (const line of block.split("\n")) {
    if (line.startsWith("event:")) name = line.slice(6).trim();
    else if (line.startsWith("data:")) data.push(line.slice(5).replace(/^ /, ""));
  }
  return data.length ? { event: name, data: parsed(data.join("\n")) } : null;
}

/** @param {string} method @param {string} path @param {unknown} body @param {Params} [params] @param {More} [more] */
async function send(method, path, body, params, more) {
  const response = await asked(method, address(path, params), body, more);
  return parsed(await response.text());
}

/** @param {string} method @param {string} url @param {unknown} body @param {More} [more] @param {Record<string, string>} [extra] */
async function asked(method, url, body, more = {}, extra = {}) {
  /** @type {Record<string, string>} */
  const json = body === undefined ? {} : { "Content-Type": "application/json" };
  /** @type {RequestInit} */
  const init = { method, headers: { Accept: "application/json", ...headers(method), ...json, ...extra }, signal: more.signal };
  let response;
  try {
    response = await fetch(url, body === undefined ? init : { ...init, body: JSON.stringify(body) });
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw unreachable();
  }
  online.value = true;
  if (!response.ok) throw refused(response.status, parsed(await response.text()), url);
  return response;
}

/** Texts are wanted in every language; a changing request of a signed-in page proves that it is this page.
 * @param {string} method @returns {Record<string, string>} */
function headers(method) {
  const csrf = me.value?.csrf;
  return { "Citewell-Texts": "all", ...(csrf && method !== "GET" ? { "X-CSRF-Token": csrf } : {}) };
}

/** @param {number} status @param {any} told @param {string} url */
function refused(status, told, url) {
  if (status === 401) {
    if (me.value) ended.value = true;
    me.value = null; // the frame shows the sign-in
  }
  const error = told && typeof told === "object" ? told.error : undefined;
  const made = new ApiError(status, error && typeof error === "object" ? error : {}, told);
  return Object.assign(made, { path: url.split("?")[0] });
}

function unreachable() {
  online.value = false;
  return new ApiError(0, { code: "offline", message: t("frame.offline"), hint: t("frame.offline_hint") });
}

/** @param {string} text */
function parsed(text) {
  if (!text) return null;
  try {
    return JSON.parse(text, revived);
  } catch {
    return text;
  }
}
