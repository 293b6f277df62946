/** The visited pages as a drawing that grows while they are read. The one rule: the list beside it says the same in words. */
import { html, useLayoutEffect, useMemo, useRef } from "../ui/html.js";
import { t } from "../i18n.js";
import { said } from "../said.js";
import { cutTo, shortAddress, treeOf } from "./tree.js";

/** @typedef {import("./tree.js").Visit} Visit */
/** @typedef {import("./tree.js").Place} Place */

const BOX = { width: 200, height: 46 };
const GAP = { x: 52, y: 14 };
const EDGE = 8;

/** @param {{visits: readonly Visit[], busy: boolean, onOpen: (visit: Visit) => void}} props */
export function SiteMap({ visits, busy, onOpen }) {
  const frame = useRef(/** @type {HTMLDivElement | null} */ (null));
  const places = useMemo(() => treeOf(visits), [visits]);
  const rows = places.reduce((most, { row }) => Math.max(most, row), 0) + 1;
  const depth = places.reduce((most, place) => Math.max(most, place.depth), 0) + 1;
  const width = depth * (BOX.width + GAP.x) - GAP.x + 2 * EDGE;
  const height = rows * (BOX.height + GAP.y) - GAP.y + 2 * EDGE;
  useLayoutEffect(() => {
    const last = busy && frame.current?.querySelector(`[data-n="${visits.length - 1}"]`);
    if (!last || !frame.current) return;
    const [outer, inner] = [frame.current.getBoundingClientRect(), last.getBoundingClientRect()];
    if (inner.bottom > outer.bottom || inner.top < outer.top) frame.current.scrollTop += inner.top - outer.top - outer.height / 2;
    if (inner.right > outer.right || inner.left < outer.left) frame.current.scrollLeft += inner.left - outer.left - outer.width / 2;
  }, [places]);
  return html`<div class="site-map" ref=${frame} tabindex="0" role="region" aria-label=${t("sites.map_label", { n: visits.length })}>
    <svg viewBox=${`0 0 ${width} ${height}`} style=${{ inlineSize: `${width}px`, blockSize: `${height}px` }} aria-hidden="true" focusable="false">
      ${places.map((place) => place.parent && html`<path key=${`way ${place.n}`} class="site-way" d=${wayTo(place.parent, place)} />`)}
      ${places.map((place) => html`<${Node} key=${place.n} place=${place} onOpen=${onOpen} />`)}
    </svg>
  </div>`;
}

/** @param {{place: Place, onOpen: (visit: Visit) => void}} props */
function Node({ place, onOpen }) {
  const { visit, n } = place;
  const { x, y } = cornerOf(place);
  const path = shortAddress(visit.url).replace(/^[^/]*/, "") || "/";
  const title = visit.title || (path === "/" ? shortAddress(visit.url) : path);
  const opens = Boolean(visit.doc_id);
  return html`<g class=${`site-node ${visit.how}${opens ? " opens" : ""}`} data-n=${n} transform=${`translate(${x} ${y})`}
    onClick=${opens ? () => onOpen(visit) : undefined}>
    <title>${`${title}\n${visit.url}\n${said(visit.problem || visit.why)}`}</title>
    <rect width=${BOX.width} height=${BOX.height} rx="8" />
    <circle cx="14" cy="16" r="4.5" />
    <text class="site-title" x="25" y="20">${cutTo(title, 20)}</text>
    <text class="site-path" x="14" y="37">${cutTo(path, 28)}</text>
  </g>`;
}

/** @param {Place} place */
function cornerOf({ depth, row }) {
  return { x: EDGE + depth * (BOX.width + GAP.x), y: EDGE + row * (BOX.height + GAP.y) };
}

/** @param {Place} from @param {Place} to */
function wayTo(from, to) {
  const [a, b] = [cornerOf(from), cornerOf(to)];
  const [x0, y0, x1, y1] = [a.x + BOX.width, a.y + BOX.height / 2, b.x, b.y + BOX.height / 2];
  const middle = (x0 + x1) / 2;
  return `M${x0} ${y0}C${middle} ${y0} ${middle} ${y1} ${x1} ${y1}`;
}
