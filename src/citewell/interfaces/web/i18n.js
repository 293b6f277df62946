/**
 * Words in the page's language, from the catalogue of all texts (docs/messages.md). The one rule: no text that a person reads stands
 * in a script.
 */

import { lang, online } from "./state.js";

/** By language, each whole: what a language lacks, the server fills in English. @type {Record<string, Record<string, string>>} */
const words = {};

await loadWords(lang.value);

/** @param {string} language */
async function loadWords(language) {
  words[language] ??= await (await fetch(new URL(`words/${language}.json`, import.meta.url))).json();
}

/** Show the page in another language, once its words are here. @param {string} language */
export async function changeLanguage(language) {
  try {
    await loadWords(language);
    lang.value = language;
  } catch {
    online.value = false;
  }
}

/** A language as who speaks it calls it. @param {string} language */
export function nameLanguage(language) {
  return new Intl.DisplayNames([language], { type: "language" }).of(language) ?? language;
}

/**
 * The words of a key such as `ask.placeholder`, with `{name}` filled in. `{n|passage|passages}` says the first word where
 * `n` is 1, else the second. A component that calls this is drawn again when the language changes.
 * @param {string} key
 * @param {Record<string, unknown>} [values]
 * @returns {string}
 */
export function t(key, values = {}) {
  const text = words[lang.value]?.[key];
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
  return key in (words[lang.value] ?? {});
}

/** An agent as people call it. @param {string} agent its name in the API */
export function agentName(agent) {
  return known(`ask.agent_${agent}`) ? t(`ask.agent_${agent}`) : agent;
}
