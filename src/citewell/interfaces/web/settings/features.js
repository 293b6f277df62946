/** What answers may draw on beside the documents, and what is read of them: memory, web search, text in pictures. */

import { del, get, patch } from "../api.js";
import { t } from "../i18n.js";
import { me, user } from "../state.js";
import { ask, Button, Check, coded, Field, Select, toast } from "../ui/index.js";
import { html, useEffect, useState } from "../ui/html.js";
import { Fixed } from "./fixed.js";

/** @typedef {import("./types.js").PageSettings} PageSettings */
/** @typedef {{settings: PageSettings, onChange: (settings: PageSettings) => void}} Props */

const PROVIDERS = ["none", "duckduckgo", "wikipedia", "searxng", "brave", "tavily"];
const WITH_KEY = ["brave", "tavily"];

/** @param {Props} props */
export function Features({ settings, onChange }) {
  const change = async (/** @type {object} */ body) => {
    try {
      onChange(await patch("/settings", body));
      toast(t("settings.saved"), "good");
    } catch (error) {
      toast(error);
    }
  };
  const { memory, ocr } = settings;
  return html`<section class="card" aria-labelledby="settings-features">
    <h2 id="settings-features">${t("settings.features")}</h2>
    <div class="feature">
      <${Check} label=${t("settings.memory")} hint=${t("settings.memory_text")} checked=${memory.on} disabled=${Boolean(memory.fixed_by)}
        onChange=${(/** @type {boolean} */ on) => change({ memory: { on } })} />
      <${Fixed} by=${memory.fixed_by} />
      <${Remembered} />
    </div>
    <div class="feature">
      <${Check} label=${t("settings.ocr")} hint=${t(ocr.available ? "settings.ocr_text" : "settings.ocr_missing", { how: `\`${ocr.missing}\`` })}
        checked=${ocr.on} disabled=${Boolean(ocr.fixed_by) || !ocr.available} onChange=${(/** @type {boolean} */ on) => change({ ocr: { on } })} />
      <${Fixed} by=${ocr.fixed_by} />
    </div>
    <${WebSearch} settings=${settings} save=${change} />
  </section>`;
}

/** How much is remembered of who asks, and the way to be rid of it. */
function Remembered() {
  const [n, setN] = useState(/** @type {number | null} */ (null));
  const look = () => get("/memories").then(({ memories }) => setN(memories.length), () => setN(null));
  useEffect(() => void look(), [user.value]);
  const forget = async () => {
    const whose = user.value || me.value?.user_id || "local";
    const sure = await ask({ title: t("memory.all.title"), text: t("memory.all.text", { n: n ?? 0, user: whose }), action: t("memory.forget_all"), danger: true });
    if (!sure) return;
    await del("/memories", { user_id: whose }).catch(toast);
    await look();
  };
  if (!n) return null;
  return html`<p class="row"><a href="#/memory">${t("settings.remembered", { n })}</a>
    <${Button} small kind="quiet" icon="trash" onClick=${forget}>${t("memory.forget_all")}<//></p>`;
}

/** @param {{settings: PageSettings, save: (body: object) => Promise<void>}} props */
function WebSearch({ settings, save }) {
  const { web } = settings;
  const [provider, setProvider] = useState(web.provider);
  const [url, setUrl] = useState(web.url);
  const [key, setKey] = useState("");
  const fixed = Boolean(web.fixed_by);
  const changed = provider !== web.provider || url !== web.url || key !== "";
  const submit = async (/** @type {Event} */ event) => {
    event.preventDefault();
    await save({ web: { provider, url: provider === "searxng" ? url.trim() : "", ...(key ? { key } : {}) } });
    setKey("");
  };
  return html`<form class="feature settings-form" onSubmit=${submit}>
    <${Select} label=${t("settings.web")} hint=${t(provider === "none" ? "settings.web_none_text" : "settings.web_text")} value=${provider} disabled=${fixed}
      options=${PROVIDERS.map((value) => ({ value, label: t(`settings.web_${value}`) }))} onChange=${setProvider} />
    <${Fixed} by=${web.fixed_by} />
    ${provider === "searxng" && html`<${Field} label=${t("settings.url")} hint=${t("settings.web_url_hint")} type="url" required disabled=${fixed} maxlength="500"
      value=${url} onInput=${(/** @type {any} */ event) => setUrl(event.target.value)} />`}
    ${WITH_KEY.includes(provider) && html`<${Field} label=${t("settings.key")} hint=${coded(t(web.has_key ? "settings.key_kept" : "settings.key_needed"))}
      type="password" autocomplete="off" maxlength="2000" disabled=${fixed} value=${key} onInput=${(/** @type {any} */ event) => setKey(event.target.value)} />`}
    ${changed && !fixed && html`<${Button} kind="primary" type="submit">${t("frame.save")}<//>`}
  </form>`;
}
