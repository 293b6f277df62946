/** What the paper is made of, as a list that leads to its pages: parts, figures, tables, equations, references. */

import { html } from "../ui/html.js";
import { Busy } from "../ui/index.js";
import { t } from "../i18n.js";
import { pagesOf } from "./statement.js";

/** @typedef {import("./reading.js").Reading} Reading */
/** @typedef {{name: string, page: number, start: number, end: number, text?: string, depth?: number, note?: string}} Row */

/** @param {{reading: Reading}} props */
export function OutlineView({ reading }) {
  const structure = reading.structure.value;
  if (reading.session.value?.removed) return html`<p class="paper-note paper-pad">${t("papers.pane.removed")}</p>`;
  if (!structure) return html`<${Busy} />`;
  const { parts, floats, equations, references, keywords } = structure;
  const of = (/** @type {string} */ kind) => floats.filter((each) => each.kind === kind);
  const shown = (/** @type {typeof floats} */ list) =>
    list.map(({ label, caption, page, start, end }) => ({ name: label, text: after(caption, label), page, start, end }));
  /** @type {[string, Row[]][]} */
  const groups = [
    ["parts", parts.map((part) => ({
      name: part.heading || t("papers.outline.front"),
      depth: Math.max(0, part.heading_path.length - 1),
      note: part.appendix ? t("papers.outline.appendix") : "",
      page: part.first_page,
      start: part.start,
      end: part.end,
    }))],
    ["figures", shown(of("figure"))],
    ["tables", shown(of("table"))],
    ["equations", equations.map(({ label, text, page, start, end }) => ({ name: label, text: after(text, label), page, start, end }))],
    ["references", references.map(({ key, text, page, start, end }) => ({ name: "", text: text || key, page, start, end }))],
  ];
  const some = groups.filter(([, rows]) => rows.length);
  if (!some.length) return html`<p class="paper-note paper-pad">${t("papers.outline.none")}</p>`;
  return html`<div class="paper-outline" lang=${reading.session.value?.paper.lang}>
    ${keywords.length > 0 && html`<p class="paper-note">${t("papers.outline.keywords")}: ${keywords.join(" · ")}</p>`}
    ${some.map(([kind, rows]) => html`<details key=${kind} open=${kind !== "references" && kind !== "equations"}>
      <summary>${t(`papers.outline.${kind}`)} <span class="paper-count">${rows.length}</span></summary>
      <ul>${rows.map((row) => html`<li key=${row.start}><${Place} row=${row} reading=${reading} /></li>`)}</ul>
    </details>`)}
  </div>`;
}

/** @param {{row: Row, reading: Reading}} props */
function Place({ row, reading }) {
  const { name, text = "", page, start, end, depth = 0, note = "" } = row;
  const go = () => reading.see({ page, start, end, quote: text || name });
  return html`<button type="button" class=${`paper-row paper-depth-${Math.min(depth, 3)}`} onClick=${go}>
    <span>${name && html`<strong>${name}</strong>`}${name && text ? " " : ""}${text}${note && html` <small>(${note})</small>`}</span>
    <small>${pagesOf(page)}</small>
  </button>`;
}

/** A caption without the label that it begins or ends with. @param {string} text @param {string} label */
function after(text, label) {
  const rest = text.startsWith(label) ? text.slice(label.length) : text.endsWith(label) ? text.slice(0, -label.length) : text;
  return rest.replace(/^[\s:.：．]+/, "").trim();
}
