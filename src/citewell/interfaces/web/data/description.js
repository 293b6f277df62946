/** What people write of a source's tables, as YAML. The one rule: nothing is saved that does not fit the tables, and each problem names its line. */
import { get, post, put } from "../api.js";
import { t } from "../i18n.js";
import { said } from "../said.js";
import { html, useEffect, useRef, useState } from "../ui/html.js";
import { Badge, Busy, Button, Field, Problem, toast } from "../ui/index.js";

/** @typedef {{line: number, message: string, hint: string}} Wrong */

/** @param {{source: string, mayEdit: boolean, saved: () => void}} props */
export function Description({ source, mayEdit, saved }) {
  const here = `/data/sources/${encodeURIComponent(source)}/description`;
  const [kept, setKept] = useState(/** @type {{text: string, kept: boolean} | null} */ (null));
  const [error, setError] = useState(/** @type {unknown} */ (null));
  const load = () => {
    setError(null);
    get(here).then(setKept, setError);
  };
  useEffect(load, [source]);
  if (error) return html`<${Problem} error=${error} retry=${load} />`;
  if (!kept) return html`<${Busy} label=${t("data.loading")} />`;
  return html`<p class="muted">${t("data.description_text")}</p>
    ${!kept.kept && html`<p>${t("data.description_draft")}</p>`}
    ${mayEdit ? html`<${Editing} here=${here} kept=${kept.text} saved=${saved} />` : html`<pre class="data-yaml" tabindex="0">${kept.text}</pre>`}`;
}

/** @param {{here: string, kept: string, saved: () => void}} props */
function Editing({ here, kept, saved }) {
  const [text, setText] = useState(kept);
  const [before, setBefore] = useState(kept);
  const [busy, setBusy] = useState("");
  const [error, setError] = useState(/** @type {unknown} */ (null));
  const [wrong, setWrong] = useState(/** @type {Wrong[]} */ ([]));
  const area = useRef(/** @type {HTMLElement | null} */ (null));
  /** Whether it fits the tables. @param {"check" | "save"} doing */
  const run = async (doing) => {
    setBusy(doing);
    setError(null);
    try {
      const found = await post(`${here}/check`, { text });
      setWrong(found.problems);
      if (!found.problems.length) {
        if (doing === "save") {
          await put(here, { text });
          setBefore(text);
          saved();
        }
        toast(doing === "save" ? t("data.saved") : t("data.description_fits", found), "good");
      }
    } catch (problem) {
      setError(problem);
    }
    setBusy("");
  };
  const goTo = (/** @type {number} */ line) => {
    const box = area.current?.querySelector("textarea");
    if (!box) return;
    const lines = text.split("\n");
    const start = lines.slice(0, line - 1).join("\n").length + (line > 1 ? 1 : 0);
    box.focus();
    box.setSelectionRange(start, start + (lines[line - 1] ?? "").length);
  };
  return html`<form class="data-description" ref=${area} onSubmit=${(/** @type {Event} */ event) => {
    event.preventDefault();
    void run("save");
  }}>
    <${Field} label=${t("data.description_yaml")} hidden class="data-yaml" rows=${22} spellcheck="false" value=${text}
      onInput=${(/** @type {any} */ event) => setText(event.currentTarget.value)} />
    <${Problem} error=${error} />
    ${wrong.length > 0 && html`<ul class="data-wrong" role="alert">${wrong.map((each, n) => html`<li key=${n}>
      <${Button} kind="quiet" onClick=${() => goTo(each.line)}>${t("data.problem_at", { line: each.line })}<//>${" "}${said(each.message)}
      ${each.hint && html`<span class="muted"> ${said(each.hint)}</span>`}</li>`)}</ul>`}
    <div class="row">
      <${Button} kind="primary" type="submit" busy=${busy === "save"} disabled=${text === before}>${t("data.save")}<//>
      <${Button} busy=${busy === "check"} onClick=${() => run("check")}>${t("data.check")}<//>
      ${text !== before && html`<${Badge} kind="warn">${t("data.unsaved")}<//>`}
    </div>
  </form>`;
}
