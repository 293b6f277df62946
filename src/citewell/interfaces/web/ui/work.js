/** What takes a while and may fail: a form that is sent, a button that saves. The one rule: what went wrong is always shown. */
import { useState } from "./html.js";

/**
 * `run`: does it, as a form's `onSubmit` too; `busy`: it is at work; `error`: why it failed the last time.
 * @template {any[]} Given
 * @param {(...given: Given) => unknown} work
 * @param {(error: unknown) => void} [failed]  who shows it, such as `toast`; without one it stands in `error`
 */
export function useWork(work, failed) {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState(/** @type {unknown} */ (null));
  const run = async (/** @type {Given} */ ...given) => {
    if (given[0] instanceof Event) given[0].preventDefault();
    setBusy(true);
    setError(null);
    try {
      await work(...given);
    } catch (problem) {
      (failed ?? setError)(problem);
    }
    setBusy(false);
  };
  return { busy, error, run };
}
