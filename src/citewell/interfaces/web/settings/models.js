/** What answers and what finds, and whether they can: the server's `/api/ready` in words. */

import { ApiError, get } from "../api.js";
import { t } from "../i18n.js";
import { said } from "../said.js";
import { Badge, Button, Busy, Icon, Problem, coded, figure, useWork } from "../ui/index.js";
import { html, useEffect, useState } from "../ui/html.js";

/**
 * @typedef {{status: "ready" | "degraded" | "unavailable" | "stopping", database: string, chat_model: string, embedder: string,
 *   waiting: number, llm: string, model: string, reranker: string}} Readiness
 */

const KINDS = /** @type {const} */ ({ ready: "good", degraded: "warn", unavailable: "bad", stopping: "warn" });

export function Models() {
  const [found, setFound] = useState(/** @type {Readiness | null} */ (null));
  const { busy, error, run: look } = useWork(async () => setFound(await ready()));
  useEffect(() => void look(), []);
  return html`<section class="card settings-models" aria-labelledby="settings-models">
    <div class="card-head">
      <h2 id="settings-models">${t("settings.models")}</h2>
      ${found && html`<${Badge} kind=${KINDS[found.status]}>${t(`settings.status_${found.status}`)}<//>`}
      <${Button} small icon="refresh" busy=${busy && found !== null} onClick=${look}>${t("settings.look_again")}<//>
    </div>
    ${error ? html`<${Problem} error=${error} retry=${look} />` : found ? html`<${Facts} found=${found} />` : html`<${Busy} />`}
  </section>`;
}

/** A server that cannot answer tells so with 503 and the same shape. @returns {Promise<Readiness>} */
async function ready() {
  try {
    return await get("/ready");
  } catch (error) {
    if (error instanceof ApiError && error.status === 503 && error.told?.status) return error.told;
    throw error;
  }
}

/** @param {{found: Readiness}} props */
function Facts({ found }) {
  const model = found.model || t("settings.no_model");
  return html`<ul class="health">
    <${Part} name=${t("settings.chat_model")} value=${model} ok=${found.chat_model === "ok"}
      text=${found.chat_model === "ok" ? t(`settings.llm_${found.llm}`) : missing(found)} />
    <${Part} name=${t("settings.embedder")} value=${t(`settings.embedder_${found.embedder}`)} ok=${found.waiting === 0}
      text=${found.waiting ? t("settings.waiting", { n: figure(found.waiting) }) : t("settings.all_embedded")} />
    <${Part} name=${t("settings.reranker")} value=${t(`settings.reranker_${found.reranker}`)} ok text=${t("settings.reranker_text")} />
    <${Part} name=${t("settings.database")} value=${found.database === "ok" ? t("settings.works") : t("settings.broken")}
      ok=${found.database === "ok"} text=${found.database === "ok" ? t("settings.database_text") : said(found.database)} />
  </ul>`;
}

/** What is wrong with the chat model; the server's own words where a file is missing. @param {Readiness} found */
function missing(found) {
  return found.llm === "none" ? t("settings.llm_none") : t("settings.model_missing", { why: said(found.chat_model) });
}

/** @param {{name: string, value: string, text: string, ok: boolean}} props */
function Part({ name, value, text, ok }) {
  return html`<li class=${ok ? "fine" : "off"}>
    <${Icon} name=${ok ? "check" : "warning"} />
    <div>
      <h3>${name}</h3>
      <p class="value">${value}</p>
      <p class="hint">${coded(text)}</p>
    </div>
  </li>`;
}
