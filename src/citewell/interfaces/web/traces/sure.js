/** A question before something is done that others will see, with a reason where one is kept. */
import { Field } from "../ui/fields.js";
import { FormDialog } from "../ui/form_dialog.js";
import { html, useState } from "../ui/html.js";

/**
 * `reason`: the label of a field for why; `act` gets what is written there. It closes when `act` is done; what `act` raises is
 * shown in it.
 * @param {{ title: string, text?: string, yes: string, reason?: string, act: (reason: string) => Promise<unknown> | unknown, close: () => void, danger?: boolean }} props
 */
export function Sure({ title, text = "", yes, reason = "", act, close, danger = true }) {
  const [why, setWhy] = useState("");
  return html`<${FormDialog} title=${title} send=${() => act(why.trim())} close=${close} action=${yes} danger=${danger}>
    ${text && html`<p>${text}</p>`}
    ${reason && html`<${Field} label=${reason} rows=${3} maxlength="1000" autofocus value=${why} onInput=${(/** @type {any} */ event) => setWhy(event.currentTarget.value)} />`}
  <//>`;
}
