/**
 * One page of a PDF: its picture, the words over it for selecting, and what is cited marked.
 * The one rule: a page is drawn only while it is near the window, and what is not needed any more is given back.
 */
import { html, useEffect, useMemo, useRef, useState } from "../ui/html.js";
import { t } from "../i18n.js";
import { exactBoxes } from "./exact.js";
import { pageAddress } from "./load.js";

/** @typedef {import("./pdf_open.js").OpenPdf} OpenPdf */
/** @typedef {{width: number, height: number}} Size at scale 1 */
/** @typedef {HTMLCanvasElement | HTMLImageElement} Picture drawn here, or by the server */

const MOST_PIXELS = 12_000_000; // of one page's picture: phones refuse larger ones
const WIDTHS = [1200, 1600, 2400]; // pixels of the server's pictures

/**
 * `id`: of the document whose pages the server draws; empty: they are drawn here.
 * @param {{open: OpenPdf, id: string, n: number, size: Size, scale: number, near: boolean, boxes: number[][], quote: string,
 *   onSize: (n: number, size: Size) => void, onDrawn: (n: number, picture: Picture) => void, onFail: (error: unknown) => void}} props
 */
export function PdfPage({ open, id, n, size, scale, near, boxes, quote, onSize, onDrawn, onFail }) {
  const frame = useRef(/** @type {HTMLDivElement | null} */ (null));
  const [drawn, setDrawn] = useState(false);
  useEffect(() => {
    setDrawn(false);
    if (!near || !frame.current) return;
    const done = (/** @type {Picture} */ picture) => {
      setDrawn(true);
      onDrawn(n, picture);
    };
    return draw(frame.current, { open, id, n, scale, onSize }, done, onFail);
  }, [open, id, near, scale]);
  const where = JSON.stringify([boxes, quote]);
  const exact = useMemo(() => {
    const words = drawn ? frame.current?.querySelector(".panel-words") : null;
    return words instanceof HTMLElement ? exactBoxes(words, boxes, quote) : boxes;
  }, [drawn, where]);
  const style = { inlineSize: `${Math.round(size.width * scale)}px`, blockSize: `${Math.round(size.height * scale)}px` };
  return html`<div class=${`panel-sheet${id ? " panel-picture" : ""}`} data-page=${n} style=${style} data-drawn=${drawn ? "yes" : undefined}>
    <div class="panel-drawing" ref=${frame}></div>
    <${Marks} boxes=${exact} />
    <span class="panel-number" aria-hidden="true">${n}</span>
  </div>`;
}

/** The rectangles of what is cited. @param {{boxes: number[][]}} props */
export function Marks({ boxes }) {
  return html`<div class="panel-marks">${boxes.map(([, x0 = 0, y0 = 0, x1 = 0, y1 = 0], i) => {
    const style = { left: `${x0 * 100}%`, top: `${y0 * 100}%`, width: `${(x1 - x0) * 100}%`, height: `${(y1 - y0) * 100}%` };
    return html`<span class="panel-mark" key=${i} style=${style} role=${i ? undefined : "img"} aria-hidden=${i ? "true" : undefined}
      aria-label=${i ? undefined : t("source.marked")}></span>`;
  })}</div>`;
}

/**
 * Draw a page into a frame: the old picture stays until the new one is there. Returns what stops it.
 * @param {HTMLElement} frame
 * @param {{open: OpenPdf, id: string, n: number, scale: number, onSize: (n: number, size: Size) => void}} what
 * @param {(picture: Picture) => void} onDrawn
 * @param {(error: unknown) => void} onFail
 */
function draw(frame, { open: { library, pdf }, id, n, scale, onSize }, onDrawn, onFail) {
  let left = false;
  /** @type {{cancel: () => void}[]} */
  const tasks = [];
  const work = async () => {
    const page = await pdf.getPage(n);
    if (left) return;
    const { width, height } = page.getViewport({ scale: 1 });
    onSize(n, { width, height });
    const viewport = page.getViewport({ scale });
    const picture = id ? await pictured(id, n, viewport.width) : await painted(page, viewport, tasks);
    const words = document.createElement("div");
    words.className = "panel-words";
    words.style.setProperty("--total-scale-factor", String(scale));
    if (!left) frame.replaceChildren(picture, words);
    const layer = new library.TextLayer({ textContentSource: page.streamTextContent(), container: words, viewport });
    tasks.push(layer);
    await layer.render();
    if (!left) onDrawn(picture);
  };
  work().catch((error) => !left && error?.name !== "RenderingCancelledException" && error?.name !== "AbortException" && onFail(error));
  return () => {
    left = true;
    for (const task of tasks) task.cancel();
    frame.replaceChildren();
  };
}

/**
 * Drawn by pdf.js.
 * @param {import("pdfjs-dist").PDFPageProxy} page
 * @param {import("pdfjs-dist").PageViewport} viewport
 * @param {{cancel: () => void}[]} tasks where it can be stopped
 */
async function painted(page, viewport, tasks) {
  const canvas = document.createElement("canvas");
  const dense = Math.min(window.devicePixelRatio || 1, Math.sqrt(MOST_PIXELS / (viewport.width * viewport.height)));
  canvas.width = Math.max(1, Math.floor(viewport.width * dense));
  canvas.height = Math.max(1, Math.floor(viewport.height * dense));
  const task = page.render({ canvas, viewport, transform: [dense, 0, 0, dense, 0, 0] });
  tasks.push(task);
  await task.promise;
  return canvas;
}

/** Drawn by the server. @param {string} id @param {number} n @param {number} width */
async function pictured(id, n, width) {
  const dense = width * Math.min(2, window.devicePixelRatio || 1);
  const image = new Image();
  image.alt = t("source.page_picture", { n });
  image.src = pageAddress(id, n, { start: 0, end: 0 }, WIDTHS.find((each) => each >= dense) ?? 2400);
  await image.decode();
  return image;
}
