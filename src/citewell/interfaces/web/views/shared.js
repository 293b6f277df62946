/** A conversation that somebody shared by a link: to read, not to go on with. The one rule: what its reader may not open is not offered as if they could. */
import { get } from "../api.js";
import { AnswerView } from "../ask/answer.js";
import { openSource } from "../source/state.js";
import { useSubject } from "../frame/subject.js";
import { t } from "../i18n.js";
import { day, Busy, Empty, Problem, time, toast } from "../ui/index.js";
import { html, useEffect, useState } from "../ui/html.js";
import { Markdown } from "../ui/markdown.js";

/** @typedef {import("../ask/types.js").Answer} Answer */
/** @typedef {import("../ask/types.js").Citation} Citation */
/** @typedef {{question: string, said: string, at: number, answer: Answer | null}} Exchange */
/** @typedef {{title: string, shared_by: string, created_at: number, expires_at: number, exchanges: Exchange[]}} Shared */

/** @param {{parts: string[], params: Record<string, string>}} props */
export default function SharedView({ parts }) {
  const id = parts[0] ?? "";
  const [found, setFound] = useState(/** @type {Shared | null} */ (null));
  const [error, setError] = useState(/** @type {any} */ (null));
  const load = () => {
    setError(null);
    get(`/shared/${encodeURIComponent(id)}`).then(setFound, setError);
  };
  useEffect(load, [id]);
  useSubject(found?.title ?? "");
  if (error?.status === 404) return html`<div class="page"><${Empty} icon="link" title=${t("shared.dead")} text=${t("shared.dead_text")} /></div>`;
  if (error) return html`<div class="page"><${Problem} error=${error} retry=${load} /></div>`;
  if (!found) return html`<div class="page"><h1 class="unseen">${t("shared.heading")}</h1><${Busy} /></div>`;
  return html`<div class="page shared">
    <h1>${found.title || t("ask.untitled")}</h1>
    <p class="muted">${t("shared.by", { user: found.shared_by, day: day(found.created_at), end: day(found.expires_at) })}</p>
    ${found.exchanges.map((each, n) => html`<${One} key=${n} exchange=${each} />`)}
  </div>`;
}

/** @param {{exchange: Exchange}} props */
function One({ exchange: { question, said, at, answer } }) {
  const cite = (/** @type {Citation} */ citation) => {
    if (citation.doc_id && answer) openSource(citation, answer.citations, answer);
    else toast(t("shared.closed"));
  };
  return html`<section class="turn">
    <header class="question"><h2 class="question-text">${question}</h2>${at > 0 && html`<time class="question-time">${time(at)}</time>`}</header>
    ${answer ? html`<${AnswerView} answer=${answer} onCite=${cite} plain />`
      : html`<div class="answer"><${Markdown} text=${said} /><p class="hint">${t("ask.only_words")}</p></div>`}
  </section>`;
}
