/** The edge of the panel that is pulled to make it wider. The one rule: arrow keys do what the mouse does, and it is remembered. */
import { html, useEffect, useState } from "../ui/html.js";
import { t } from "../i18n.js";
import { keep, kept } from "../state.js";

const LEAST = 320; // pixels
const USUAL = 560;
const LEFT_OVER = 660; // pixels that sidebar and view beside it keep
const OVER = matchMedia("(max-width: 68rem)"); // the panel lies over the view there, see source.css
const STEP = 32;

/** @param {boolean} phone on a phone it fills the window */
export function usePanelWidth(phone) {
  const [wish, setWish] = useState(() => Number(kept("panel_width")) || USUAL);
  const [most, setMost] = useState(mostNow);
  useEffect(() => {
    const changed = () => setMost(mostNow());
    addEventListener("resize", changed);
    return () => removeEventListener("resize", changed);
  }, [phone]);
  const width = Math.round(Math.min(Math.max(wish, LEAST), most));
  const set = (/** @type {number} */ next) => {
    const fits = Math.round(Math.min(Math.max(next, LEAST), mostNow()));
    setWish(fits);
    keep("panel_width", String(fits));
  };
  return { width, most, onWidth: set };
}

function mostNow() {
  return Math.max(LEAST, innerWidth - (OVER.matches ? 80 : LEFT_OVER));
}

/** @param {{width: number, most: number, onWidth: (width: number) => void}} props */
export function Edge({ width, most, onWidth }) {
  const pull = (/** @type {PointerEvent} */ event) => {
    const edge = /** @type {HTMLElement} */ (event.currentTarget);
    const [from, was] = [event.clientX, width];
    event.preventDefault();
    edge.setPointerCapture(event.pointerId);
    const move = (/** @type {PointerEvent} */ to) => onWidth(was + from - to.clientX);
    const end = () => {
      edge.removeEventListener("pointermove", move);
      edge.removeEventListener("pointerup", end);
      edge.removeEventListener("pointercancel", end);
    };
    edge.addEventListener("pointermove", move);
    edge.addEventListener("pointerup", end);
    edge.addEventListener("pointercancel", end);
  };
  const keys = (/** @type {KeyboardEvent} */ event) => {
    const next = { ArrowLeft: width + STEP, ArrowRight: width - STEP, Home: LEAST, End: most }[event.key];
    if (next === undefined) return;
    event.preventDefault();
    onWidth(next);
  };
  return html`<div class="panel-edge" role="separator" tabindex="0" aria-orientation="vertical" aria-label=${t("source.edge")}
    aria-valuenow=${width} aria-valuemin=${LEAST} aria-valuemax=${most} onPointerDown=${pull} onKeyDown=${keys}></div>`;
}
