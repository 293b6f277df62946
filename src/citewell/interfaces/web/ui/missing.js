/** What to do where something is not there, and where to go. The one rule: advice on the page is about the page, not about commands. */

/** What an address of the API names, and the part of the page that lists what there is. @type {Record<string, [string, string]>} */
const KINDS = {
  collections: ["collection", "library"],
  documents: ["document", "library"],
  sessions: ["session", "ask"],
  "data/sources": ["source", "data"],
  sites: ["site", "sites"],
  traces: ["trace", "traces"],
};
const HELPS = [408, 409, 425, 429]; // refusals that may end by themselves

/** The key of the advice and the part to go to; null where it is another error. @param {unknown} error */
export function missing(error) {
  const { code, path } = /** @type {{code?: string, path?: string}} */ (error ?? {});
  const [, kind = ""] = /^(?:\/api)?\/(data\/sources|[a-z]+)\/[^/]+/.exec(path ?? "") ?? [];
  const found = code === "not_found" ? KINDS[kind] : undefined;
  return found ? { advice: `frame.gone_${found[0]}`, part: found[1] } : null;
}

/** Whether the same once more may succeed. @param {unknown} error */
export function mayHelp(error) {
  const status = Number(/** @type {{status?: number}} */ (error ?? {}).status ?? 0);
  return !missing(error) && (status < 400 || status >= 500 || HELPS.includes(status));
}
