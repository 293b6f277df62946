/** All words of the page, by language: each part's own file, its keys under the part's name. */

import * as ask from "./ask.js";
import * as data from "./data.js";
import * as frame from "./frame.js";
import * as knowledge from "./knowledge.js";
import * as library from "./library.js";
import * as memory from "./memory.js";
import * as papers from "./papers.js";
import * as settings from "./settings.js";
import * as sites from "./sites.js";
import * as source from "./source.js";
import * as traces from "./traces.js";

/** @typedef {{en: Record<string, string>, zh: Record<string, string>}} Words */

/** @type {Record<string, any>} */
const PARTS = { ask, data, frame, knowledge, library, memory, papers, settings, sites, source, traces };

/** Keys may be written with or without their part's name before them. @param {"en" | "zh"} language */
function joined(language) {
  const entries = Object.entries(PARTS).flatMap(([part, file]) => {
    const words = /** @type {Words} */ (file.default ?? file);
    return Object.entries(words[language]).map(([key, text]) => [key.startsWith(`${part}.`) ? key : `${part}.${key}`, text]);
  });
  return /** @type {Record<string, string>} */ (Object.fromEntries(entries));
}

export const WORDS = { en: joined("en"), zh: joined("zh") };
