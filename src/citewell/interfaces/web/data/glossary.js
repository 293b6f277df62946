/** What words mean in a source's tables. The one rule: nothing is lost silently: what is not saved is said to be so. */
import { put } from "../api.js";
import { t } from "../i18n.js";
import { html, useRef, useState } from "../ui/html.js";
import { Badge, Button, Field, IconButton, Problem, toast } from "../ui/index.js";

/** @typedef {{term: string, meaning: string}} Term */

/** Lines such as `IT cost = rows of Costs`, `：` too; what follows a # at the beginning is a remark. @param {string} text @returns {Term[]} */
export function termsOf(text) {
  return text.split("\n").flatMap((line) => {
    const found = /^\s*([^#=：\s][^=：]*?)\s*[=：]\s*(\S.*?)\s*$/.exec(line);
    return found ? [{ term: /** @type {string} */ (found[1]), meaning: /** @type {string} */ (found[2]) }] : [];
  });
}

/** @param {{source: string, terms: Term[], mayEdit: boolean, saved: (terms: Term[]) => void}} props */
export function Glossary({ source, terms, mayEdit, saved }) {
  if (mayEdit) return html`<${Editing} source=${source} terms=${terms} saved=${saved} />`;
  return html`<p class="muted">${t("data.glossary_text")}</p>
    ${terms.length ? html`<dl class="data-glossary-read">${terms.map((each) => html`<div key=${each.term}><dt><strong>${each.term}</strong></dt><dd>${each.meaning}</dd></div>`)}</dl>`
      : html`<p>${t("data.glossary_none")}</p>`}`;
}

/** @param {{source: string, terms: Term[], saved: (terms: Term[]) => void}} props */
function Editing({ source, terms, saved }) {
  const [rows, setRows] = useState(terms);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState(/** @type {unknown} */ (null));
  const [pasted, setPasted] = useState("");
  const list = useRef(/** @type {HTMLDivElement | null} */ (null));
  const changed = JSON.stringify(filled(rows)) !== JSON.stringify(terms);
  const set = (/** @type {number} */ at, /** @type {Partial<Term>} */ values) => setRows(rows.map((row, n) => (n === at ? { ...row, ...values } : row)));
  const more = () => {
    setRows([...rows, { term: "", meaning: "" }]);
    requestAnimationFrame(() => /** @type {HTMLElement | undefined} */ ([...(list.current?.querySelectorAll("input") ?? [])].at(-2))?.focus());
  };
  const takeOver = () => {
    const found = termsOf(pasted);
    const names = new Set(found.map((each) => each.term));
    setRows([...filled(rows).filter((row) => !names.has(row.term)), ...found]);
    setPasted("");
  };
  const save = async (/** @type {Event} */ event) => {
    event.preventDefault();
    setBusy(true);
    setError(null);
    try {
      const kept = await put(`/data/sources/${encodeURIComponent(source)}/glossary`, { glossary: filled(rows) });
      setRows(kept.glossary);
      saved(kept.glossary);
      toast(t("data.saved"), "good");
    } catch (problem) {
      setError(problem);
    }
    setBusy(false);
  };
  return html`<form class="data-glossary" onSubmit=${save}>
    <p class="muted">${t("data.glossary_text")}</p>
    ${!rows.length && html`<p>${t("data.glossary_empty")}</p>`}
    <div ref=${list} class="data-terms">${rows.map((row, n) => html`<div class="data-term" key=${n}>
      <${Field} label=${t("data.term_n", { n: n + 1 })} hidden placeholder=${t("data.term")} maxlength="200" value=${row.term}
        onInput=${(/** @type {any} */ event) => set(n, { term: event.currentTarget.value })} />
      <${Field} label=${t("data.meaning_n", { n: n + 1 })} hidden placeholder=${t("data.meaning")} maxlength="1000" value=${row.meaning}
        onInput=${(/** @type {any} */ event) => set(n, { meaning: event.currentTarget.value })} />
      <${IconButton} name="trash" label=${t("data.remove_term", { term: row.term || t("data.term_n", { n: n + 1 }) })}
        onClick=${() => setRows(rows.filter((_, at) => at !== n))} />
    </div>`)}</div>
    <${Problem} error=${error} />
    <div class="row">
      <${Button} icon="plus" onClick=${more}>${t("data.add_term")}<//>
      <${Button} kind="primary" type="submit" busy=${busy} disabled=${!changed}>${t("data.save")}<//>
      ${changed && html`<${Badge} kind="warn">${t("data.unsaved")}<//>`}
    </div>
    <details class="data-paste"><summary>${t("data.paste")}</summary>
      <${Field} label=${t("data.paste_hint")} rows=${5} value=${pasted} onInput=${(/** @type {any} */ event) => setPasted(event.currentTarget.value)} />
      <${Button} disabled=${!termsOf(pasted).length} onClick=${takeOver}>${t("data.paste_take")}<//>
    </details>
  </form>`;
}

/** Rows in which something is said. @param {Term[]} rows */
function filled(rows) {
  return rows.map(({ term, meaning }) => ({ term: term.trim(), meaning: meaning.trim() })).filter(({ term, meaning }) => term || meaning);
}
