/** A saved question run: its rows, when they were read, what went wrong. The one rule: what was read before stays, with its time, where a new try fails. */
import { post } from "../api.js";
import { signal } from "../ui/html.js";

/** @typedef {import("../ask/types.js").Result} Result */

/** @typedef {{result: import("@preact/signals").Signal<Result | null>, error: import("@preact/signals").Signal<unknown>, busy: import("@preact/signals").Signal<boolean>, start: () => Promise<void>, stop: () => void}} Running */

/** @param {string} id @returns {Running} */
export function newRunning(id) {
  const result = signal(/** @type {Result | null} */ (null));
  const error = signal(/** @type {unknown} */ (null));
  const busy = signal(false);
  /** @type {AbortController | null} */
  let abort = null;
  const start = async () => {
    abort?.abort();
    const mine = new AbortController();
    abort = mine;
    busy.value = true;
    try {
      result.value = await post(`/data/saved/${encodeURIComponent(id)}/run`, {}, { signal: mine.signal });
      error.value = null;
    } catch (problem) {
      if (!mine.signal.aborted) error.value = problem;
    }
    if (abort === mine) busy.value = false;
  };
  const stop = () => {
    abort?.abort();
    busy.value = false;
  };
  return { result, error, busy, start, stop };
}
