/** What to do where something is not there, and where to go. The one rule: advice on the page is about the page, not about commands. */

/** What the server's message begins with, and the part of the page that lists what there is. @type {[RegExp, string, string][]} */
const KINDS = [
  [/^no collection named /, "collection", "library"],
  [/^no document |: no such document/, "document", "library"],
  [/^no session /, "session", "ask"],
  [/^no source |^there are no tables$/, "source", "data"],
  [/^no site named /, "site", "sites"],
  [/^no trace /, "trace", "traces"],
];
const HELPS = [408, 409, 425, 429]; // refusals that may end by themselves

/** The key of the advice and the part to go to; null where it is another error. @param {unknown} error */
export function missing(error) {
  const { code, message } = /** @type {{code?: string, message?: string}} */ (error ?? {});
  if (code !== "not_found" || !message) return null;
  const found = KINDS.find(([sign]) => sign.test(message));
  return found ? { advice: `frame.gone_${found[1]}`, part: found[2] } : null;
}

/** Whether the same once more may succeed. @param {unknown} error */
export function mayHelp(error) {
  const status = Number(/** @type {{status?: number}} */ (error ?? {}).status ?? 0);
  return !missing(error) && (status < 400 || status >= 500 || HELPS.includes(status));
}
