/** Several papers side by side: a table of papers by questions, each cell what that paper alone proves. A row comes as soon as its paper was asked. */

import { html, useEffect, useState } from "../ui/html.js";
import { Button, Busy, Problem, Table } from "../ui/index.js";
import { get, post } from "../api.js";
import { openSource } from "../source/state.js";
import { link } from "../state.js";
import { said } from "../said.js";
import { t } from "../i18n.js";
import { Statement } from "./statement.js";

/** @typedef {import("./types.js").Answer} Answer */
/** @typedef {import("./types.js").PaperRow} PaperRow */
/** @typedef {{session_id: string, title: string, cells: Answer[] | null, problem: unknown}} Compared  `cells` null: not asked yet */

const SHOWN = 3; // sentences of a cell, before the rest is unfolded
const MOST_QUESTIONS = 10; // those of the server (service/papers/compare_papers.py)

/** The address of a comparison. @param {string[]} ids */
export function compareLink(ids) {
  return `${link("papers", "compare")}?ids=${ids.map(encodeURIComponent).join(",")}`;
}

/** @param {{ids: string[]}} props */
export function Compare({ ids }) {
  const [text, setText] = useState("");
  const [asked, setAsked] = useState(/** @type {string[]} */ ([]));
  const [rows, setRows] = useState(/** @type {Compared[] | null} */ (null));
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState(/** @type {unknown} */ (null));
  const chosen = ids.join(",");
  const load = async () => {
    try {
      const { papers } = await get("/papers");
      const known = papers.filter((/** @type {PaperRow} */ paper) => ids.includes(paper.session_id));
      setRows(known.map((/** @type {PaperRow} */ paper) => ({ session_id: paper.session_id, title: paper.title, cells: null, problem: null })));
      setProblem(null);
    } catch (error) {
      setProblem(error);
    }
  };
  useEffect(() => void load(), [chosen]);
  const compare = async (/** @type {Event} */ event) => {
    event.preventDefault();
    const questions = [...new Set(text.split("\n").map((line) => line.trim()).filter(Boolean))].slice(0, MOST_QUESTIONS);
    if (!questions.length || !rows || busy) return;
    setBusy(true);
    setAsked(questions);
    setRows(rows.map((row) => ({ ...row, cells: null, problem: null })));
    for (const { session_id } of rows) {
      const made = await post("/comparisons", { session_ids: [session_id], questions }).then(
        ({ papers }) => ({ cells: papers[0].cells, problem: null }),
        (error) => ({ cells: null, problem: error }),
      );
      setRows((now) => now?.map((row) => (row.session_id === session_id ? { ...row, ...made } : row)) ?? now);
    }
    setBusy(false);
  };
  const columns = [
    { key: "title", label: t("papers.compare.paper"), fixed: true, render: (/** @type {Compared} */ row) => html`<a href=${link("papers", row.session_id)}>${row.title}</a>` },
    ...asked.map((question, n) => ({ key: `cell${n}`, label: question, fixed: true, render: (/** @type {Compared} */ row) => html`<${Cell} row=${row} n=${n} />` })),
  ];
  return html`<div class="paper-home">
    <p><a href=${link("papers")}>${t("papers.back")}</a></p>
    <h1>${t("papers.compare.title")}</h1>
    <p class="paper-note">${t("papers.compare.text")}</p>
    ${problem && html`<${Problem} error=${problem} retry=${load} />`}
    ${!rows && !problem && html`<${Busy} />`}
    ${rows && html`<form class="paper-asked" onSubmit=${compare}>
      <label for="compare-questions">${t("papers.compare.questions")}</label>
      <textarea id="compare-questions" rows="4" value=${text} placeholder=${t("papers.compare.placeholder")}
        onInput=${(/** @type {any} */ event) => setText(event.currentTarget.value)}></textarea>
      <${Button} kind="primary" type="submit" busy=${busy} disabled=${!text.trim()}>${t("papers.compare.go")}<//>
    </form>
    <${Table} class="paper-compared" caption=${t("papers.compare.title")} columns=${columns} rows=${rows} id=${(/** @type {Compared} */ row) => row.session_id} />`}
  </div>`;
}

/** What one paper proves of one question. @param {{row: Compared, n: number}} props */
function Cell({ row, n }) {
  if (row.problem) return html`<${Problem} error=${row.problem} />`;
  const answer = row.cells?.[n];
  if (!answer) return html`<${Busy} small />`;
  if (answer.status === "error") return html`<span class="paper-unsure">${said(answer.error_info?.message)}</span>`;
  const proved = answer.sentences.filter((sentence) => sentence.citations.length);
  if (answer.status === "refused" || !proved.length) return html`<span class="muted">${t("papers.compare.none")}</span>`;
  const onCite = (/** @type {import("./types.js").Citation} */ citation) => openSource(citation, answer.citations, answer);
  const lines = proved.map((sentence) => html`<p key=${sentence.text}><${Statement} sentence=${sentence} citations=${answer.citations} onCite=${onCite} /></p>`);
  if (lines.length <= SHOWN) return lines;
  return html`${lines.slice(0, SHOWN)}<details><summary>${t("papers.compare.more", { n: lines.length - SHOWN })}</summary>${lines.slice(SHOWN)}</details>`;
}
