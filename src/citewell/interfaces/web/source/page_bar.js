/** Page number and zoom over the pages of a PDF. The one rule: every step is a button that the keyboard reaches. */
import { html, useEffect, useState } from "../ui/html.js";
import { t } from "../i18n.js";
import { IconButton } from "../ui/button.js";

const STEPS = [0.5, 0.75, 1, 1.25, 1.5, 2, 3, 4];

/** @param {{page: number, pages: number, zoom: number, onPage: (n: number) => void, onZoom: (zoom: number) => void}} props */
export function PageBar({ page, pages, zoom, onPage, onZoom }) {
  const [typed, setTyped] = useState(String(page));
  useEffect(() => setTyped(String(page)), [page]);
  const go = () => {
    const n = Math.round(Number(typed));
    if (n >= 1 && n <= pages) onPage(n);
    else setTyped(String(page));
  };
  const smaller = STEPS.filter((step) => step < zoom - 0.01).at(-1);
  const larger = STEPS.find((step) => step > zoom + 0.01);
  return html`<div class="panel-bar" role="group" aria-label=${t("source.page_bar")}>
    <${IconButton} name="chevron-up" label=${t("source.page_before")} disabled=${page <= 1} onClick=${() => onPage(page - 1)} />
    <${IconButton} name="chevron-down" label=${t("source.page_after")} disabled=${page >= pages} onClick=${() => onPage(page + 1)} />
    <span class="panel-page-field">
      <input type="text" inputmode="numeric" aria-label=${t("source.page")} value=${typed} size="3" onInput=${(/** @type {any} */ event) => setTyped(event.currentTarget.value)}
        onBlur=${go} onKeyDown=${(/** @type {KeyboardEvent} */ event) => event.key === "Enter" && go()} />
      <span>/ ${pages}</span></span>
    <span class="panel-gap"></span>
    <${IconButton} name="zoom-out" label=${t("source.smaller")} disabled=${!smaller} onClick=${() => smaller && onZoom(smaller)} />
    <button type="button" class="panel-zoom" onClick=${() => onZoom(1)} title=${t("source.fit")}
      aria-label=${t("source.zoom", { n: Math.round(zoom * 100) })}>${Math.round(zoom * 100)}%</button>
    <${IconButton} name="zoom-in" label=${t("source.larger")} disabled=${!larger} onClick=${() => larger && onZoom(larger)} />
  </div>`;
}
