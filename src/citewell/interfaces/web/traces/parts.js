/** The parts of a view, as links: each has its own address, so it can be kept and gone back to. */
import { html, useEffect, useRef } from "../ui/html.js";

/** @typedef {{ href: string, label: string, current: boolean, count?: number | undefined }} Part */

/** @param {{ parts: readonly Part[], label: string }} props */
export function Parts({ parts, label }) {
  const frame = useRef(/** @type {HTMLElement | null} */ (null));
  const current = parts.find((part) => part.current)?.href;
  useEffect(() => {
    const [nav, chosen] = [frame.current, frame.current?.querySelector("[aria-current]")];
    if (!nav || !(chosen instanceof HTMLElement)) return;
    nav.scrollLeft += chosen.getBoundingClientRect().left - nav.getBoundingClientRect().left - 40; // on a phone not all fit
  }, [current]);
  return html`<nav class="subparts" aria-label=${label} ref=${frame}>
    <ul>${parts.map((part) => html`<li key=${part.href}><a href=${part.href} aria-current=${part.current ? "page" : undefined}>
      ${part.label}${part.count === undefined ? null : html` <span class="subparts-count">${part.count}</span>`}</a></li>`)}</ul>
  </nav>`;
}
