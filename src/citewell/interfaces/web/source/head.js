/** The head of the panel: what the source is, where in it, when it was fetched, the words that are quoted, and what can be done. */
import { html, useLayoutEffect, useRef, useState } from "../ui/html.js";
import { t } from "../i18n.js";
import { Button, IconButton } from "../ui/button.js";
import { bytes, time } from "../ui/figures.js";
import { Icon } from "../ui/icon.js";
import { CopyButton } from "./copy.js";
import { fileAddress } from "./load.js";
import { webAddress } from "./snapshot.js";
import { closeSource, turn } from "./state.js";
import { hasDocument, wayOf } from "./view.js";
import { spokenKind } from "./spoken.js";

/** @typedef {import("./state.js").Citation} Citation */
/** @typedef {ReturnType<typeof import("./view.js").useInfo>} Found */

const SIGNS = { document: "file", web: "site", memory: "memory", table: "table", confirmed: "knowledge" };

/** @param {{citation: Citation, all: Citation[], found: Found, asText: boolean, onText: () => void}} props */
export function PanelHead({ citation, all, found, asText, onText }) {
  const at = all.findIndex((each) => each.n === citation.n);
  const kind = spokenKind(citation) || citation.origin;
  const title = citation.title || found.info?.title || citation.uri;
  return html`<header class="panel-head">
    <div class="panel-top">
      <${Icon} name=${SIGNS[citation.origin] ?? "file"} />
      <h2 tabindex="-1">${citation.n > 0 && html`<span class="panel-n">${citation.n}</span>`}${title}</h2>
      ${all.length > 1 && at >= 0 && html`<div class="panel-turn" role="group" aria-label=${t("source.citations")}>
        <${IconButton} name="chevron-left" label=${t("source.before")} disabled=${at === 0} onClick=${() => turn(-1)} />
        <span aria-live="polite">${t("source.of", { n: at + 1, all: all.length })}</span>
        <${IconButton} name="chevron-right" label=${t("source.after")} disabled=${at === all.length - 1} onClick=${() => turn(1)} />
      </div>`}
      <${IconButton} name="close" label=${t("source.close")} onClick=${closeSource} />
    </div>
    <${Place} citation=${citation} kind=${kind} title=${title} found=${found} />
    ${citation.quote && citation.origin !== "table" && html`<${Quote} text=${citation.quote} />`}
    <${Tools} citation=${citation} found=${found} asText=${asText} onText=${onText} />
  </header>`;
}

/** Kind, section, page, when it was read. @param {{citation: Citation, kind: string, title: string, found: Found}} props */
export function Place({ citation, kind, title, found }) {
  const section = citation.section.split(" › ").filter((part) => part && part !== title).join(" › ");
  const { info } = found;
  const parts = [
    t(`source.kind_${kind}`),
    section,
    citation.page ? t("source.on_page", { n: citation.page }) : "",
    citation.fetched_at ? t("source.fetched", { time: time(citation.fetched_at) }) : "",
    citation.as_of ? t("source.as_of", { time: time(citation.as_of) }) : "",
    !citation.quote && info ? bytes(info.bytes) : "",
  ];
  return html`<p class="panel-place">${parts.filter(Boolean).map((part, i) => html`<span key=${i}>${part}</span>`)}
    ${citation.status === "weak" && html`<span class="badge warn">${t("source.weak")}</span>`}
    ${citation.gives_orders && html`<span class="badge warn">${t("source.gives_orders")}</span>`}</p>`;
}

/** The words themselves; long ones are folded. @param {{text: string}} props */
export function Quote({ text }) {
  const box = useRef(/** @type {HTMLElement | null} */ (null));
  const [whole, setWhole] = useState(false);
  const [long, setLong] = useState(false);
  useLayoutEffect(() => {
    setWhole(false);
    setLong(Boolean(box.current && box.current.scrollHeight > box.current.clientHeight + 2));
  }, [text]);
  return html`<div class="panel-quote">
    <blockquote ref=${box} class=${whole ? "whole" : ""}>${text}</blockquote>
    ${long && html`<button type="button" class="link" aria-expanded=${whole ? "true" : "false"} onClick=${() => setWhole(!whole)}>
      ${t(whole ? "source.less" : "source.more")}</button>`}
  </div>`;
}

/** `children`: more of them. @param {{citation: Citation, found: Found, asText: boolean, onText: () => void, children?: any}} props */
export function Tools({ citation, found, asText, onText, children = null }) {
  const address = webAddress(citation.uri);
  const { info } = found;
  const both = info && hasDocument(citation) && wayOf(info) !== "text";
  return html`<div class="panel-tools">
    ${children}
    ${citation.quote && html`<${CopyButton} text=${citation.quote} label=${t("source.copy_quote")} />`}
    ${both && html`<${Button} small kind="quiet" icon=${asText ? "paper" : "menu"} aria-pressed=${asText ? "true" : "false"} onClick=${onText}>
      ${t("source.as_text")}<//>`}
    ${address && html`<a class="button quiet small" href=${address} target="_blank" rel="noopener noreferrer">
      <${Icon} name="external" size=${18} />${t("source.original")}<span class="unseen"> (${t("source.new_window")})</span></a>`}
    ${info && !address && html`<a class="button quiet small" href=${fileAddress(info.doc_id)} download>
      <${Icon} name="download" size=${18} />${t("source.download")}</a>`}
  </div>`;
}
