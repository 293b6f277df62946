/**
 * A PDF in the panel: pages drawn as they come near the window, the cited lines marked, zoom and page number.
 * The one rule: what pdf.js draws wrongly is told by `onWrong`, and the server's pictures take the place of its own (`byServer`); what it
 * cannot read at all is told by `onFail`.
 */
import { html, useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from "../ui/html.js";
import { t } from "../i18n.js";
import { looksRight } from "./compare.js";
import { openPdf } from "./pdf_open.js";
import { PdfPage } from "./pdf_page.js";
import { PageBar } from "./page_bar.js";

/** @typedef {import("./load.js").Info} Info */
/** @typedef {import("./state.js").Citation} Citation */
/** @typedef {import("./pdf_open.js").OpenPdf} OpenPdf */
/** @typedef {import("./pdf_page.js").Picture} Picture */
/** @typedef {import("./pdf_page.js").Size} Size */

const GAP = 12; // pixels around pages
const COMPARED = 3; // pages that are held against the server's picture of them
const ABOVE = 0.3; // of the frame's height, above what is cited

/** @param {{info: Info, citation: Citation, byServer: boolean, onWrong: () => void, onFail: (error: unknown) => void}} props */
export function PdfView({ info, citation, byServer, onWrong, onFail }) {
  const [open, setOpen] = useState(/** @type {OpenPdf | null} */ (null));
  useEffect(() => {
    let left = false;
    /** @type {OpenPdf | null} */
    let mine = null;
    setOpen(null);
    openPdf(info).then(
      (found) => {
        mine = found;
        if (left) found.close();
        else setOpen(found);
      },
      (error) => !left && onFail(error),
    );
    return () => {
      left = true;
      mine?.close();
    };
  }, [info.doc_id, info.sha256]);
  if (!open) return html`<p class="panel-wait" role="status">${t("source.loading")}</p>`;
  return html`<${Sheets} open=${open} id=${info.doc_id} citation=${citation} byServer=${byServer} onWrong=${onWrong} onFail=${onFail} />`;
}

/** @param {{open: OpenPdf, id: string, citation: Citation, byServer: boolean, onWrong: () => void, onFail: (error: unknown) => void}} props */
function Sheets({ open, id, citation, byServer, onWrong, onFail }) {
  const frame = useRef(/** @type {HTMLDivElement | null} */ (null));
  const { sizes, onSize } = useSizes(open, onFail);
  const [zoom, setZoom] = useState(1);
  const width = useWidth(frame);
  const [page, setPage] = useState(1);
  const near = useNear(frame, sizes !== null, open.pdf.numPages);
  const goal = useRef(/** @type {{page: number, y: number} | null} */ (null));
  const boxes = citation.boxes ?? [];
  const target = useMemo(() => placeOf(citation, open.pdf.numPages), [citation, open]);
  const scale = sizes ? Math.max(0.1, ((width - 2 * GAP) / widest(sizes)) * zoom) : 1;

  const show = useCallback(() => {
    const wanted = goal.current;
    const sheet = wanted && frame.current?.querySelector(`[data-page="${wanted.page}"]`);
    if (!(sheet instanceof HTMLElement) || !frame.current || !wanted) return;
    const inside = wanted.y > 0 ? wanted.y * sheet.offsetHeight - ABOVE * frame.current.clientHeight : -GAP;
    frame.current.scrollTop = sheet.offsetTop + inside;
  }, []);
  const goTo = (/** @type {number} */ n) => {
    goal.current = { page: n, y: 0 };
    show();
  };
  useLayoutEffect(() => {
    goal.current = target;
    show();
  }, [target, sizes !== null]);
  useLayoutEffect(show, [sizes, scale]); // pages above have another size than was thought: what was gone to stays in view
  const compared = useRef(0);
  const drawn = useCallback((/** @type {number} */ n, /** @type {Picture} */ picture) => {
    if (!(picture instanceof HTMLCanvasElement) || (compared.current += 1) > COMPARED) return;
    looksRight(picture, id, n).then((right) => right || onWrong(), () => undefined);
  }, []);
  const scrolled = () => frame.current && setPage(pageAt(frame.current));
  const letGo = () => (goal.current = null); // from here on the reader scrolls

  return html`<${PageBar} page=${page} pages=${open.pdf.numPages} zoom=${zoom} onPage=${goTo}
      onZoom=${(/** @type {number} */ next) => {
        goal.current ??= placeNow(frame.current);
        setZoom(next);
      }} />
    <div class="panel-scroll panel-sheets" ref=${frame} onScroll=${scrolled} onWheel=${letGo} onPointerDown=${letGo} onKeyDown=${letGo}
      tabindex="0" role="region" aria-label=${t("source.pages")}>
      ${sizes?.map((size, i) => html`<${PdfPage} key=${i} open=${open} id=${byServer ? id : ""} n=${i + 1} size=${size} scale=${scale}
        near=${near.has(i + 1)} boxes=${boxes.filter((box) => box[0] === i + 1)} quote=${citation.quote} onSize=${onSize} onDrawn=${drawn} onFail=${onFail} />`)}
    </div>`;
}

/** The size of every page; that of the first one until its own is known. @param {OpenPdf} open @param {(error: unknown) => void} onFail */
function useSizes(open, onFail) {
  const [sizes, setSizes] = useState(/** @type {Size[] | null} */ (null));
  useEffect(() => {
    let left = false;
    open.pdf.getPage(1).then(
      (first) => {
        const { width, height } = first.getViewport({ scale: 1 });
        if (!left) setSizes(Array.from({ length: open.pdf.numPages }, () => ({ width, height })));
      },
      (error) => !left && onFail(error),
    );
    return () => void (left = true);
  }, [open]);
  const onSize = useCallback((/** @type {number} */ n, /** @type {Size} */ size) => {
    setSizes((old) => {
      const known = old?.[n - 1];
      if (!old || !known || (Math.abs(known.width - size.width) < 0.5 && Math.abs(known.height - size.height) < 0.5)) return old;
      return old.map((each, i) => (i === n - 1 ? size : each));
    });
  }, []);
  return { sizes, onSize };
}

/** The width of a frame as it is. @param {{current: HTMLElement | null}} frame */
function useWidth(frame) {
  const [width, setWidth] = useState(600);
  useLayoutEffect(() => {
    if (!frame.current) return;
    const watch = new ResizeObserver(([entry]) => entry && setWidth(Math.floor(entry.contentRect.width)));
    watch.observe(frame.current);
    return () => watch.disconnect();
  }, []);
  return width;
}

/** Which pages are in the window or next to it. @param {{current: HTMLElement | null}} frame @param {boolean} ready @param {number} count */
function useNear(frame, ready, count) {
  const [near, setNear] = useState(/** @type {ReadonlySet<number>} */ (new Set()));
  useEffect(() => {
    if (!ready || !frame.current) return;
    const watch = new IntersectionObserver(
      (entries) => setNear((old) => {
        const next = new Set(old);
        for (const { target, isIntersecting } of entries) {
          const n = Number(/** @type {HTMLElement} */ (target).dataset["page"]);
          if (isIntersecting) next.add(n);
          else next.delete(n);
        }
        return next;
      }),
      { root: frame.current, rootMargin: "60% 0px" },
    );
    for (const sheet of frame.current.querySelectorAll("[data-page]")) watch.observe(sheet);
    return () => watch.disconnect();
  }, [ready, count]);
  return near;
}

/** @param {readonly Size[]} sizes */
function widest(sizes) {
  return sizes.reduce((most, { width }) => Math.max(most, width), 1);
}

/** Where a citation stands: its page, and how far down. @param {Citation} citation @param {number} pages */
function placeOf(citation, pages) {
  const [first] = citation.boxes ?? [];
  const page = Math.min(Math.max(1, first?.[0] ?? citation.page ?? 1), pages);
  return { page, y: first?.[2] ?? 0 };
}

/** The page across the upper third of the frame. @param {HTMLElement} frame */
function pageAt(frame) {
  const line = frame.scrollTop + frame.clientHeight / 3;
  const sheets = /** @type {NodeListOf<HTMLElement>} */ (frame.querySelectorAll("[data-page]"));
  let [low, high] = [0, sheets.length - 1];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (Number(sheets[middle]?.offsetTop) <= line) low = middle;
    else high = middle - 1;
  }
  return low + 1;
}

/** What is in the middle, so that zooming keeps it there. @param {HTMLElement | null} frame */
function placeNow(frame) {
  if (!frame) return null;
  const page = pageAt(frame);
  const sheet = frame.querySelector(`[data-page="${page}"]`);
  if (!(sheet instanceof HTMLElement)) return null;
  const y = (frame.scrollTop + ABOVE * frame.clientHeight - sheet.offsetTop) / sheet.offsetHeight;
  return { page, y: Math.max(0.0001, y) };
}
