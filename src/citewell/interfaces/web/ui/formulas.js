/**
 * What draws formulas. The one rule: it is as large as a third of all that the page loads at first, so it comes with the first formula.
 */
import { signal } from "./html.js";

/** @typedef {typeof import("temml").default} Library */

/** Nothing until it is there; who has shown a formula without it shows it anew then. */
export const formulas = signal(/** @type {Library | null} */ (null));
/** @type {Promise<void> | null} */
let coming = null;

/** Ask for it. Settles when it is there, or cannot be had: the next formula asks again. */
export function fetchFormulas() {
  coming ??= import("temml").then(
    (module) => void (formulas.value = module.default),
    () => void (coming = null),
  );
  return coming;
}
