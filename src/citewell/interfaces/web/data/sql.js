/** A SQL statement, highlighted, to be copied as it ran. The one rule: what the highlighter writes passes the sanitiser too. */
import DOMPurify from "dompurify";
import hljs from "highlight.js";
import { t } from "../i18n.js";
import { html, useMemo } from "../ui/html.js";
import { Button, toast } from "../ui/index.js";
import { inLines } from "./statement.js";

/** As those who make them write them. @type {Record<string, string>} */
export const ENGINES = { duckdb: "DuckDB", sqlite: "SQLite", postgres: "PostgreSQL", mysql: "MySQL" };
const LONGEST = 50_000; // characters that are highlighted

/** @param {{sql: string, dialect?: string}} props */
export function Sql({ sql, dialect = "" }) {
  const marked = useMemo(() => coloured(inLines(sql)), [sql]);
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
  if (sql.length > LONGEST || !hljs.getLanguage("sql")) return null;
  const written = hljs.highlight(sql, { language: "sql", ignoreIllegals: true }).value;
  return DOMPurify.sanitize(written, { ALLOWED_TAGS: ["span"], ALLOWED_ATTR: ["class"] });
}
