/**
 * Which chat model writes the answers: the one that comes with Citewell, one behind an address, or none. The one rule: a key is typed
 * here and never shown again.
 */

import { get, patch } from "../api.js";
import { t } from "../i18n.js";
import { Button, Busy, Choice, Problem, toast, useWork } from "../ui/index.js";
import { html, useEffect, useState } from "../ui/html.js";
import { BuiltIn } from "./built_in.js";
import { Connect } from "./connect.js";
import { Fixed } from "./fixed.js";

/** @typedef {import("./types.js").PageSettings} PageSettings */

const WAYS = ["builtin", "openai", "none"];

/** @param {{settings: PageSettings, onChange: (settings: PageSettings) => void}} props */
export function ChatModel({ settings, onChange }) {
  const { model } = settings;
  const [way, setWay] = useState(model.llm);
  const fixed = Boolean(model.fixed_by);
  const { busy, run: save } = useWork(async (/** @type {object} */ change) => {
    onChange(await patch("/settings", { model: change }));
    toast(t("settings.saved_model"), "good");
  }, toast);
  return html`<section class="card" aria-labelledby="settings-chat">
    <h2 id="settings-chat">${t("settings.chat_model")}</h2>
    <${Fixed} by=${model.fixed_by} />
    ${!fixed && html`<${Choice} label=${t("settings.which_model")} hidden value=${way} onChange=${setWay}
      options=${WAYS.map((value) => ({ value, label: t(`settings.way_${value}`) }))} />`}
    ${way === "builtin" && !fixed && html`<${BuiltIn} />`}
    ${way === "openai" && !fixed && html`<${Connect} model=${model} busy=${busy} save=${save} />`}
    ${fixed && html`<p class="hint">${model.llm === "none" ? t("settings.model_none") : t("settings.model_now", { name: model.model || (WAYS.includes(model.llm) ? t(`settings.way_${model.llm}`) : model.llm) })}</p>`}
    ${way === "none" && !fixed && html`<p class="hint">${t("settings.none_text")}</p>`}
    ${!fixed && way !== "openai" && way !== model.llm && html`<${Button} kind="primary" busy=${busy} onClick=${() => save({ llm: way })}>${t("settings.use_this")}<//>`}
  </section>`;
}

/** The settings, once they are here. @param {{children: (settings: PageSettings, set: (settings: PageSettings) => void) => any}} props */
export function WithSettings({ children }) {
  const [settings, setSettings] = useState(/** @type {PageSettings | null} */ (null));
  const [error, setError] = useState(/** @type {unknown} */ (null));
  const load = () => get("/settings").then((found) => (setSettings(found), setError(null)), setError);
  useEffect(() => void load(), []);
  if (error) return html`<${Problem} error=${error} retry=${load} />`;
  return settings ? children(settings, setSettings) : html`<${Busy} />`;
}
