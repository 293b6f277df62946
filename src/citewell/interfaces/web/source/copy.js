/** A button that copies a text and says so itself: a toast would lie behind the panel on a phone. */
import { html, useEffect, useState } from "../ui/html.js";
import { t } from "../i18n.js";
import { Button } from "../ui/button.js";

const SECONDS = 2;

/** @param {{text: string, label: string}} props */
export function CopyButton({ text, label }) {
  const [said, setSaid] = useState("");
  useEffect(() => {
    if (!said) return;
    const timer = setTimeout(() => setSaid(""), SECONDS * 1000);
    return () => clearTimeout(timer);
  }, [said]);
  useEffect(() => setSaid(""), [text]);
  const copy = () =>
    navigator.clipboard.writeText(text).then(
      () => setSaid(t("source.copied")),
      () => setSaid(t("source.not_copied")),
    );
  return html`<span class="panel-copy"><${Button} small kind="quiet" icon=${said ? "check" : "copy"} onClick=${copy}>${label}<//>
    <span role="status" class="panel-said">${said}</span></span>`;
}
