/** The chat model that comes with Citewell: whether it is here, and its download with progress and an end. */

import { del, get, post } from "../api.js";
import { t } from "../i18n.js";
import { said } from "../said.js";
import { bytes, Button, Busy, coded, Icon, percent, Progress, toast } from "../ui/index.js";
import { html, useEffect, useState } from "../ui/html.js";

/** @typedef {import("./types.js").ModelFile} ModelFile */

const LOOK = 1000; // milliseconds between two looks at a download

export function BuiltIn() {
  const [file, setFile] = useState(/** @type {ModelFile | null} */ (null));
  const look = (/** @type {Promise<ModelFile>} */ asked) => asked.then(setFile, toast);
  useEffect(() => void look(get("/settings/model/file")), []);
  const downloading = file?.state === "downloading";
  useEffect(() => {
    if (!downloading) return;
    const timer = setInterval(() => look(get("/settings/model/file")), LOOK);
    return () => clearInterval(timer);
  }, [downloading]);
  if (!file) return html`<${Busy} />`;
  const size = bytes(file.bytes);
  return html`<p class="hint">${t("settings.builtin_text", { name: file.name, size })}</p>
    ${file.state === "here" && html`<p class="state fine"><${Icon} name="check" size=${18} /> ${t("settings.builtin_here")}</p>`}
    ${downloading && html`<div class="download">
      <${Progress} value=${file.done / file.bytes} label=${t("settings.downloading")}
        detail=${t("settings.downloaded", { done: bytes(file.done), size, share: percent(file.done / file.bytes) })} />
      <${Button} small icon="close" onClick=${() => look(del("/settings/model/file"))}>${t("frame.cancel")}<//>
    </div>`}
    ${file.state === "failed" && html`<div class="problem" role="alert"><${Icon} name="warning" /><div>
      <p class="what">${coded(said(file.error))}</p><p class="hint">${coded(said(file.hint))}</p></div></div>`}
    ${(file.state === "missing" || file.state === "failed") &&
    html`<${Button} icon="download" onClick=${() => look(post("/settings/model/file"))}>${t("settings.download", { size })}<//>`}`;
}
