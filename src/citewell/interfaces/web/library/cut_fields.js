/** How documents are cut, as fields. The one rule: an empty field means what the settings say, and is not sent. */
import { t } from "../i18n.js";
import { html } from "../ui/html.js";
import { Field, Select } from "../ui/index.js";
import { CHUNKERS } from "./kinds.js";

/** @typedef {{chunker: string, tokens: string, overlap: string}} Cut */

/** @param {Record<string, any>} [chunking] @returns {Cut} */
export function cutOf(chunking = {}) {
  return { chunker: chunking["chunker"] ?? "", tokens: String(chunking["tokens"] ?? ""), overlap: String(chunking["overlap"] ?? "") };
}

/** What was said, as the API takes it. @param {Cut} cut @returns {Record<string, string | number>} */
export function saidOf({ chunker, tokens, overlap }) {
  return {
    ...(chunker ? { chunker } : {}),
    ...(tokens.trim() ? { tokens: Number(tokens) } : {}),
    ...(overlap.trim() ? { overlap: Number(overlap) } : {}),
  };
}

/**
 * `own`: the words for no choice; `more`: further choices before it; `fixed`: what is said already, and can be changed but not unsaid.
 * @param {{cut: Cut, change: (cut: Cut) => void, own?: string, more?: [string, string][], fixed?: Cut}} props
 */
export function CutFields({ cut, change, own = t("library.chunker_default"), more = [], fixed = cutOf() }) {
  const set = (/** @type {keyof Cut} */ name) => (/** @type {any} */ event) => change({ ...cut, [name]: event.currentTarget.value });
  const options = /** @type {[string, string][]} */ ([
    ...(fixed.chunker ? [] : [["", own]]),
    ...more,
    ...CHUNKERS.map((name) => [name, t(`library.chunker_${name}`)]),
  ]);
  const hint = CHUNKERS.includes(cut.chunker) ? t(`library.chunker_${cut.chunker}_hint`) : "";
  return html`<div class="lib-cut">
    <${Select} label=${t("library.chunker")} value=${cut.chunker} options=${options} hint=${hint}
      onChange=${(/** @type {string} */ chunker) => change({ ...cut, chunker })} />
    <${Field} label=${t("library.tokens")} hint=${t("library.tokens_hint")} type="number" min="40" max="480" required=${fixed.tokens !== ""} value=${cut.tokens}
      onInput=${set("tokens")} />
    <${Field} label=${t("library.overlap")} hint=${t("library.overlap_hint")} type="number" min="0" max="200" required=${fixed.overlap !== ""} value=${cut.overlap}
      onInput=${set("overlap")} />
  </div>`;
}
