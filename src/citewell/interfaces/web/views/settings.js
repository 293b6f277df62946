/** Settings: what answers and how it is, language, theme, who one is, what is kept here, and the ways in for programs. */

import { get, post } from "../api.js";
import { changeLanguage, nameLanguage, t } from "../i18n.js";
import { LANGUAGES, lang, me, size, SIZES, theme, user } from "../state.js";
import { Features } from "../settings/features.js";
import { ChatModel, WithSettings } from "../settings/model.js";
import { Models } from "../settings/models.js";
import { Here } from "../settings/here.js";
import { Kept } from "../settings/kept.js";
import { Users } from "../settings/users.js";
import { Button, Choice, Field, toast, useWork } from "../ui/index.js";
import { html, useEffect, useState } from "../ui/html.js";

export default function Settings() {
  return html`<div class="page settings">
    <header class="page-head"><h1>${t("frame.settings")}</h1></header>
    <div class="settings-grid">
      <div class="stack">
        ${me.value?.role === "admin" ? html`<${WithSettings}>${settingsCards}<//>` : html`<${Models} />`}
        ${me.value?.auth === "token" && me.value.role === "admin" && html`<${Users} />`}<${Kept} />
      </div>
      <div class="stack">
        <${Looks} />
        ${me.value?.auth === "token" ? html`<${SignedIn} />` : html`<${Name} />`}
        <${Programs} />
        <${Here} />
      </div>
    </div>
  </div>`;
}

/** What an administrator may change, and how it all is afterwards.
 * @param {import("../settings/types.js").PageSettings} found @param {(settings: import("../settings/types.js").PageSettings) => void} set */
function settingsCards(found, set) {
  const { llm, url, model } = found.model;
  return html`<${ChatModel} settings=${found} onChange=${set} /><${Features} settings=${found} onChange=${set} />
    <${Models} key=${`${llm} ${url} ${model}`} />`;
}

function Looks() {
  const themes = ["auto", "light", "dark"].map((value) => ({ value, label: t(`frame.theme_${value}`) }));
  return html`<section class="card" aria-labelledby="settings-looks">
    <h2 id="settings-looks">${t("settings.looks")}</h2>
    <${Choice}
      label=${t("frame.language")}
      value=${lang.value}
      options=${LANGUAGES.map((value) => ({ value, label: nameLanguage(value) }))}
      onChange=${changeLanguage}
    />
    <${Choice}
      label=${t("frame.theme")}
      value=${theme.value}
      options=${themes}
      onChange=${(/** @type {"auto" | "light" | "dark"} */ value) => (theme.value = value)}
    />
    <${Choice}
      label=${t("settings.size")}
      value=${size.value}
      options=${SIZES.map((value) => ({ value, label: t(`settings.size_${value}`) }))}
      onChange=${(/** @type {string} */ value) => (size.value = value)}
    />
    <p class="hint">${t("settings.looks_hint")}</p>
  </section>`;
}

/** Where nobody signs in: a name of one's own choice. */
function Name() {
  const [name, setName] = useState(user.value);
  /** @param {Event} event */
  const save = async (event) => {
    event.preventDefault();
    const before = user.value;
    user.value = name.trim();
    try {
      me.value = await get("/me");
      toast(t("settings.name_saved", { name: me.value?.user_id ?? "" }), "good");
    } catch (error) {
      user.value = before;
      toast(error);
    }
  };
  return html`<section class="card" aria-labelledby="settings-name">
    <h2 id="settings-name">${t("settings.you")}</h2>
    <form class="settings-name" onSubmit=${save}>
      <${Field}
        label=${t("settings.name")}
        hint=${t("settings.name_hint")}
        placeholder="local"
        maxlength="64"
        autocomplete="username"
        spellcheck=${false}
        value=${name}
        onInput=${(/** @type {any} */ event) => setName(event.target.value)}
      />
      <${Button} type="submit" disabled=${name.trim() === user.value}>${t("frame.save")}<//>
    </form>
  </section>`;
}

function SignedIn() {
  const who = me.value;
  const { busy, run: leave } = useWork(async () => {
    await post("/sign-out");
    me.value = null;
  }, toast);
  return html`<section class="card" aria-labelledby="settings-you">
    <h2 id="settings-you">${t("settings.you")}</h2>
    <dl class="facts">
      <div><dt>${t("settings.name")}</dt><dd>${who?.user_id}</dd></div>
      <div><dt>${t("settings.role")}</dt><dd>${t(`settings.role_${who?.role ?? "reader"}`)}</dd></div>
    </dl>
    <${Button} icon="sign-out" busy=${busy} onClick=${leave}>${t("settings.sign_out")}<//>
  </section>`;
}

function Programs() {
  const [version, setVersion] = useState("");
  useEffect(() => {
    get("/version").then((found) => setVersion(found.version), () => undefined); // the models' card tells what is wrong
  }, []);
  return html`<section class="card" aria-labelledby="settings-programs">
    <h2 id="settings-programs">${t("settings.programs")}</h2>
    <p>${t("settings.programs_text")}</p>
    <dl class="facts wide">
      <div><dt>${t("settings.openai")}</dt><dd><code>${location.origin}/v1</code></dd></div>
      <div><dt>${t("settings.mcp")}</dt><dd><code>${location.origin}/mcp</code></dd></div>
      <div><dt>${t("settings.api")}</dt><dd><a href="/api/openapi.json" target="_blank" rel="noopener">${t("settings.openapi")}</a></dd></div>
      <div><dt>${t("settings.version")}</dt><dd>${version || "–"}</dd></div>
      <div><dt>${t("settings.sign_in_mode")}</dt><dd>${t(`settings.auth_${me.value?.auth ?? "none"}`)}</dd></div>
      ${me.value?.home && html`<div><dt>${t("settings.home")}</dt><dd><code class="path">${me.value.home}</code></dd></div>`}
    </dl>
  </section>`;
}
