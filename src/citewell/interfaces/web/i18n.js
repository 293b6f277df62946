/** Words in the page's language. The one rule: no text that a person reads stands outside `words/`. */

import { lang } from "./state.js";
import { WORDS } from "./words/index.js";

/**
 * The words of a key such as `ask.placeholder`, with `{name}` filled in. `{n|passage|passages}` says the first word where
 * `n` is 1, else the second. A component that calls this is drawn again when the language changes.
 * @param {string} key
 * @param {Record<string, unknown>} [values]
 * @returns {string}
 */
export function t(key, values = {}) {
  const text = WORDS[lang.value][key] ?? WORDS.en[key];
  if (text === undefined) {
    console.warn(`no words for ${key}`);
    return key;
  }
  return text.replace(/\{(\w+)(?:\|([^|}]*)\|([^|}]*))?\}/g, (whole, name, one, more) => {
    const value = values[name];
    if (value === undefined) return whole;
    return one === undefined ? String(value) : Number(value) === 1 ? one : more;
  });
}

/** Whether there are words for a key. @param {string} key */
export function known(key) {
  return key in WORDS.en;
}

/** An agent as people call it. @param {string} agent its name in the API */
export function agentName(agent) {
  return known(`ask.agent_${agent}`) ? t(`ask.agent_${agent}`) : agent;
}
