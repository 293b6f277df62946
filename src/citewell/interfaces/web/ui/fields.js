/** What is typed and chosen. Every field has a label that is read out; `hint` and `error` belong to it. */

import { coded } from "./coded.js";
import { html, useId } from "./html.js";

/**
 * A field with its label. Its children may be a function of `{id, "aria-describedby", "aria-invalid"}` that draws the control;
 * else it is an <input>, or with `rows` a <textarea>, with all further properties.
 * @param {{label: string, hint?: any, error?: any, hidden?: boolean, rows?: number, children?: any, class?: string} & Record<string, any>} props
 * `hidden`: the label is only read out
 */
export function Field({ label, hint, error, hidden = false, rows, children, class: more = "", ...rest }) {
  const id = useId();
  const told = [hint && `${id}-hint`, error && `${id}-error`].filter(Boolean).join(" ");
  const own = { id, "aria-describedby": told || undefined, "aria-invalid": error ? "true" : undefined };
  const control = () =>
    typeof children === "function"
      ? children(own)
      : rows
        ? html`<textarea rows=${rows} ...${rest} ...${own}></textarea>`
        : html`<input type="text" ...${rest} ...${own} />`;
  return html`<div class=${`field ${more}`}>
    <label for=${id} class=${hidden ? "unseen" : ""}>${label}</label>
    ${control()} ${hint && html`<p class="hint" id=${`${id}-hint`}>${typeof hint === "string" ? coded(hint) : hint}</p>`}
    ${error && html`<p class="wrong" id=${`${id}-error`} role="alert">${error}</p>`}
  </div>`;
}

/**
 * One of several. `options`: `{value, label}`, or `[value, label]`. `onChange` gets the value.
 * @param {{label: string, value: string, options: ({value: string, label: string} | [string, string])[],
 *   onChange: (value: string) => void, hint?: any, hidden?: boolean, class?: string} & Record<string, any>} props
 */
export function Select({ label, value, options, onChange, hint, hidden = false, class: more = "", ...rest }) {
  const all = options.map((each) => (Array.isArray(each) ? { value: each[0], label: each[1] } : each));
  return html`<${Field} label=${label} hint=${hint} hidden=${hidden} class=${more}>
    ${(/** @type {any} */ own) =>
      html`<select
        ...${rest}
        ...${own}
        value=${value}
        onChange=${(/** @type {any} */ event) => onChange(event.target.value)}
      >
        ${all.map((each) => html`<option key=${each.value} value=${each.value} selected=${each.value === value}>${each.label}</option>`)}
      </select>`}
  <//>`;
}

/**
 * Yes or no. `onChange` gets true or false.
 * @param {{label: any, checked: boolean, onChange: (checked: boolean) => void, hint?: any} & Record<string, any>} props
 */
export function Check({ label, checked, onChange, hint, ...rest }) {
  const id = useId();
  return html`<div class="check">
    <input
      type="checkbox"
      ...${rest}
      id=${id}
      checked=${checked}
      aria-describedby=${hint ? `${id}-hint` : undefined}
      onChange=${(/** @type {any} */ event) => onChange(event.target.checked)}
    />
    <label for=${id}>${label}</label>
    ${hint && html`<p class="hint" id=${`${id}-hint`}>${typeof hint === "string" ? coded(hint) : hint}</p>`}
  </div>`;
}

/**
 * A few ways of which one holds, side by side (radio buttons that look like one switch).
 * @param {{label: string, value: string, options: {value: string, label: string}[], onChange: (value: string) => void, hidden?: boolean}} props
 */
export function Choice({ label, value, options, onChange, hidden = false }) {
  const id = useId();
  return html`<fieldset class="choice">
    <legend class=${hidden ? "unseen" : ""}>${label}</legend>
    <div class="choice-row">
      ${options.map(
        (each) => html`<label key=${each.value}>
          <input type="radio" name=${id} value=${each.value} checked=${each.value === value} onChange=${() => onChange(each.value)} />
          <span>${each.label}</span>
        </label>`,
      )}
    </div>
  </fieldset>`;
}
