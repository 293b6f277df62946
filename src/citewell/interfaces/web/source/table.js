/** Rows of a table that an answer rests on, and the statement that brought them. The one rule: cells are text, never markup. */
import { html, useMemo } from "../ui/html.js";
import { t } from "../i18n.js";
import { CopyButton } from "./copy.js";
import { rowsOf } from "./rows.js";

/** @typedef {import("./state.js").Citation} Citation */
/** @typedef {import("./state.js").Answer} Answer */

/** @param {{citation: Citation, answer: Answer | null}} props */
export function TableRows({ citation, answer }) {
  const data = answer?.data && answer.data.source === citation.doc_id ? answer.data : null;
  const found = useMemo(() => rowsOf(citation.quote, data?.columns) ?? rowsOf(citation.quote), [citation, data]);
  return html`<div class="panel-scroll panel-rows" tabindex="0" role="region" aria-label=${t("source.rows")}>
    <h3>${t("source.rows")}</h3>
    ${found
      ? html`<table><thead><tr>${found.columns.map((name, i) => html`<th scope="col" key=${i}>${name}</th>`)}</tr></thead>
          <tbody>${found.rows.map((row, n) => html`<tr key=${n}>${row.map((cell, i) => html`<td key=${i}>${cell}</td>`)}</tr>`)}</tbody></table>`
      : html`<pre>${citation.quote}</pre>`}
    ${data?.sql && html`<h3>${t("source.statement")}</h3><pre class="panel-code"><code>${data.sql}</code></pre>
      <${CopyButton} text=${data.sql} label=${t("source.copy_statement")} />`}
    <p><a href=${`#/data/${encodeURIComponent(citation.doc_id)}`}>${t("source.to_table", { name: citation.title })}</a></p>
  </div>`;
}
