/** Who reads: proposed at the first visit and kept in this browser (spec 003, 3.1.1); nothing waits for it. Where people sign in, they are known. */

import { html, useState } from "../ui/html.js";
import { Button, Field } from "../ui/index.js";
import { user } from "../state.js";
import { t } from "../i18n.js";

const LOCAL = "local"; // the name that the command line uses

export function Entry() {
  const [name, setName] = useState("");
  const [wrong, setWrong] = useState("");
  const send = (/** @type {Event} */ event) => {
    event.preventDefault();
    const said = name.trim();
    if (!said || said.length > 200 || /[\p{C}\p{Zl}\p{Zp}]/u.test(said)) setWrong(t("papers.entry.wrong"));
    else user.value = said;
  };
  return html`<form class="card paper-entry" onSubmit=${send}>
    <h2>${t("papers.entry.title")}</h2>
    <p>${t("papers.entry.text")}</p>
    <div class="paper-actions">
      <${Field} label=${t("papers.entry.label")} value=${name} error=${wrong} placeholder=${t("papers.entry.placeholder")}
        autocomplete="nickname" maxlength="200" onInput=${(/** @type {any} */ event) => setName(event.target.value)} />
      <${Button} type="submit">${t("papers.entry.go")}<//>
      <${Button} kind="quiet" onClick=${() => (user.value = LOCAL)}>${t("papers.entry.local")}<//>
    </div>
  </form>`;
}
