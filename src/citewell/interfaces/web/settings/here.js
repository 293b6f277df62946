/** What this browser keeps, and how to be rid of it. The one rule: what the server keeps is not touched from here. */
import { t } from "../i18n.js";
import { ask, Button } from "../ui/index.js";
import { html } from "../ui/html.js";

const OURS = "citewell.";

export function Here() {
  const forget = async () => {
    const sure = await ask({ title: t("settings.forget_title"), text: t("settings.forget_text"), action: t("settings.forget"), danger: true });
    if (!sure) return;
    forgetAll();
    location.reload(); // language, theme and name are as the browser has them
  };
  return html`<section class="card" aria-labelledby="settings-here">
    <h2 id="settings-here">${t("settings.here")}</h2>
    <p>${t("settings.here_text")}</p>
    <${Button} icon="trash" onClick=${forget}>${t("settings.forget")}<//>
  </section>`;
}

/** All that the page has kept in this browser, for this window and for later. */
export function forgetAll() {
  try {
    for (const store of [localStorage, sessionStorage]) {
      for (const name of Object.keys(store)) if (name.startsWith(OURS)) store.removeItem(name);
    }
  } catch {
    // a browser that keeps nothing
  }
}
