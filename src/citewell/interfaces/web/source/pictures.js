/**
 * Pages as pictures, drawn by the server with the cited lines marked: where pdf.js cannot read a file, and for files that are
 * pictures themselves. The one rule: a file is shown as a picture only under one of the types listed here, never as it says itself.
 */
import { html, useEffect, useLayoutEffect, useRef, useState } from "../ui/html.js";
import { t } from "../i18n.js";
import { bytesOf, pageAddress } from "./load.js";
import { PageBar } from "./page_bar.js";
import { Marks } from "./pdf_page.js";
import { intoView } from "./scroll.js";

/** @typedef {import("./load.js").Info} Info */
/** @typedef {import("./state.js").Citation} Citation */

const PICTURES = ["image/png", "image/jpeg", "image/webp", "image/gif", "image/bmp", "image/avif"];
const WIDTH = 1600; // pixels of a page's picture

/** Whether a file can be shown as it is. @param {string} type */
export function isPicture(type) {
  return PICTURES.includes(type);
}

/** @param {{info: Info, citation: Citation, onFail: (error: unknown) => void}} props */
export function PagePictures({ info, citation, onFail }) {
  const [page, setPage] = useState(1);
  const [zoom, setZoom] = useState(1);
  const [drawn, setDrawn] = useState(false);
  const frame = useRef(/** @type {HTMLDivElement | null} */ (null));
  const boxes = citation.boxes ?? [];
  useEffect(() => setPage(Math.min(Math.max(1, boxes[0]?.[0] ?? citation.page ?? 1), info.pages)), [citation, info]);
  const here = boxes.filter((box) => box[0] === page);
  useLayoutEffect(() => {
    if (drawn) intoView(frame.current, frame.current?.querySelector(".panel-mark"));
  }, [drawn, page, citation]);
  return html`<${PageBar} page=${page} pages=${info.pages} zoom=${zoom} onZoom=${setZoom}
      onPage=${(/** @type {number} */ n) => (setDrawn(false), setPage(n))} />
    <div class="panel-scroll panel-sheets" ref=${frame} tabindex="0" role="region" aria-label=${t("source.pages")}>
      <div class="panel-sheet panel-picture" data-page=${page} style=${{ inlineSize: `${zoom * 100}%` }}>
        <img src=${pageAddress(info.doc_id, page, citation, WIDTH)} alt=${t("source.page_picture", { n: page })}
          onLoad=${() => setDrawn(true)} onError=${() => onFail(new Error("no picture of the page"))} />
        <${Unseen} boxes=${here} />
      </div>
    </div>`;
}

/** The server has drawn the marks into the picture; these are for finding them. @param {{boxes: number[][]}} props */
function Unseen({ boxes }) {
  return html`<div class="panel-unseen"><${Marks} boxes=${boxes} /></div>`;
}

/** A file that is a picture. @param {{info: Info, citation: Citation, onFail: (error: unknown) => void}} props */
export function PictureView({ info, citation, onFail }) {
  const [address, setAddress] = useState("");
  const frame = useRef(/** @type {HTMLDivElement | null} */ (null));
  useEffect(() => {
    let made = "";
    let left = false;
    bytesOf(info).then(
      (bytes) => {
        if (left) return;
        made = URL.createObjectURL(new Blob([bytes], { type: info.media_type }));
        setAddress(made);
      },
      (error) => !left && onFail(error),
    );
    return () => {
      left = true;
      if (made) URL.revokeObjectURL(made);
    };
  }, [info.doc_id, info.sha256]);
  const show = () => intoView(frame.current, frame.current?.querySelector(".panel-mark"));
  useEffect(show, [citation]);
  if (!address) return html`<p class="panel-wait" role="status">${t("source.loading")}</p>`;
  return html`<div class="panel-scroll panel-sheets" ref=${frame} tabindex="0" role="region" aria-label=${t("source.pages")}>
    <div class="panel-sheet panel-picture">
      <img src=${address} alt=${t("source.picture", { title: info.title })} onLoad=${show} onError=${() => onFail(new Error("no picture"))} />
      <${Marks} boxes=${citation.boxes ?? []} />
    </div>
  </div>`;
}
