/** A SQL statement, highlighted, to be copied as it ran. The one rule: what the highlighter writes passes the sanitiser too. */
import DOMPurify from "dompurify";
import { t } from "../i18n.js";
import { html, useMemo } from "../ui/html.js";
import { Button, toast } from "../ui/index.js";
import { colour, highlighter } from "../ui/late.js";
import { inLines } from "./statement.js";

/** As those who make them write them. @type {Record<string, string>} */
export const ENGINES = { duckdb: "DuckDB", sqlite: "SQLite", postgres: "PostgreSQL", mysql: "MySQL" };

/** @param {{sql: string, dialect?: string}} props */
export function Sql({ sql, dialect = "" }) {
  const marked = useMemo(() => coloured(inLines(sql)), [sql, highlighter.library.value]);
  const copy = () =>
    navigator.clipboard.writeText(sql).then(
      () => toast(t("data.copied"), "good"),
      () => toast(t("data.copy_failed"), "problem"),
    );
  return html`<div class="data-sql">
    <div class="data-sql-head"><span>${t("data.sql_of", { dialect: ENGINES[dialect] ?? dialect })}</span>
      <${Button} small kind="quiet" icon="copy" onClick=${copy}>${t("data.copy")}<//></div>
    <pre tabindex="0" role="region" aria-label=${t("data.sql")}>${marked === null
      ? html`<code>${sql}</code>`
      : html`<code class="hljs" dangerouslySetInnerHTML=${{ __html: marked }}></code>`}</pre>
  </div>`;
}

/** @param {string} sql @returns {string | null} */
function coloured(sql) {
  const written = colour(sql, "sql");
  return written === null ? null : DOMPurify.sanitize(written, { ALLOWED_TAGS: ["span"], ALLOWED_ATTR: ["class"] });
}
