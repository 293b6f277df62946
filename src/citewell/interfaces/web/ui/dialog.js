/**
 * Dialogs, on the browser's own <dialog>: it keeps the focus inside, closes on Escape, and gives the focus back.
 *
 *     if (await ask({title: t("library.delete"), text: …, action: t("frame.delete"), danger: true})) …
 */

import { t } from "../i18n.js";
import { route } from "../state.js";
import { Button, IconButton } from "./button.js";
import { html, signal, useEffect, useId, useLayoutEffect, useRef } from "./html.js";

/**
 * `actions`: buttons at its foot. `onClose` is called however it is closed.
 * @param {{title: string, open?: boolean, onClose: () => void, children?: any, actions?: any, wide?: boolean, class?: string}} props
 */
export function Dialog({ title, open = true, onClose, children, actions, wide = false, class: more = "" }) {
  const box = useRef(/** @type {HTMLDialogElement | null} */ (null));
  const id = useId();
  useLayoutEffect(() => {
    const dialog = box.current;
    if (!dialog || !open) return;
    const before = document.activeElement;
    if (!dialog.open) dialog.showModal();
    return () => {
      dialog.close();
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, [open]);
  const part = route.value.parts[0];
  const before = useRef(part);
  useEffect(() => {
    if (before.current !== part) onClose(); // it belongs to what was shown below it
  }, [part]);
  if (!open) return null;
  /** @param {MouseEvent} event */
  const outside = (event) => event.target === box.current && onClose();
  return html`<dialog
    ref=${box}
    class=${`dialog ${wide ? "wide" : ""} ${more}`}
    aria-labelledby=${id}
    onCancel=${(/** @type {Event} */ event) => {
      event.preventDefault();
      onClose();
    }}
    onMouseDown=${outside}
  >
    <header><h2 id=${id}>${title}</h2><${IconButton} name="close" label=${t("frame.close")} onClick=${onClose} /></header>
    <div class="dialog-body">${children}</div>
    ${actions && html`<footer>${actions}</footer>`}
  </dialog>`;
}

/** A question with yes and no. @param {{title: string, text?: any, action: string, danger?: boolean, onAnswer: (yes: boolean) => void}} props */
export function Confirm({ title, text, action, danger = false, onAnswer }) {
  const actions = html`<${Button} onClick=${() => onAnswer(false)}>${t("frame.cancel")}<//>
    <${Button} kind=${danger ? "danger" : "primary"} onClick=${() => onAnswer(true)}>${action}<//>`;
  return html`<${Dialog} title=${title} onClose=${() => onAnswer(false)} actions=${actions}>${text && html`<p>${text}</p>`}<//>`;
}

/** @typedef {{title: string, text?: any, action: string, danger?: boolean}} Question */

const asked = signal(/** @type {(Question & {answered: (yes: boolean) => void}) | null} */ (null));

/** Ask before something that cannot be undone: `confirmed = await ask({title, text, action, danger: true})`.
 * @param {Question} question @returns {Promise<boolean>} */
export function ask(question) {
  asked.value?.answered(false);
  return new Promise((resolve) => {
    asked.value = {
      ...question,
      answered: (yes) => {
        asked.value = null;
        resolve(yes);
      },
    };
  });
}

/** Where `ask` shows its question; the frame has it once. */
export function Asked() {
  const now = asked.value;
  return now && html`<${Confirm} ...${now} onAnswer=${now.answered} />`;
}
