/**
 * What comes with its first use: libraries that are large, such as what draws formulas, and parts of the page that few answers have.
 */
import { html, signal, useEffect, useState } from "./html.js";

/**
 * `library`: nothing until it is there; who has shown something without it shows it anew then. `fetch`: ask for it; settles when it
 * is there, or cannot be had: the next call asks again.
 * @template Library
 * @param {() => Promise<{default: Library}>} load
 */
function late(load) {
  const library = signal(/** @type {Library | null} */ (null));
  /** @type {Promise<void> | null} */
  let coming = null;
  const fetch = () =>
    (coming ??= load().then(
      (module) => void (library.value = module.default),
      () => void (coming = null),
    ));
  return { library, fetch };
}

export const formulas = late(() => import("temml"));
export const highlighter = late(() => import("highlight.js"));

/**
 * A component, drawn once its file is here. @param {() => Promise<{default: import("preact").ComponentType<any>}>} load
 * @returns {import("preact").ComponentType<any>}
 */
export function lateView(load) {
  return function Late(props) {
    const [View, setView] = useState(/** @type {any} */ (null));
    useEffect(() => void load().then((module) => setView(() => module.default), () => undefined), []);
    return View && html`<${View} ...${props} />`;
  };
}

const LONGEST = 50_000; // characters that are coloured

/**
 * Code as HTML, coloured; null where the language is not known, the code too long, or the library not here yet.
 * @param {string} code @param {string} language @returns {string | null}
 */
export function colour(code, language) {
  if (!language || code.length > LONGEST) return null;
  const library = highlighter.library.peek();
  if (!library) void highlighter.fetch();
  return library?.getLanguage(language) ? library.highlight(code, { language, ignoreIllegals: true }).value : null;
}
