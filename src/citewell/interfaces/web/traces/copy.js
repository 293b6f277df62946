/** Buttons that take something away: to the clipboard, or as a file. */
import { t } from "../i18n.js";
import { Button } from "../ui/button.js";
import { html } from "../ui/html.js";
import { toast } from "../ui/toast.js";

/** @param {{ label: string, text: () => string }} props */
export function Copy({ label, text }) {
  async function copy() {
    try {
      await navigator.clipboard.writeText(text());
      toast(t("traces.copied"), "good");
    } catch {
      toast(t("traces.not_copied"), "problem");
    }
  }
  return html`<${Button} small icon="copy" onClick=${copy}>${label}<//>`;
}

/**
 * Hand the reader a file made here.
 * @param {string} name
 * @param {string} text
 * @param {string} [type]
 */
export function save(name, text, type = "application/json") {
  const address = URL.createObjectURL(new Blob([text], { type }));
  const link = document.createElement("a");
  link.href = address;
  link.download = name.replace(/[^\w.-]+/g, "_");
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
