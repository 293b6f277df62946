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

/** The product's sign, drawn here so that no visit waits for a file of its own (index.html has the same for the browser's tab).
 * @param {{size: number}} props */
export function Sign({ size }) {
  return html`<svg width=${size} height=${size} viewBox="0 0 32 32" aria-hidden="true" focusable="false">
    <rect width="32" height="32" rx="8" fill="#0f6e63" />
    <path d=${SIGN} fill="none" stroke="#fff" stroke-width="2.2" stroke-linecap="round" stroke-linejoin="round" />
  </svg>`;
}

const SIGN = "M9 21.500c3-1.3 4.5-3.8 4.5-7.500v-4H8v5.500h3.200M18.5 21.500c3-1.3 4.5-3.8 4.5-7.500v-4h-5.500v5.500h3.2";
