/** The report while it is made: how far it is, or why it is not. The one rule: after a reload it says the same. */

import { html } from "../ui/html.js";
import { ApiError } from "../api.js";
import { Button, Problem, Progress } from "../ui/index.js";
import { t } from "../i18n.js";

/** @typedef {import("./reading.js").Reading} Reading */
/** @typedef {import("./types.js").Job} Job */

/** @param {{reading: Reading}} props */
export function Making({ reading }) {
  const job = reading.job.value;
  const live = reading.live.value;
  const elsewhere = Boolean(reading.session.value?.under_way.length);
  const running = job && ["queued", "running"].includes(job.state);
  if (running || live?.busy || elsewhere || (!job && reading.searching.value)) {
    return html`<section class="paper-making" aria-live="polite">
      <h2>${t("papers.making.title")}</h2>
      <${Progress} value=${share(job)} label=${t("papers.making.title")} hidden />
      <p>${doing(job)}</p>
      <p class="paper-note">${t("papers.making.text")}</p>
      ${running && html`<${Button} onClick=${() => reading.stopReport()}>${t("papers.making.cancel")}<//>`}
    </section>`;
  }
  const failed = live?.problem ?? job?.error;
  return html`<section class="paper-making">
    <h2>${t(failed ? "papers.failed.title" : "papers.failed.none")}</h2>
    ${failed && html`<${Problem} error=${failed instanceof Error ? failed : new ApiError(0, failed)} />`}
    ${!reading.session.value?.removed &&
    html`<${Button} kind="primary" onClick=${() => reading.makeReport()}>${t("papers.failed.again")}<//>`}
  </section>`;
}

/** 0 to 1; null while nothing is known. @param {Job | null} job */
function share(job) {
  return job && job.total > 1 ? job.done / job.total : null;
}

/** @param {Job | null} job */
function doing(job) {
  if (job?.state === "queued") return t("papers.making.wait");
  return job && job.total > 1 ? t("papers.making.embed", { done: job.done, total: job.total }) : t("papers.making.read");
}
