/** What is under way in the library, and what became of it, file by file. The one rule: a failure says why and what to do. */
import { known, t } from "../i18n.js";
import { said } from "../said.js";
import { bytes, figure } from "../ui/figures.js";
import { html, useState } from "../ui/html.js";
import { Badge, Button, Icon, IconButton, Problem, Progress, toast } from "../ui/index.js";
import { advice, shortened } from "./advice.js";
import { cancel, dismiss, ended, tryAgain, works } from "./jobs.js";
import { fileName } from "./kinds.js";

/** @typedef {import("./jobs.js").Work} Work */
/** @typedef {import("./jobs.js").FileReport} FileReport */

const SHOWN = 50; // files of a result before the rest is asked for
const STATES = /** @type {const} */ (["added", "replaced", "unchanged", "failed"]);
const BADGES = /** @type {const} */ ({ added: "good", replaced: "good", unchanged: "plain", failed: "bad" });

/** Of one collection, or all. @param {{collection?: string}} props */
export function Works({ collection }) {
  const shown = works.value.filter((work) => !collection || work.collection === collection);
  if (!shown.length) return null;
  return html`<section class="lib-works" aria-label=${t("library.work")}>
    <h2 class="unseen">${t("library.work")}</h2>
    ${shown.map((work) => html`<${One} key=${work.id} work=${work} />`)}
  </section>`;
}

/** @param {{work: Work}} props */
function One({ work }) {
  const over = ended(work);
  const what = nameOf(work);
  const stop = () => cancel(work).catch(toast);
  return html`<article class=${`lib-work ${over ? "over" : ""}`} aria-label=${what}>
    <header>
      <strong>${what}</strong>
      <span class="lib-work-buttons">
        ${over
          ? html`<${IconButton} name="close" label=${t("library.dismiss_of", { what })} onClick=${() => dismiss(work.id)} />`
          : html`<${Button} small onClick=${stop} aria-label=${t("library.stop_of", { what })}>${t("library.stop")}<//>`}
      </span>
    </header>
    ${over ? html`<${End} work=${work} />` : html`<${Far} work=${work} what=${what} />`}
    <${Results} work=${work} />
  </article>`;
}

/** @param {Work} work */
function nameOf({ job, names, collection }) {
  if (names.length === 1 && ["upload", "page"].includes(job?.kind ?? "upload")) return `${names[0]} → ${collection}`;
  return t(`library.kind_${job?.kind ?? "upload"}`, { n: names.length, collection });
}

/** How far it is. @param {{work: Work, what: string}} props */
function Far({ work, what }) {
  if (!work.job) {
    const words = t("library.sending_of", { part: bytes(work.sent * work.bytes), size: bytes(work.bytes) });
    return html`<${Progress} value=${work.sent} label=${what} hidden detail=${words} />`;
  }
  const { done, total } = work.job;
  return html`<${Progress} value=${total ? done / total : null} label=${what} hidden detail=${told(work.job)} />`;
}

/** What the server says of a job, in the page's language. @param {import("./jobs.js").Job} job */
function told(job) {
  if (job.state === "queued") return t("library.queued");
  const { detail, done, total } = job;
  const name = /^reading ([^,]+)/.exec(detail)?.[1];
  const passages = /(\d+) of (\d+) passages/.exec(detail);
  const left = Number(/about (\d+) s left/.exec(detail)?.[1] ?? NaN);
  const parts = [
    name && t("library.reading", { name: fileName(name) }),
    passages && t("library.embedding", { done: figure(Number(passages[1])), total: figure(Number(passages[2])) }),
    job.kind === "rechunk" && total > 0 && t("library.cutting", { done, total }),
    job.kind === "refresh" && total > 0 && t("library.pages_done", { done, total }),
    left > 90 ? t("library.left_min", { n: Math.round(left / 60) }) : left > 0 && t("library.left_s", { n: left }),
  ].filter(Boolean);
  return parts.join(" · ") || t("library.running");
}

/** How it ended. @param {{work: Work}} props */
function End({ work }) {
  if (work.error) return html`<${Problem} error=${work.error} retry=${work.again} />`;
  const { state, error, result } = /** @type {import("./jobs.js").Job} */ (work.job);
  if (state === "failed") {
    return html`<div class="problem" role="alert"><${Icon} name="warning" /><div><p class="what">${said(error?.message)}</p>
      ${error?.hint && html`<p class="hint">${said(error.hint)}</p>`}
      <p><${Button} small icon="refresh" onClick=${() => tryAgain(work).catch(toast)}>${t("library.again")}<//></p></div></div>`;
  }
  return html`<p role="status" class="lib-work-end">${t(state === "cancelled" ? "library.cancelled_keeps" : `library.state_${state}`)}
    ${result && html`${" "}<span class="muted">${summed(/** @type {any} */ (work.job).kind, result)}</span>`}</p>`;
}

/** @param {string} kind @param {Record<string, any>} result */
function summed(kind, result) {
  if (kind === "rechunk") return t("library.rechunked", result);
  if (kind === "refresh") return t("library.refreshed", result);
  return "";
}

/** @param {{work: Work}} props */
function Results({ work }) {
  const files = /** @type {FileReport[]} */ (work.job?.result?.["files"] ?? []);
  const bad = files.filter((file) => file.status === "failed" || file.warnings.length);
  const [all, setAll] = useState(SHOWN);
  const [others, setOthers] = useState(false);
  if (!files.length && work.job?.kind !== "rechunk") return null;
  const failed = /** @type {string[]} */ (work.job?.kind === "rechunk" ? (work.job.result?.["failed"] ?? []) : []);
  const good = files.filter((file) => !bad.includes(file));
  const sorted = bad.length && !others ? bad : [...bad, ...good];
  const sums = STATES.map((state) => [state, files.filter((file) => file.status === state).length]).filter(([, n]) => n);
  if (!files.length && !failed.length) return null;
  return html`<details class="lib-results" open=${bad.length > 0 || failed.length > 0}>
    <summary>${t("library.results")}${" "}${sums.map(([state, n]) => html`<${Badge} key=${state} kind=${BADGES[/** @type {"added"} */ (state)]}>
      ${t(`library.sum_${state}`, { n })}<//>${" "}`)}</summary>
    <ul>${sorted.slice(0, all).map((file) => html`<${Reported} key=${file.path} file=${file} />`)}
      ${failed.map((text) => html`<li key=${text}><${Badge} kind="bad">${t("library.file_failed")}<//>${" "}${said(text)}</li>`)}</ul>
    ${sorted === bad && good.length > 0 && html`<button type="button" class="link" onClick=${() => setOthers(true)}>
      ${t("library.others_n", { n: good.length })}</button>`}
    ${sorted.length > all && html`<${Button} small onClick=${() => setAll(all + SHOWN)}>
      ${t("library.show_more", { n: Math.min(SHOWN, sorted.length - all), total: sorted.length })}<//>`}
  </details>`;
}

const SCANNED = "library.advice_scanned";
const OWN_WORDS = [SCANNED, "library.advice_locked"];

/** @param {{file: FileReport}} props */
function Reported({ file }) {
  const key = file.status === "failed" ? advice(file.reason) : "";
  // what the server's own hint says there is said in the page's words below
  const told = OWN_WORDS.includes(key) ? said(file.reason).split(/[;；]/)[0] ?? "" : said(file.reason);
  const [reason, rest] = shortened(told);
  return html`<li class=${`lib-file ${file.status}`}>
    <${Badge} kind=${BADGES[file.status]}>${t(`library.file_${file.status}`)}<//>
    <div>
      <span class="lib-file-name">${fileName(file.path)}</span>
      ${file.chunks > 0 && html`${" "}<span class="muted">${t("library.passages_n", { n: file.chunks })}</span>`}
      ${reason && html`<p class="lib-why">${reason}</p>`}
      ${known(key) && html`<p class="lib-todo">${t(key)}${key === SCANNED && html`${" "}<a href="#/settings">${t("frame.settings")}</a>`}</p>`}
      ${rest && html`<details class="lib-types"><summary>${t("library.types_read")}</summary><p>${rest.replace(/^[^:]*: /, "")}</p></details>`}
      ${file.warnings.map((text) => html`<p key=${text} class="lib-why">${said(text)}</p>`)}
    </div>
  </li>`;
}
