/** A dialog with a few fields, and a button that saves and closes it. */
import { t } from "../i18n.js";
import { Button, Dialog, Problem } from "../ui/index.js";
import { html, useState } from "../ui/html.js";

/** What `save` raises is shown. @param {{heading: string, close: () => void, save: () => Promise<unknown>, ready: boolean, children?: any}} props */
export function SmallForm({ heading, close, save, ready, children }) {
  const [error, setError] = useState(/** @type {unknown} */ (null));
  const send = async (/** @type {Event} */ event) => {
    event.preventDefault();
    try {
      await save();
      close();
    } catch (problem) {
      setError(problem);
    }
  };
  return html`<${Dialog} title=${heading} onClose=${close}>
    <form class="rename" onSubmit=${send}>
      ${children}
      ${error && html`<${Problem} error=${error} />`}
      <div class="rename-foot">
        <${Button} onClick=${close}>${t("ask.cancel")}<//>
        <${Button} kind="primary" type="submit" disabled=${!ready}>${t("ask.save")}<//>
      </div>
    </form>
  <//>`;
}
