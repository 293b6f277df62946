/** Passages that a search found, as cards: while an answer is made, and where there is none. The one rule: each opens where it stands. */
import { openPassage } from "../library/open.js";
import { t } from "../i18n.js";
import { html, useState } from "../ui/html.js";
import { Icon } from "../ui/index.js";
import { placed } from "./place.js";

/** @typedef {import("./types.js").Step} Step */
/** @typedef {{doc_id: string, uri: string, title: string, page: number | null, section: string, quote: string, start: number, end: number}} Passage */

const SHOWN = 4; // before the rest is folded away

/** What the last search found that found anything; older traces have no places to open. @param {Step[]} steps @returns {Passage[]} */
export function passagesOf(steps) {
  const lists = steps.map((step) => step.detail?.["evidence"]).filter((found) => Array.isArray(found) && found.length);
  return (lists.at(-1) ?? []).filter((/** @type {Passage} */ each) => each.doc_id && each.quote);
}

/** @param {{passages: Passage[], label: string}} props */
export function Passages({ passages, label }) {
  const [all, setAll] = useState(false);
  if (!passages.length) return null;
  const shown = all ? passages : passages.slice(0, SHOWN);
  return html`<div class="sources passages">
    <h3 class="sources-head">${label}</h3>
    <ol class="sources-list">
      ${shown.map((each, n) => html`<li class="source" key=${`${each.doc_id} ${each.start}`}>
        <button type="button" class="source-open" onClick=${() => openPassage({ ...each, n: n + 1, text: each.quote })}>
          <span class="source-words">
            <span class="source-place"><${Icon} name=${/^https?:/i.test(each.uri) ? "site" : "file"} />${" "}${placed(each)}</span>
            <q class="source-quote">${each.quote.replace(/\s+/g, " ")}</q>
          </span>
        </button>
      </li>`)}
    </ol>
    ${shown.length < passages.length && html`<button type="button" class="link" onClick=${() => setAll(true)}>
      ${t("ask.more_passages", { n: passages.length - shown.length })}</button>`}
  </div>`;
}
