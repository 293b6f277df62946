/**
 * The line to the server: a question and its events, a vote; and what is wrong where they do not arrive.
 * The one rule: a refusal says what happened and what to do, in the visitor's language; the server's own words stand beside it.
 */
import { put } from "./words.js";

/** @typedef {import("./words.js").Words} Words */
/** @typedef {{url: string, token: string}} Server  `url` ends with a slash */
/** @typedef {{what: string, todo: string, told: string, wait: number, stale: boolean}} Problem  `wait`: seconds; `stale`: the
 * conversation is not known any more */

/** A reply that is no answer. */
export class Refusal extends Error {
  /** @param {number} status @param {any} said @param {number} [wait] */
  constructor(status, said, wait = 0) {
    super(String(said?.message ?? `HTTP ${status}`));
    this.status = status;
    this.code = String(said?.code ?? "");
    this.hint = String(said?.hint ?? "");
    this.wait = wait;
  }
}

/** What a content security policy of the page has kept from being reached. @type {Set<string>} */
const blocked = new Set();
document.addEventListener("securitypolicyviolation", (event) => blocked.add(event.blockedURI));

/** @param {Server} server @param {string} path @param {unknown} body @param {AbortSignal} [signal] @param {string} [accept] */
export async function post(server, path, body, signal, accept = "application/json") {
  /** @type {Record<string, string>} */
  const headers = { "Content-Type": "application/json", Accept: accept };
  if (server.token) headers["Authorization"] = `Bearer ${server.token}`;
  const how = { method: "POST", headers, body: JSON.stringify(body), credentials: /** @type {const} */ ("omit") };
  const reply = await fetch(`${server.url}${path}`, { ...how, signal: signal ?? null, referrerPolicy: "no-referrer" });
  if (reply.ok) return reply;
  const said = await reply.json().catch(() => null);
  throw new Refusal(reply.status, said?.error, Number(reply.headers.get("Retry-After")) || 0);
}

/**
 * Events as they come. Throws Refusal, TypeError where nothing is reached, AbortError.
 * @param {Server} server @param {unknown} request @param {AbortSignal} signal
 * @returns {AsyncGenerator<{event: string, data: any}>}
 */
export async function* told(server, request, signal) {
  const reply = await post(server, "api/ask", request, signal, "text/event-stream");
  const reader = reply.body?.getReader();
  if (!reader) return;
  const decoder = new TextDecoder();
  let text = "";
  for (;;) {
    const { done, value } = await reader.read();
    text += decoder.decode(value, { stream: !done }).replace(/\r/g, "");
    for (let end; (end = text.indexOf("\n\n")) >= 0; text = text.slice(end + 2)) {
      const found = eventOf(text.slice(0, end));
      if (found) yield found;
    }
    if (done) return;
  }
}

/** @param {string} text */
function eventOf(text) {
  let event = "message";
  const data = [];
  for (const line of text.split("\n")) {
    if (line.startsWith("event:")) event = line.slice(6).trim();
    if (line.startsWith("data:")) data.push(line.slice(5).replace(/^ /, ""));
  }
  return data.length ? { event, data: JSON.parse(data.join("\n")) } : null;
}

/** @typedef {"token" | "bound" | "missing" | "many" | "invalid" | "origin" | "cut"} Kind */

/** By status; what is neither here nor below is `busy`. @type {Record<number, Kind>} */
const KINDS = { 401: "token", 403: "bound", 404: "missing", 413: "invalid", 422: "invalid", 429: "many" };
/** By code: an event has no status. @type {Record<string, Kind>} */
const CODES = { wrong_origin: "origin", cut: "cut", not_found: "missing", not_allowed: "bound", invalid_input: "invalid", sensitive_content: "invalid" };

/** @param {unknown} error @param {Words} words @param {Server} server @returns {Promise<Problem>} */
export async function problemOf(error, words, server) {
  if (!(error instanceof Refusal)) return { ...(await unreached(words, server)), told: "", wait: 0, stale: false };
  const { code, status, wait } = error;
  const kind = CODES[code] ?? KINDS[status] ?? "busy";
  const given = { n: wait || 60, origin: location.origin };
  const stale = code === "not_found" || code === "session_deleted";
  const said = kind === "cut" ? "" : [error.message, error.hint].filter(Boolean).join(" – ");
  return { what: put(words[kind], given), todo: put(words[`${kind}_do`], given), told: said, wait: status === 429 ? given.n : 0, stale };
}

/** Nothing came back: the browser does not say why, so it is tried with what every page may fetch. @param {Words} words
 * @param {Server} server */
async function unreached(words, server) {
  const { host, origin } = new URL(server.url);
  try {
    await fetch(`${server.url}widget.js`, { cache: "no-store", credentials: "omit" });
  } catch {
    await new Promise((resolve) => setTimeout(resolve, 100)); // what a policy forbade is told a little later
    if ([...blocked].some((uri) => uri.startsWith(origin))) return { what: put(words.csp, { server: host }), todo: words.csp_do };
    return { what: words.away, todo: words.away_do };
  }
  return { what: put(words.origin, { origin: location.origin }), todo: words.origin_do };
}
