/** What a part of the view asks the server for: loading, there, or failed. */
import { get } from "../api.js";
import { useCallback, useEffect, useState } from "../ui/html.js";

/**
 * The reply to a GET, anew whenever the path or `again` changes (no path: nothing is asked); what was there stays until the next is.
 * @param {string} path
 * @param {Record<string, string | number | undefined>} [params]
 * @returns {{ found: any, error: unknown, again: () => void }}
 */
export function useLoaded(path, params = {}) {
  const [found, setFound] = useState(/** @type {any} */ (null));
  const [error, setError] = useState(/** @type {unknown} */ (null));
  const [turn, setTurn] = useState(0);
  const key = JSON.stringify(params);
  useEffect(() => {
    if (!path) return;
    const stop = new AbortController();
    get(path, JSON.parse(key), { signal: stop.signal }).then(
      (reply) => {
        setError(null);
        setFound(reply);
      },
      (problem) => stop.signal.aborted || setError(problem),
    );
    return () => stop.abort();
  }, [path, key, turn]);
  return { found, error, again: useCallback(() => setTurn((n) => n + 1), []) };
}
