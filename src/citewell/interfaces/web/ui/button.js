/** Buttons. A button without words has a `label`, which is said and shown on hover. */

import { html } from "./html.js";
import { Icon } from "./icon.js";

/**
 * `kind`: `primary` (one a view), `plain`, `quiet` (no border) or `danger`. While `busy` it cannot be pressed and says so. With
 * `href` it is a link that looks like a button.
 * @param {{kind?: "primary" | "plain" | "quiet" | "danger", icon?: string, busy?: boolean, small?: boolean, children?: any,
 *   class?: string, href?: string} & Record<string, any>} props
 */
export function Button({ kind = "plain", icon, busy = false, small = false, children, class: more = "", ...rest }) {
  const classes = `button ${kind} ${small ? "small" : ""} ${more}`;
  const inside = html`${busy ? html`<span class="spinner" aria-hidden="true"></span>` : icon && html`<${Icon} name=${icon} size=${18} />`}
    ${children}`;
  if (rest.href) return html`<a ...${rest} class=${classes}>${inside}</a>`;
  return html`<button type="button" ...${rest} class=${classes} disabled=${rest.disabled || busy} aria-busy=${busy || undefined}>
    ${inside}
  </button>`;
}

/**
 * A sign that is a button. `name`: the icon; `label`: what it does; `pressed`: for one that stays on or off.
 * @param {{name: string, label: string, pressed?: boolean, size?: number, class?: string} & Record<string, any>} props
 */
export function IconButton({ name, label, pressed, size = 20, class: more = "", ...rest }) {
  const all = { ...rest, class: `icon-button ${more}`, title: label, "aria-label": label };
  if (rest.href) return html`<a ...${all}><${Icon} name=${name} size=${size} /></a>`;
  return html`<button type="button" ...${all} aria-pressed=${pressed}><${Icon} name=${name} size=${size} /></button>`;
}
