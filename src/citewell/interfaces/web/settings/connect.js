/** A chat model behind an address: Ollama, vLLM, or any OpenAI-compatible server, tried with one click. */

import { post } from "../api.js";
import { t } from "../i18n.js";
import { said } from "../said.js";
import { Button, coded, Field, figure, Icon, Problem, Select } from "../ui/index.js";
import { html, useId, useState } from "../ui/html.js";

/** @typedef {import("./types.js").Model} Model @typedef {import("./types.js").Tested} Tested */

/** Where these servers listen unless they are told otherwise. @type {Record<string, string>} */
const USUAL = { ollama: "http://127.0.0.1:11434/v1", vllm: "http://127.0.0.1:8000/v1", other: "" };

/** @param {{model: Model, busy: boolean, save: (change: object) => Promise<void>}} props */
export function Connect({ model, busy, save }) {
  const first = model.url || USUAL["ollama"] || "";
  const [server, setServer] = useState(serverOf(first));
  const [url, setUrl] = useState(first);
  const [name, setName] = useState(model.model);
  const [key, setKey] = useState("");
  const [tested, setTested] = useState(/** @type {Tested | null} */ (null));
  const [error, setError] = useState(/** @type {unknown} */ (null));
  const [testing, setTesting] = useState(false);
  const list = useId();
  const typed = key ? { key } : {};
  const change = (/** @type {() => void} */ act) => {
    act();
    setTested((before) => (before ? { ...before, ok: false, error: "", hint: "" } : null));
    setError(null);
  };
  const test = async () => {
    setTesting(true);
    setError(null);
    setTested(null);
    try {
      const found = await post("/settings/model/test", { url: url.trim(), model: name.trim(), ...typed });
      setTested(found);
      setUrl(found.url);
      if (!name.trim() && found.names.length === 1) setName(found.names[0]);
    } catch (failed) {
      setError(failed);
    } finally {
      setTesting(false);
    }
  };
  const submit = async (/** @type {Event} */ event) => {
    event.preventDefault();
    await save({ llm: "openai", url: url.trim(), model: name.trim(), ...typed });
    setKey("");
  };
  return html`<form class="settings-form" onSubmit=${submit}>
    <p class="hint">${t("settings.connect_text")}</p>
    <${Select} label=${t("settings.server")} value=${server} options=${Object.keys(USUAL).map((value) => ({ value, label: t(`settings.server_${value}`) }))}
      onChange=${(/** @type {string} */ value) => change(() => (setServer(value), setUrl(USUAL[value] || (value === serverOf(model.url) ? model.url : ""))))} />
    <${Field} label=${t("settings.url")} hint=${t("settings.url_hint")} type="url" required maxlength="500" spellcheck=${false} autocomplete="off"
      value=${url} onInput=${(/** @type {any} */ event) => change(() => setUrl(event.target.value))} />
    <${Field} label=${t("settings.model_name")} hint=${t("settings.model_name_hint")} maxlength="200" spellcheck=${false} autocomplete="off" list=${list}
      value=${name} onInput=${(/** @type {any} */ event) => change(() => setName(event.target.value))} />
    <datalist id=${list}>${tested?.names.map((each) => html`<option key=${each} value=${each}></option>`)}</datalist>
    <${Field} label=${t("settings.key")} hint=${t(model.has_key ? "settings.key_kept" : "settings.key_hint")} type="password" maxlength="2000"
      autocomplete="off" value=${key} onInput=${(/** @type {any} */ event) => change(() => setKey(event.target.value))} />
    <div class="actions">
      <${Button} icon="refresh" busy=${testing} disabled=${!url.trim()} onClick=${test}>${t("settings.test")}<//>
      <${Button} kind="primary" type="submit" busy=${busy} disabled=${!url.trim() || !name.trim()}>${t("settings.save_use")}<//>
    </div>
    <${Problem} error=${error} />
    ${tested && html`<${Found} tested=${tested} name=${name} onPick=${(/** @type {string} */ each) => change(() => setName(each))} />`}
  </form>`;
}

/** @param {{tested: Tested, name: string, onPick: (name: string) => void}} props */
function Found({ tested, name, onPick }) {
  const yes = (/** @type {boolean | null} */ value) => t(value === null ? "settings.not_told" : value ? "settings.yes" : "settings.no");
  if (tested.error) {
    return html`<div class="problem" role="alert"><${Icon} name="warning" /><div>
      <p class="what">${coded(said(tested.error))}</p><p class="hint">${coded(said(tested.hint))}</p></div></div>`;
  }
  if (tested.ok) {
    return html`<div class="tested" role="status">
      <p class="state fine"><${Icon} name="check" size=${18} /> ${t("settings.test_good", { name })}</p>
      <dl class="facts">
        <div><dt>${t("settings.context")}</dt><dd>${tested.context ? t("settings.context_tokens", { n: figure(tested.context) }) : t("settings.not_told")}</dd></div>
        <div><dt>${t("settings.schema")}</dt><dd>${yes(tested.keeps_schema)}</dd></div>
        <div><dt>${t("settings.speed")}</dt><dd>${tested.speed ? t("settings.speed_tokens", { n: figure(tested.speed) }) : t("settings.not_told")}</dd></div>
      </dl>
      ${tested.keeps_schema === false && html`<p class="hint">${t("settings.schema_no")}</p>`}
      ${tested.thinks && html`<p class="hint">${t("settings.thinks")}</p>`}
    </div>`;
  }
  if (name.trim() && tested.names.includes(name.trim())) return null;
  return tested.names.length
    ? html`<div role="status"><p class="hint">${t("settings.models_there", { n: tested.names.length })}</p>
        <ul class="names">${tested.names.map((each) => html`<li key=${each}><${Button} small onClick=${() => onPick(each)}>${each}<//></li>`)}</ul></div>`
    : html`<p class="hint" role="status">${t("settings.models_none")}</p>`;
}

/** Which of the usual servers an address is of. @param {string} url */
function serverOf(url) {
  return Object.keys(USUAL).find((each) => USUAL[each] && USUAL[each] === url) ?? "other";
}
