/** A button and the box that it opens over the page. The one rule: Escape closes it, and so does whatever is done beside it. */
import { html, useEffect, useRef, useState } from "./html.js";
import { Icon } from "./icon.js";

/**
 * `id`: of the box; `label`: of the button, `title`: of the box; `count`: of what is set in it; `children`: of the function that closes it.
 * @param {{id: string, icon: string, label: string, words: string, title: string, count?: number, children: (close: () => void) => any}} props
 */
export function Popover({ id, icon, label, words, title, count = 0, children }) {
  const [open, setOpen] = useState(false);
  const button = useRef(/** @type {HTMLButtonElement | null} */ (null));
  const box = useRef(/** @type {HTMLDivElement | null} */ (null));
  const close = () => {
    setOpen(false);
    button.current?.focus();
  };
  useEffect(() => {
    if (!open) return;
    /** @type {HTMLElement | null | undefined} */ (box.current?.querySelector("input, select, textarea"))?.focus();
    const beside = (/** @type {Event} */ event) => {
      const target = event.target instanceof Node ? event.target : null;
      if (target && !box.current?.contains(target) && !button.current?.contains(target)) setOpen(false);
    };
    for (const kind of ["pointerdown", "focusin"]) document.addEventListener(kind, beside);
    return () => {
      for (const kind of ["pointerdown", "focusin"]) document.removeEventListener(kind, beside);
    };
  }, [open]);
  const onKeyDown = (/** @type {KeyboardEvent} */ event) => {
    if (event.key === "Enter" && event.target instanceof HTMLInputElement && !event.isComposing && event.keyCode !== 229) {
      event.preventDefault(); // takes over what is typed; the form around it is not sent from here
      event.target.dispatchEvent(new Event("change", { bubbles: true }));
    }
    if (event.key !== "Escape") return;
    event.stopPropagation();
    close();
  };
  return html`<button type="button" class="pill" ref=${button} aria-haspopup="dialog" aria-expanded=${open ? "true" : "false"}
      aria-controls=${open ? id : null} aria-label=${label} data-opens=${id} onClick=${() => setOpen(!open)}>
      <${Icon} name=${icon} size=${18} /><span>${words}</span>${count > 0 && html`<span class="pill-count" aria-hidden="true">${count}</span>`}</button>
    ${open && html`<div class="popover" id=${id} role="dialog" aria-label=${title} ref=${box} onKeyDown=${onKeyDown}>${children(close)}</div>`}`;
}
