/** Tabs: arrow keys go between them, Tab goes into what is shown. */

import { figure } from "./figures.js";
import { html, useId } from "./html.js";
import { Icon } from "./icon.js";

/**
 * `children` is what the chosen tab shows.
 * @param {{tabs: {id: string, label: string, icon?: string, count?: number}[], value: string, onChange: (id: string) => void,
 *   label: string, children?: any, class?: string}} props
 */
export function Tabs({ tabs, value, onChange, label, children, class: more = "" }) {
  const id = useId();
  /** @param {KeyboardEvent} event */
  const keys = (event) => {
    const at = tabs.findIndex((each) => each.id === value);
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: tabs.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    const next = tabs[(to + tabs.length) % tabs.length];
    if (!next) return;
    onChange(next.id);
    document.getElementById(`${id}-${next.id}`)?.focus();
  };
  return html`<div class=${`tabs ${more}`}>
    <div role="tablist" aria-label=${label} onKeyDown=${keys}>
      ${tabs.map((each) => {
        const chosen = each.id === value;
        return html`<button
          key=${each.id}
          id=${`${id}-${each.id}`}
          type="button"
          role="tab"
          aria-selected=${chosen ? "true" : "false"}
          aria-controls=${chosen ? `${id}-panel` : undefined}
          tabindex=${chosen ? 0 : -1}
          onClick=${() => onChange(each.id)}
        >
          ${each.icon && html`<${Icon} name=${each.icon} size=${18} />`} ${each.label}
          ${each.count !== undefined && html`<span class="count">${figure(each.count)}</span>`}
        </button>`;
      })}
    </div>
    <div role="tabpanel" id=${`${id}-panel`} aria-labelledby=${`${id}-${value}`} tabindex="0">${children}</div>
  </div>`;
}
