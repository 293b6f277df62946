/** What site, what question, how far. The one rule: what is wrong is said at its field before anything is sent. */
import { html, useState } from "../ui/html.js";
import { t } from "../i18n.js";
import { Button } from "../ui/button.js";
import { Field } from "../ui/fields.js";
import { addressesOf, explore, run, want, wish } from "./run.js";

/** A number field that is empty where the server's own limit holds. */
const LIMITS = /** @type {const} */ ([
  ["pages", 1, 5000, "100"],
  ["rounds", 0, 50, "5"],
  ["seconds", 1, 3600, "180"],
]);

/** `collection`: a kept site, which needs no addresses. @param {{collection?: string}} props */
export function ExploreForm({ collection }) {
  const said = wish.value;
  const [wrong, setWrong] = useState(/** @type {Record<string, string>} */ ({}));
  const typed = (/** @type {string} */ name) => (/** @type {any} */ event) => want({ [name]: event.currentTarget.value });
  const send = (/** @type {Event} */ event) => {
    event.preventDefault();
    const found = faults(Boolean(collection));
    setWrong(found);
    if (!Object.keys(found).length) void explore({ question: said.question, collection });
  };
  const keys = (/** @type {KeyboardEvent} */ event) => event.key === "Enter" && !event.shiftKey && !event.isComposing && event.keyCode !== 229 && send(event);
  return html`<form class="card site-form" onSubmit=${send} noValidate>
    ${!collection && html`<${Field} label=${t("sites.urls")} hint=${t("sites.urls_hint")} error=${wrong["urls"]} rows=${2} value=${said.urls}
      onInput=${typed("urls")} placeholder="https://docs.example.com" inputmode="url" autocapitalize="off" spellcheck=${false} />`}
    <${Field} label=${t("sites.question")} error=${wrong["question"]} rows=${2} value=${said.question} onInput=${typed("question")} onKeyDown=${keys}
      placeholder=${t("sites.question_example")} />
    <details class="site-more">
      <summary>${t("sites.more")}</summary>
      <${Field} label=${t("sites.domains")} hint=${t("sites.domains_hint")} value=${said.domains} onInput=${typed("domains")}
        placeholder="docs.example.com, *.example.com" autocapitalize="off" spellcheck=${false} />
      <${Field} label=${t("sites.instruction")} hint=${t("sites.instruction_hint")} value=${said.instruction} onInput=${typed("instruction")} />
      <div class="site-limits">${LIMITS.map(([name, least, most, usual]) => html`<${Field} key=${name} type="number" label=${t(`sites.${name}`)}
        error=${wrong[name]} min=${least} max=${most} placeholder=${usual} value=${said[name]} onInput=${typed(name)} />`)}</div>
    </details>
    <div class="row">
      <${Button} kind="primary" type="submit" icon="search" busy=${run.busy.value}>${t("sites.explore")}<//>
      <span class="hint">${t("sites.polite")}</span>
    </div>
  </form>`;
}

/** What is wrong with the wish, by field. @param {boolean} known the site is kept @returns {Record<string, string>} */
function faults(known) {
  const said = wish.value;
  /** @type {Record<string, string>} */
  const found = {};
  const addresses = addressesOf(said.urls);
  const bad = addresses.find((each) => !/^https?:\/\/[^\s/]+/i.test(each) || !URL.canParse(each));
  if (!known && !addresses.length) found["urls"] = t("sites.no_urls");
  else if (!known && bad) found["urls"] = t("sites.bad_url", { url: bad });
  if (!said.question.trim()) found["question"] = t("sites.no_question");
  for (const [name, least, most] of LIMITS) {
    const n = Number(said[name]);
    if (said[name].trim() && !(n >= least && n <= most)) found[name] = t("sites.bad_limit", { least, most });
  }
  return found;
}
