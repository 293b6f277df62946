/** A paper is added: dropped, chosen, or named by its address. The one rule: one at a time, and its session opens at once. */

import { html, useRef, useState } from "../ui/html.js";
import { Button, Field, Icon, Problem, Progress, Select, toast } from "../ui/index.js";
import { post, upload } from "../api.js";
import { go, me, user } from "../state.js";
import { t } from "../i18n.js";
import { keepJob } from "./kept.js";

const KINDS = ".pdf,.docx,.odt,.rtf,.epub,.html,.htm,.xhtml,.xml,.nxml,.tex,.md,.markdown,.txt";

/** @typedef {{name: string, share: number}} Sending */

export function Add() {
  const [url, setUrl] = useState("");
  const [lang, setLang] = useState("");
  const [sending, setSending] = useState(/** @type {Sending | null} */ (null));
  const [problem, setProblem] = useState(/** @type {{name: string, error: unknown} | null} */ (null));
  const [over, setOver] = useState(false);
  const chosen = useRef(/** @type {HTMLInputElement | null} */ (null));

  /** @param {string} name @param {() => Promise<any>} send */
  const begin = async (name, send) => {
    setProblem(null);
    setSending({ name, share: 0 });
    try {
      const { session, job } = await send();
      keepJob(session.session_id, job.job_id);
      go(`/papers/${encodeURIComponent(session.session_id)}`);
    } catch (error) {
      setProblem({ name, error });
    }
    setSending(null);
  };
  const sendFiles = (/** @type {FileList | null | undefined} */ files) => {
    const file = files?.[0];
    if (!file || sending) return;
    if (files.length > 1) toast(t("papers.add.several", { name: file.name }), "info");
    const form = new FormData();
    form.append("file", file, file.name);
    for (const [field, value] of Object.entries(said(lang))) form.append(field, value);
    void begin(file.name, () => upload("/papers", form, (share) => setSending({ name: file.name, share })));
  };
  const sendUrl = (/** @type {Event} */ event) => {
    event.preventDefault();
    const page = url.trim();
    if (page) void begin(page, () => post("/papers", { url: page, ...said(lang) }));
  };
  const drop = (/** @type {DragEvent} */ event) => {
    event.preventDefault();
    setOver(false);
    sendFiles(event.dataTransfer?.files);
  };
  const drag = (/** @type {DragEvent} */ event) => {
    event.preventDefault();
    setOver(true);
  };
  return html`<section class=${`paper-add ${over ? "paper-over" : ""}`} aria-label=${t("papers.add.title")} onDrop=${drop}
    onDragOver=${drag} onDragLeave=${() => setOver(false)}>
    <div class="paper-drop">
      <${Icon} name="upload" size=${28} />
      <p><strong>${t("papers.add.drop")}</strong> ${t("papers.add.or")}${" "}
        <${Button} kind="primary" disabled=${Boolean(sending)} onClick=${() => chosen.current?.click()}>${t("papers.add.choose")}<//></p>
      <p class="hint">${t("papers.add.kinds")}</p>
      <input ref=${chosen} hidden type="file" accept=${KINDS}
        onChange=${(/** @type {any} */ event) => {
          sendFiles(event.target.files);
          event.target.value = "";
        }} />
    </div>
    <form class="paper-line" onSubmit=${sendUrl}>
      <${Field} label=${t("papers.add.url")} type="url" value=${url} placeholder=${t("papers.add.url.placeholder")}
        onInput=${(/** @type {any} */ event) => setUrl(event.target.value)} />
      <${Button} type="submit" disabled=${Boolean(sending) || !url.trim()}>${t("papers.add.url.go")}<//>
      <${Select} label=${t("papers.add.lang")} value=${lang} onChange=${setLang} options=${[
        { value: "", label: t("papers.add.lang.auto") },
        { value: "en", label: t("papers.add.lang.en") },
        { value: "zh", label: t("papers.add.lang.zh") },
      ]} />
    </form>
    ${sending && html`<${Progress} value=${sending.share > 0 && sending.share < 1 ? sending.share : null} label=${going(sending)} />`}
    ${problem && html`<p class="paper-note">${t("papers.add.failed", { name: problem.name })}</p><${Problem} error=${problem.error} />`}
  </section>`;
}

/** What is said beside the paper. @param {string} lang @returns {Record<string, string>} */
function said(lang) {
  /** @type {Record<string, string>} */
  const wishes = {};
  if (me.value?.auth !== "token" && user.value) wishes["user_id"] = user.value;
  if (lang) wishes["lang"] = lang;
  return wishes;
}

/** @param {Sending} sending */
function going({ name, share }) {
  if (share > 0 && share < 1) return t("papers.add.sending", { name, share: Math.round(share * 100) });
  return t("papers.add.reading", { name });
}
