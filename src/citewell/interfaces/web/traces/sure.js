/** A question before something is done that others will see, with a reason where one is kept. */
import { t } from "../i18n.js";
import { Button } from "../ui/button.js";
import { Dialog } from "../ui/dialog.js";
import { Field } from "../ui/fields.js";
import { html, useId, useState } from "../ui/html.js";
import { Problem } from "../ui/notice.js";

/**
 * `reason`: the label of a field for why; `act` gets what is written there. It closes when `act` is done; what `act` raises is
 * shown in it.
 * @param {{ title: string, text?: string, yes: string, reason?: string, act: (reason: string) => Promise<unknown> | unknown, close: () => void, danger?: boolean }} props
 */
export function Sure({ title, text = "", yes, reason = "", act, close, danger = true }) {
  const [why, setWhy] = useState("");
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState(/** @type {unknown} */ (null));
  const id = useId();
  /** @param {Event} event */
  async function send(event) {
    event.preventDefault();
    setBusy(true);
    setError(null);
    try {
      await act(why.trim());
      close();
    } catch (problem) {
      setError(problem);
      setBusy(false);
    }
  }
  const actions = html`<${Button} onClick=${close}>${t("traces.cancel")}<//>
    <${Button} kind=${danger ? "danger" : "primary"} type="submit" form=${id} busy=${busy}>${yes}<//>`;
  return html`<${Dialog} title=${title} onClose=${close} actions=${actions}>
    <form id=${id} onSubmit=${send}>
      ${text && html`<p>${text}</p>`}
      ${reason && html`<${Field} label=${reason} rows=${3} maxlength="1000" autofocus value=${why}
        onInput=${(/** @type {any} */ event) => setWhy(event.currentTarget.value)} />`}
      <${Problem} error=${error} />
    </form>
  <//>`;
}
