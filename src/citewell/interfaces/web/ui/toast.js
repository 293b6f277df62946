/** Short messages at the foot of the page: `toast(t("library.deleted"), "good")`. Read out where someone listens. */

import { t } from "../i18n.js";
import { saidOf } from "../said.js";
import { IconButton } from "./button.js";
import { coded } from "./coded.js";
import { html, signal } from "./html.js";
import { Icon } from "./icon.js";

/** @typedef {"good" | "info" | "problem"} Kind */

const toasts = signal(/** @type {{id: number, text: string, kind: Kind}[]} */ ([]));
const SECONDS = 6;
const SIGNS = { good: "check", info: "info", problem: "warning" };
let last = 0;

/** Tell something; what failed (an Error) is told with its hint. @param {unknown} text @param {Kind} [kind] */
export function toast(text, kind) {
  const failed = text instanceof Error;
  const words = failed ? saidOf(text) : String(text);
  const id = (last += 1);
  const told = kind ?? (failed ? "problem" : "info");
  toasts.value = [...toasts.value.slice(-3), { id, text: words, kind: told }];
  if (told !== "problem") setTimeout(() => dismiss(id), SECONDS * 1000); // a problem stays until it is closed
}

/** @param {number} id */
function dismiss(id) {
  toasts.value = toasts.value.filter((each) => each.id !== id);
}

/** Where toasts appear; the frame has it once. */
export function Toasts() {
  return html`<div class="toasts" role="status" aria-live="polite">
    ${toasts.value.map(
      ({ id, text, kind }) => html`<div key=${id} class=${`toast toast-${kind}`}>
        <${Icon} name=${SIGNS[kind]} />
        <span>${coded(text)}</span>
        <${IconButton} name="close" size=${16} label=${t("frame.close")} onClick=${() => dismiss(id)} />
      </div>`,
    )}
  </div>`;
}
