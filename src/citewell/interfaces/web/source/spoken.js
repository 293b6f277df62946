/** Sources that are words themselves: what is remembered of the user, what was said before, a reviewed correction. */
import { html } from "../ui/html.js";
import { t } from "../i18n.js";

/** @typedef {import("./state.js").Citation} Citation */

/** How the address of a citation begins that has no document, and where its like is looked after. */
const KINDS = /** @type {const} */ ([
  ["rule:", "rule", "#/knowledge"],
  ["session:", "conversation", ""],
  ["memory:", "memory", "#/memory"],
]);

/** @param {Citation} citation @returns {"rule" | "conversation" | "memory" | ""} */
export function spokenKind({ origin, uri }) {
  return KINDS.find(([start]) => uri.startsWith(start))?.[1] ?? (origin === "memory" ? "memory" : "");
}

/** @param {{citation: Citation}} props */
export function Spoken({ citation }) {
  const kind = spokenKind(citation) || "memory";
  const session = kind === "conversation" ? citation.uri.slice("session:".length) : "";
  const there = session ? `#/ask/${encodeURIComponent(session)}` : KINDS.find(([, name]) => name === kind)?.[2];
  return html`<div class="panel-scroll panel-spoken" tabindex="0" role="region" aria-label=${t(`source.kind_${kind}`)}>
    <p class="panel-about">${t(`source.about_${kind}`)}</p>
    <blockquote><mark>${citation.quote}</mark></blockquote>
    ${there && html`<p><a href=${there}>${t(`source.to_${kind}`)}</a></p>`}
  </div>`;
}
