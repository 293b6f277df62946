/** A dialog with a few fields, and a button that does it and closes. The one rule: what could not be done is shown, and it stays open. */
import { t } from "../i18n.js";
import { Button } from "./button.js";
import { Dialog } from "./dialog.js";
import { html } from "./html.js";
import { Problem } from "./notice.js";
import { useWork } from "./work.js";

/**
 * `close` gets what `send` came to, or null where it was cancelled; `action`: the words of the button; `advice`: what to do about an error.
 * @param {{title: string, send: () => unknown, close: (result: any) => void, action?: string, ready?: boolean, danger?: boolean, advice?: (error: unknown) => string, children?: any}} props
 */
export function FormDialog({ title, send, close, action = t("frame.save"), ready = true, danger = false, advice, children }) {
  const { busy, error, run } = useWork(async () => close(await send()));
  return html`<${Dialog} title=${title} onClose=${() => close(null)}>
    <form class="form" onSubmit=${(/** @type {Event} */ event) => (event.preventDefault(), run())} autocomplete="off">
      ${children}
      <${Problem} error=${error} />
      ${error && advice?.(error) && html`<p>${advice(error)}</p>`}
      <div class="form-foot"><${Button} onClick=${() => close(null)}>${t("frame.cancel")}<//>
        <${Button} kind=${danger ? "danger" : "primary"} type="submit" busy=${busy} disabled=${!ready}>${action}<//></div>
    </form>
  <//>`;
}
