/** A sign from `icons.js`, drawn in the colour of the text. It says nothing to a screen reader: words stand beside it. */

import { html } from "./html.js";
import { ICONS } from "./icons.js";

/** @param {{name: string, size?: number, class?: string}} props */
export function Icon({ name, size = 20, class: more = "" }) {
  return html`<svg
    class=${`icon ${more}`}
    width=${size}
    height=${size}
    viewBox="0 0 24 24"
    fill="none"
    stroke="currentColor"
    stroke-width=${name === "more" ? 2.6 : 1.7}
    stroke-linecap="round"
    stroke-linejoin="round"
    aria-hidden="true"
    focusable="false"
  >
    <path d=${ICONS[name] ?? ICONS.info} />
  </svg>`;
}
