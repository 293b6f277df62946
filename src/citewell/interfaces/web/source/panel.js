/**
 * The panel beside the page that shows where a sentence is from: `openSource(citation, all)`, `openDocument(doc)`.
 * The one rule: the focus goes in when it opens and back when it closes; on a phone it covers the page and keeps the focus.
 */
import { html, useEffect, useLayoutEffect, useRef, useState } from "../ui/html.js";
import { useBack } from "../ui/back.js";
import { t } from "../i18n.js";
import { PanelHead } from "./head.js";
import { Edge, usePanelWidth } from "./edge.js";
import { closeSource, opened } from "./state.js";
import { SourceView, useInfo } from "./view.js";

export { closeSource, openDocument, openSource, opened } from "./state.js";
export { SourceView, useInfo } from "./view.js";

/** @typedef {import("./state.js").Opened} Opened */

const PHONE = matchMedia("(max-width: 56rem)");

/** The frame of the page has it once. */
export function SourcePanel() {
  const now = opened.value;
  return now && html`<${Panel} ...${now} />`;
}

/** @param {Opened} props */
function Panel({ citation, all, answer, call }) {
  const box = useRef(/** @type {HTMLDialogElement | null} */ (null));
  const phone = usePhone();
  const edge = usePanelWidth(phone);
  const [asText, setAsText] = useState(false);
  const found = useInfo(citation, call);
  useLayoutEffect(() => {
    const dialog = box.current;
    if (!dialog) return;
    if (phone) dialog.showModal();
    else dialog.show();
    return () => dialog.close();
  }, [phone]);
  useEffect(() => box.current?.querySelector("h2")?.focus(), [call, phone]);
  useEffect(() => setAsText(false), [citation.doc_id, call]);
  useEscape(box);
  useBack(phone, closeSource);
  return html`<dialog class=${`panel${phone ? " sheet" : ""}`} ref=${box} style=${phone ? undefined : { inlineSize: `${edge.width}px` }}
    aria-label=${t("source.panel")} onCancel=${(/** @type {Event} */ event) => {
      event.preventDefault();
      closeSource();
    }}>
    ${!phone && html`<${Edge} ...${edge} />`}
    <${PanelHead} citation=${citation} all=${all} found=${found} asText=${asText} onText=${() => setAsText(!asText)} />
    <div class="panel-body"><${SourceView} citation=${citation} answer=${answer} found=${found} asText=${asText} /></div>
  </dialog>`;
}

function usePhone() {
  const [phone, setPhone] = useState(PHONE.matches);
  useEffect(() => {
    const changed = () => setPhone(PHONE.matches);
    PHONE.addEventListener("change", changed);
    return () => PHONE.removeEventListener("change", changed);
  }, []);
  return phone;
}

/** Escape closes it wherever the focus is, unless something else that is open wants the key. @param {{current: HTMLDialogElement | null}} box */
function useEscape(box) {
  useEffect(() => {
    const pressed = (/** @type {KeyboardEvent} */ event) => {
      if (event.key !== "Escape" || event.defaultPrevented || event.isComposing) return;
      const target = event.target instanceof Element ? event.target : null;
      const inside = box.current?.contains(target);
      const above = document.querySelector("dialog:modal");
      const typing = target?.closest("input, textarea, select, [role=menu], [contenteditable]");
      if (above && above !== box.current) return;
      if (!inside && typing) return;
      event.preventDefault();
      closeSource();
    };
    document.addEventListener("keydown", pressed);
    return () => document.removeEventListener("keydown", pressed);
  }, []);
}
