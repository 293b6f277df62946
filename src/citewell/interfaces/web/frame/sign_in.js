/** Who asks? Shown where the server wants a token (`auth = "token"`) and nobody is signed in. */

import { ApiError, post } from "../api.js";
import { changeLanguage, nameLanguage, t } from "../i18n.js";
import { LANGUAGES, ended, lang, me } from "../state.js";
import { Button } from "../ui/button.js";
import { Field } from "../ui/fields.js";
import { html, useState } from "../ui/html.js";
import { Sign } from "../ui/icon.js";
import { Problem } from "../ui/notice.js";
import { useWork } from "../ui/work.js";

export function SignIn() {
  const [token, setToken] = useState("");
  const [wrong, setWrong] = useState("");
  const { busy, error, run: send } = useWork(async (/** @type {Event} */ _) => {
    setWrong(token.trim() ? "" : t("frame.token_empty"));
    if (!token.trim()) return;
    try {
      me.value = await post("/sign-in", { token: token.trim() });
      ended.value = false;
    } catch (failed) {
      if (!(failed instanceof ApiError && failed.status === 401)) throw failed;
      setWrong(t("frame.token_wrong"));
    }
  });
  return html`<main class="alone" id="main">
    <form class="card sign-in" onSubmit=${send} noValidate>
      <${Sign} size=${44} />
      <h1>Citewell</h1>
      <p class="hint">${t("frame.tagline")}</p>
      ${ended.value && html`<p role="status"><strong>${t("frame.sign_in_ended")}</strong></p>`}
      <p>${t("frame.sign_in_text")}</p>
      <${Field}
        label=${t("frame.token")}
        hint=${t("frame.token_hint")}
        error=${wrong}
        type="password"
        autocomplete="current-password"
        spellcheck=${false}
        value=${token}
        onInput=${(/** @type {any} */ event) => setToken(event.target.value)}
      />
      <${Problem} error=${error} />
      <${Button} kind="primary" type="submit" busy=${busy}>${t("frame.sign_in")}<//>
      ${LANGUAGES.filter((each) => each !== lang.value).map((each) => html`
        <${Button} kind="quiet" lang=${each} onClick=${() => changeLanguage(each)}>${nameLanguage(each)}<//>`)}
    </form>
  </main>`;
}
