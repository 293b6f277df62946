/** Who asks? Shown where the server wants a token (`auth = "token"`) and nobody is signed in. */

import { ApiError, post } from "../api.js";
import { t } from "../i18n.js";
import { ended, lang, me } from "../state.js";
import { Button } from "../ui/button.js";
import { Field } from "../ui/fields.js";
import { html, useState } from "../ui/html.js";
import { Problem } from "../ui/notice.js";

export function SignIn() {
  const [token, setToken] = useState("");
  const [wrong, setWrong] = useState("");
  const [error, setError] = useState(/** @type {unknown} */ (null));
  const [busy, setBusy] = useState(false);
  /** @param {Event} event */
  const send = async (event) => {
    event.preventDefault();
    setError(null);
    setWrong(token.trim() ? "" : t("frame.token_empty"));
    if (!token.trim()) return;
    setBusy(true);
    try {
      me.value = await post("/sign-in", { token: token.trim() });
      ended.value = false;
    } catch (failed) {
      if (failed instanceof ApiError && failed.status === 401) setWrong(t("frame.token_wrong"));
      else setError(failed);
    } finally {
      setBusy(false);
    }
  };
  const other = lang.value === "en" ? /** @type {const} */ (["zh", "中文"]) : /** @type {const} */ (["en", "English"]);
  return html`<main class="alone" id="main">
    <form class="card sign-in" onSubmit=${send} noValidate>
      <img src="/assets/icons/citewell.svg" alt="" width="44" height="44" />
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
      <${Button} kind="quiet" lang=${other[0]} onClick=${() => (lang.value = other[0])}>${other[1]}<//>
    </form>
  </main>`;
}
