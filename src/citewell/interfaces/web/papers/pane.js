/**
 * The paper itself: a PDF page by page, anything else as its text. What is cited is marked.
 * The one rule: words that the reader marks in it can be asked about; nothing of the file is ever run.
 */

import { html, useEffect, useMemo, useRef, useState } from "../ui/html.js";
import { Button, Empty, IconButton, Problem } from "../ui/index.js";
import { t } from "../i18n.js";
import { light } from "./light.js";
import { infoOf } from "../source/load.js";
import { PdfInAWay } from "../source/pdf_ways.js";
import { TextView } from "../source/text.js";

/** @typedef {import("./reading.js").Reading} Reading */
/** @typedef {import("./types.js").Look} Look */
/** @typedef {import("../source/load.js").Info} Info */

const FEWEST = 2; // letters that can be marked
const MOST = 4000; // characters, as the server takes them

/** @param {{reading: Reading}} props */
export function Pane({ reading }) {
  const session = reading.session.value;
  const docId = session?.paper.doc_id ?? "";
  const removed = Boolean(session?.removed);
  const [info, setInfo] = useState(/** @type {Info | null} */ (null));
  const [problem, setProblem] = useState(/** @type {unknown} */ (null));
  const box = useRef(/** @type {HTMLDivElement | null} */ (null));
  const load = () => {
    setProblem(null);
    if (docId && !removed) infoOf(docId).then(setInfo, setProblem);
  };
  useEffect(load, [docId, removed]);
  useMarking(box, reading);
  const look = reading.look.value;
  useEffect(() => (look && box.current ? light(box.current, look) : undefined), [look, info]);
  const inside = removed
    ? html`<${Empty} icon="paper" title=${t("papers.removed.title")} text=${t("papers.pane.removed")} />`
    : problem
      ? html`<${Problem} error=${problem} retry=${load} />`
      : info
        ? html`<${Shown} info=${info} look=${look} />`
        : html`<p class="panel-wait" role="status">${t("papers.pane.loading")}</p>`;
  return html`<div class="paper-pane" ref=${box}>${inside}<${Marked} reading=${reading} /></div>`;
}

/** @param {{info: Info, look: Look | null}} props */
function Shown({ info, look }) {
  const [failed, setFailed] = useState(false);
  const citation = useMemo(() => citationOf(info, look), [info, look]);
  const paged = info.media_type === "application/pdf" && info.pages > 0;
  if (paged && !failed) return html`<${PdfInAWay} info=${info} citation=${citation} onFail=${() => setFailed(true)} />`;
  return html`<${TextView} info=${info} citation=${citation} />`;
}

/** A place as the viewers take it. @param {Info} info @param {Look | null} look @returns {import("../ask/types.js").Citation} */
function citationOf(info, look) {
  const { page = 0, start = 0, end = 0, boxes = [], quote = "" } = look ?? {};
  const place = { page: page || null, start: Math.max(0, start), end: Math.max(0, end), boxes, quote };
  const of = { n: 0, doc_id: info.doc_id, title: info.title, uri: info.uri, section: "", score: 0, fetched_at: null };
  return { ...of, ...place, origin: "document", status: "verified" };
}

/** Keeps `reading.marked` what the reader has marked in the paper. @param {{current: HTMLElement | null}} box @param {Reading} reading */
function useMarking(box, reading) {
  useEffect(() => {
    const changed = () => {
      const selection = document.getSelection();
      const node = selection?.anchorNode ?? null;
      const inside = selection && !selection.isCollapsed && box.current?.contains(node);
      const words = inside ? selection.toString().replace(/\s+/g, " ").trim().slice(0, MOST) : "";
      reading.marked.value = words.replace(/[^\p{L}\p{N}]/gu, "").length >= FEWEST ? words : "";
    };
    document.addEventListener("selectionchange", changed);
    return () => {
      document.removeEventListener("selectionchange", changed);
      reading.marked.value = "";
    };
  }, [reading]);
}

/** What can be done with the marked words. @param {{reading: Reading}} props */
function Marked({ reading }) {
  const words = reading.marked.value;
  const session = reading.session.value;
  if (!words || !session || session.removed || session.current_state === "GUIDE_PENDING_REPORT") return null;
  const done = () => {
    document.getSelection()?.removeAllRanges();
    reading.marked.value = "";
  };
  const about = () => {
    reading.about.value = words;
    reading.side.value = "guide";
    done();
  };
  const explain = () => {
    void reading.askAbout("", words);
    done();
  };
  // the press must not take the selection away before the click has read it
  const hold = (/** @type {Event} */ event) => event.preventDefault();
  return html`<div class="paper-marked" role="toolbar" aria-label=${t("papers.mark.label")} onPointerDown=${hold} onMouseDown=${hold}>
    <q>${words}</q>
    <span class="paper-actions">
      <${Button} small kind="primary" onClick=${about}>${t("papers.mark.ask")}<//>
      <${Button} small disabled=${Boolean(reading.live.value?.busy)} onClick=${explain}>${t("papers.mark.explain")}<//>
      <${IconButton} name="close" size=${16} label=${t("papers.mark.drop")} onClick=${done} />
    </span>
  </div>`;
}
