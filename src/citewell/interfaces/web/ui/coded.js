/** Text with `code` in it, as the server's hints and our own words have it between backticks. */

import { html } from "./html.js";

/** @param {string} text @returns {any} */
export function coded(text) {
  const parts = text.split("`");
  if (parts.length < 3) return text;
  return parts.map((part, n) => (n % 2 && n < parts.length - 1 ? html`<code>${part}</code>` : part));
}
