/** A button that opens a list of things to do. Arrow keys, Home, End, Escape and the first letter work in it. */

import { Button, IconButton } from "./button.js";
import { html, useEffect, useId, useLayoutEffect, useRef, useState } from "./html.js";
import { Icon } from "./icon.js";

/** @typedef {{label: string, icon?: string, action?: () => void, href?: string, danger?: boolean, disabled?: boolean, checked?: boolean}} Item */

/**
 * `icon`: the sign of its button (only the sign, unless `words`).
 * @param {{label: string, items: (Item | null | false | undefined)[], icon?: string, words?: boolean, class?: string, up?: boolean}} props
 */
export function Menu({ label, items, icon = "more", words = false, class: more = "", up = false }) {
  const [open, setOpen] = useState(false);
  const box = useRef(/** @type {HTMLDivElement | null} */ (null));
  const id = useId();
  const [above, setAbove] = useState(up);
  const shown = /** @type {Item[]} */ (items.filter(Boolean));
  const entries = () => [...(box.current?.querySelectorAll('[role^="menuitem"]') ?? [])].filter((each) => each instanceof HTMLElement);
  const close = () => {
    setOpen(false);
    box.current?.querySelector("button")?.focus();
  };
  useLayoutEffect(() => {
    if (!open) return;
    setAbove(up || !fitsBelow(box.current));
    entries()[0]?.focus({ preventScroll: true });
  }, [open]);
  useEffect(() => {
    if (!open) return;
    /** @param {Event} event */
    const elsewhere = (event) => event.target instanceof Node && !box.current?.contains(event.target) && setOpen(false);
    document.addEventListener("pointerdown", elsewhere);
    return () => document.removeEventListener("pointerdown", elsewhere);
  }, [open]);
  /** @param {KeyboardEvent} event */
  const keys = (event) => {
    if (!open) {
      if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
      event.preventDefault();
      setOpen(true);
      return;
    }
    const all = entries();
    const at = all.indexOf(/** @type {any} */ (document.activeElement));
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: all.length - 1 }[event.key];
    if (event.key === "Escape") {
      event.stopPropagation();
      close();
    } else if (event.key === "Tab") setOpen(false);
    else if (to !== undefined) {
      event.preventDefault();
      all[(to + all.length) % all.length]?.focus();
    } else if (event.key.length === 1) {
      const letter = event.key.toLowerCase();
      all.find((each, n) => n > at && each.textContent?.trim().toLowerCase().startsWith(letter))?.focus();
    }
  };
  const own = { "aria-haspopup": "menu", "aria-expanded": open ? "true" : "false", "aria-controls": open ? id : undefined };
  const toggle = () => setOpen(!open);
  return html`<div class=${`menu ${more}`} ref=${box} onKeyDown=${keys}>
    ${words
      ? html`<${Button} kind="quiet" icon=${icon} ...${own} onClick=${toggle}>${label}<//>`
      : html`<${IconButton} name=${icon} label=${label} ...${own} onClick=${toggle} />`}
    ${open &&
    html`<div role="menu" id=${id} aria-label=${label} class=${above ? "menu-list up" : "menu-list"}>
      ${shown.map((each) => html`<${Entry} key=${each.label} item=${each} close=${close} />`)}
    </div>`}
  </div>`;
}

/** Whether its list ends within what can be seen, or has no more room above. @param {HTMLElement | null} box */
function fitsBelow(box) {
  const list = box?.querySelector(".menu-list");
  if (!box || !list) return true;
  let [top, bottom] = [0, innerHeight];
  for (let around = box.parentElement; around; around = around.parentElement) {
    if (!/auto|scroll|hidden/.test(getComputedStyle(around).overflowY)) continue;
    const edge = around.getBoundingClientRect();
    [top, bottom] = [Math.max(top, edge.top), Math.min(bottom, edge.bottom)];
  }
  const button = box.getBoundingClientRect();
  const needed = list.getBoundingClientRect().height + 4;
  return button.bottom + needed <= bottom || button.top - needed < top;
}

/** @param {{item: Item, close: () => void}} props */
function Entry({ item, close }) {
  const press = () => {
    close();
    item.action?.();
  };
  const inside = html`${item.icon && html`<${Icon} name=${item.icon} size=${18} />`}<span>${item.label}</span>
    ${item.checked && html`<${Icon} name="check" size=${16} class="menu-tick" />`}`;
  const role = item.checked === undefined ? "menuitem" : "menuitemradio";
  const own = { role, tabindex: -1, class: item.danger ? "danger" : "", "aria-checked": item.checked === undefined ? undefined : String(item.checked) };
  if (item.href) return html`<a ...${own} href=${item.href} onClick=${close}>${inside}</a>`;
  return html`<button type="button" ...${own} disabled=${item.disabled} onClick=${press}>${inside}</button>`;
}
