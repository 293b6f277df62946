/**
 * The pages of a PDF as the server draws them, one below the other, with pdf.js's words over them to be marked. For pdf.js itself
 * draws other letters than some files mean (those of WeasyPrint with CID fonts, our samples among them), and nothing tells it.
 * The one rule: what it cannot do, `onFail` tells.
 */

import { html, useEffect, useLayoutEffect, useRef, useState } from "../ui/html.js";
import { t } from "../i18n.js";
import { pageAddress } from "../source/load.js";
import { PageBar } from "../source/page_bar.js";
import { openPdf } from "../source/pdf_open.js";
import { Marks } from "../source/pdf_page.js";

/** @typedef {import("../source/load.js").Info} Info */
/** @typedef {import("../source/pdf_open.js").OpenPdf} OpenPdf */
/** @typedef {import("./types.js").Citation} Citation */
/** @typedef {{width: number, height: number}} Size */

const WIDTHS = [800, 1200, 1600, 2400]; // pixels of a page's picture
const ABOVE = 0.3; // of the frame's height, above what is cited
const AROUND = 26; // pixels around the pages

/** @param {{info: Info, citation: Citation, onFail: (error: unknown) => void}} props */
export function DrawnPages({ info, citation, onFail }) {
  const frame = useRef(/** @type {HTMLDivElement | null} */ (null));
  const [open, setOpen] = useState(/** @type {{pdf: OpenPdf, sizes: Size[]} | null} */ (null));
  const [page, setPage] = useState(1);
  const [zoom, setZoom] = useState(1);
  const [width, setWidth] = useState(600);
  useEffect(() => {
    const made = opened(info);
    made.then(setOpen, onFail);
    return () => void made.then(({ pdf }) => pdf.close(), () => undefined);
  }, [info.doc_id, info.sha256]);
  useLayoutEffect(() => {
    if (!frame.current) return undefined;
    const watch = new ResizeObserver(([entry]) => entry && setWidth(Math.floor(entry.contentRect.width)));
    watch.observe(frame.current);
    return () => watch.disconnect();
  }, [open]);
  const goTo = (/** @type {number} */ n, y = 0) => {
    const sheet = frame.current?.querySelector(`[data-page="${n}"]`);
    if (!(sheet instanceof HTMLElement) || !frame.current) return;
    frame.current.scrollTop = sheet.offsetTop - 12 + (y ? y * sheet.offsetHeight - ABOVE * frame.current.clientHeight : 0);
  };
  const boxes = citation.boxes ?? [];
  useLayoutEffect(() => goTo(boxes[0]?.[0] ?? citation.page ?? 1, boxes[0]?.[2] ?? 0), [citation, open]);
  if (!open) return html`<p class="panel-wait" role="status">${t("source.loading")}</p>`;
  const scrolled = () => frame.current && setPage(pageAt(frame.current));
  const widest = Math.max(...open.sizes.map((size) => size.width), 1);
  const scale = Math.max(0.1, ((width - AROUND) / widest) * zoom);
  return html`<${PageBar} page=${page} pages=${open.sizes.length} zoom=${zoom} onZoom=${setZoom} onPage=${(/** @type {number} */ n) => goTo(n)} />
    <div class="panel-scroll panel-sheets" ref=${frame} onScroll=${scrolled} tabindex="0" role="region" aria-label=${t("source.pages")}>
      ${open.sizes.map((size, i) => html`<${Sheet} key=${i} pdf=${open.pdf} info=${info} n=${i + 1} size=${size} scale=${scale}
        boxes=${boxes.filter((box) => box[0] === i + 1)} />`)}
    </div>`;
}

/** @param {Info} info */
async function opened(info) {
  const pdf = await openPdf(info);
  const pages = await Promise.all(Array.from({ length: pdf.pdf.numPages }, (_, i) => pdf.pdf.getPage(i + 1)));
  return { pdf, sizes: pages.map((page) => page.getViewport({ scale: 1 })) };
}

/** @param {{pdf: OpenPdf, info: Info, n: number, size: Size, scale: number, boxes: number[][]}} props */
function Sheet({ pdf, info, n, size, scale, boxes }) {
  const words = useRef(/** @type {HTMLDivElement | null} */ (null));
  useEffect(() => {
    const box = words.current;
    if (!box) return undefined;
    let stop = () => {};
    const watch = new IntersectionObserver(([entry]) => {
      if (!entry?.isIntersecting) return;
      watch.disconnect();
      stop = lay(pdf, n, scale, box);
    }, { rootMargin: "60% 0px" });
    watch.observe(box);
    return () => {
      watch.disconnect();
      stop();
    };
  }, [pdf, scale]);
  const style = { inlineSize: `${Math.round(size.width * scale)}px`, blockSize: `${Math.round(size.height * scale)}px` };
  const dense = size.width * scale * Math.min(2, window.devicePixelRatio || 1);
  const pixels = WIDTHS.find((each) => each >= dense) ?? 2400;
  return html`<div class="panel-sheet panel-picture" data-page=${n} style=${style}>
    <img loading="lazy" src=${pageAddress(info.doc_id, n, { start: 0, end: 0 }, pixels)} alt=${t("source.page_picture", { n })} />
    <div class="panel-words" ref=${words}></div>
    <${Marks} boxes=${boxes} />
    <span class="panel-number" aria-hidden="true">${n}</span>
  </div>`;
}

/** The words of a page over its picture. Returns what stops it. @param {OpenPdf} open @param {number} n @param {number} scale @param {HTMLElement} box */
function lay({ library, pdf }, n, scale, box) {
  /** @type {{cancel: () => void} | null} */
  let layer = null;
  let left = false;
  const work = async () => {
    const page = await pdf.getPage(n);
    if (left) return;
    box.replaceChildren();
    box.style.setProperty("--total-scale-factor", String(scale));
    const made = new library.TextLayer({ textContentSource: page.streamTextContent(), container: box, viewport: page.getViewport({ scale }) });
    layer = made;
    await made.render();
  };
  work().catch(() => undefined); // the picture is there all the same
  return () => {
    left = true;
    layer?.cancel();
  };
}

/** The page across the upper third of the frame. @param {HTMLElement} frame */
function pageAt(frame) {
  const line = frame.scrollTop + frame.clientHeight / 3;
  const sheets = /** @type {HTMLElement[]} */ ([...frame.querySelectorAll("[data-page]")]);
  return Math.max(1, sheets.filter((sheet) => sheet.offsetTop <= line).length);
}
