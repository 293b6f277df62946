/** The guide's report: what it found, the words to know, the questions worth asking, and its own question to the reader. */

import { html } from "../ui/html.js";
import { t } from "../i18n.js";
import { said } from "../said.js";
import { Making } from "./making.js";
import { Cites, Statement, pagesOf } from "./statement.js";

/** @typedef {import("./reading.js").Reading} Reading */
/** @typedef {import("./types.js").Report} Report */

/** @param {{reading: Reading}} props */
export function ReportView({ reading }) {
  const session = reading.session.value;
  if (!session) return null;
  const { report, paper } = session;
  if (!report) return html`<${Making} reading=${reading} />`;
  const onCite = (/** @type {any} */ citation) => reading.see(citation);
  const statements = report.parts.reduce((n, part) => n + part.sentences.length, 0);
  return html`<article class="paper-report" lang=${report.lang}>
    <header>
      <h2>${paper.title || session.title}</h2>
      ${paper.authors.length > 0 && html`<p class="paper-authors">${paper.authors.join(report.lang === "zh" ? "、" : ", ")}</p>`}
      <p class="paper-note">${t("papers.report.cited", { n: statements })}</p>
    </header>
    <${Beside} reading=${reading} />
    ${report.parts.map(
      ({ slot, sentences }) => html`<section key=${slot}>
        <h3>${t(`papers.slot.${slot}`)}</h3>
        <ul class="paper-statements">
          ${sentences.map(
            (sentence) => html`<li key=${sentence.text}>
              <${Statement} sentence=${sentence} citations=${report.citations} onCite=${onCite} />
            </li>`,
          )}
        </ul>
      </section>`,
    )}
    ${report.terms.length > 0 &&
    html`<section>
      <h3>${t("papers.report.terms")}</h3>
      <dl class="paper-terms">
        ${report.terms.map(
          ({ term, sentence }) => html`<div key=${term}>
            <dt>${term}</dt>
            <dd><${Statement} sentence=${sentence} citations=${report.citations} onCite=${onCite} /></dd>
          </div>`,
        )}
      </dl>
    </section>`}
    <${Suggestions} reading=${reading} report=${report} />
    ${report.warnings.length > 0 &&
    html`<section class="paper-warnings">
      <h3>${t("papers.report.warnings")}</h3>
      <ul>${report.warnings.map((warning) => html`<li key=${warning}>${said(warning)}</li>`)}</ul>
    </section>`}
    <${Interest} reading=${reading} report=${report} />
  </article>`;
}

/** How far the passages are, which are embedded beside the report. @param {{reading: Reading}} props */
function Beside({ reading }) {
  const job = reading.job.value;
  if (!job || !["queued", "running"].includes(job.state) || job.done >= job.total) return null;
  return html`<p class="paper-note" role="status">${t("papers.making.beside", { done: job.done, total: job.total })}</p>`;
}

/** Questions worth asking, each with the place where its answer stands. @param {{reading: Reading, report: Report}} props */
function Suggestions({ reading, report }) {
  if (!report.questions.length) return null;
  const quiet = Boolean(reading.live.value?.busy) || Boolean(reading.session.value?.removed);
  // before there is a route, a question makes one for it and is then answered
  const ask = (/** @type {string} */ question) => reading.say(question);
  return html`<section>
    <h3>${t("papers.report.questions")}</h3>
    <ul class="paper-suggestions">
      ${report.questions.map(
        ({ question, section, page, citations }) => html`<li key=${question}>
          <button type="button" class="paper-suggestion" disabled=${quiet} onClick=${() => ask(question)}>
            <span>${question}</span>
            <small>${[section.split(" › ").at(-1), pagesOf(page ?? 0)].filter(Boolean).join(" · ")}</small>
          </button>
          <span class="paper-cites"><${Cites} numbers=${citations} citations=${report.citations}
            onCite=${(/** @type {any} */ citation) => reading.see(citation)} /></span>
        </li>`,
      )}
    </ul>
  </section>`;
}

/** The guide's question, with what it proposes, until there is a route. @param {{reading: Reading, report: Report}} props */
function Interest({ reading, report }) {
  const session = reading.session.value;
  if (session?.current_state !== "GUIDE_PENDING_PLAN" || session.removed) return null;
  const quiet = Boolean(reading.live.value?.busy);
  return html`<section class="paper-interest" aria-labelledby="paper-interest">
    <h3 id="paper-interest">${t("papers.interest.title")}</h3>
    <p>${report.question}</p>
    <div class="paper-chips">
      ${proposed(report.question).map(
        (interest) => html`<button type="button" class="paper-chip" key=${interest} disabled=${quiet}
          onClick=${() => reading.interest(interest)}>${interest}</button>`,
      )}
      <button type="button" class="paper-chip paper-chip-plain" disabled=${quiet} title=${t("papers.interest.all.hint")}
        onClick=${() => reading.interest("")}>${t("papers.interest.all")}</button>
    </div>
  </section>`;
}

/** What the guide's question names as examples: what stands in its quotation marks. @param {string} question */
export function proposed(question) {
  const found = [...question.matchAll(/“([^“”]+)”|「([^「」]+)」|"([^"]+)"/g)].map((match) => match[1] ?? match[2] ?? match[3] ?? "");
  return [...new Set(found.map((each) => each.trim()).filter(Boolean))];
}
