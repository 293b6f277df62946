/** What stands here before the first question: what to do first, and what can be asked. The one rule: examples are about what is there. */
import { get } from "../api.js";
import { t } from "../i18n.js";
import { lang } from "../state.js";
import { html, useEffect, useState } from "../ui/html.js";
import { Button, Empty, Icon } from "../ui/index.js";
import { agent, choice } from "./choices.js";

const MOST = 3; // documents that examples are made of

/** @param {{collections: {name: string, documents: number}[] | null, sources: string[], onPick: (question: string) => void}} props */
export function Welcome({ collections, sources, onPick }) {
  const chosen = choice().collection;
  const filled = (collections ?? []).filter((each) => each.documents > 0);
  const usual = filled.find((each) => each.name === (chosen || "default")) ?? [...filled].sort((a, b) => b.documents - a.documents)[0];
  const name = usual?.name ?? "";
  const titles = useTitles(name);
  if (!collections) return null;
  const site = agent.value === "website";
  const data = agent.value === "data";
  if (data && !sources.length) {
    return html`<div class="welcome"><${Empty} title=${t("ask.no_tables_title")} text=${t("ask.no_tables_text")}
      action=${html`<${Button} kind="primary" icon="plus" href="#/data">${t("ask.add_tables")}<//>`} /></div>`;
  }
  if (!site && !data && !filled.length) {
    return html`<div class="welcome"><${Empty} title=${t("ask.empty_title")} text=${t("ask.empty_text")}
      action=${html`<${Button} kind="primary" icon="plus" href="#/library">${t("ask.add_documents")}<//>`} />
      <ul class="welcome-ways">
        ${["site", "paper", "data"].map((way) => html`<li key=${way}><a href=${way === "site" ? "#/sites" : way === "paper" ? "#/papers" : "#/data"}>
          <${Icon} name=${way} /><span>${t(`ask.way_${way}`)}</span></a></li>`)}
      </ul></div>`;
  }
  const examples = site || data ? [] : titles.flatMap((title, n) => t(`ask.example_${(n % 2) + 1}`, { title }));
  return html`<div class="welcome">
    <h2 class="welcome-title">${t("ask.welcome")}</h2>
    <p class="welcome-text">${t(site ? "ask.welcome_site" : data ? "ask.welcome_data" : "ask.welcome_text")}</p>
    ${examples.length > 0 && html`<ul class="examples" aria-label=${t("ask.examples")}>
      ${examples.map((text) => html`<li key=${text}><button type="button" class="example" onClick=${() => onPick(text)}>${text}</button></li>`)}
    </ul>`}
  </div>`;
}

/** Titles of some documents of a collection. @param {string} name @returns {string[]} */
function useTitles(name) {
  const [titles, setTitles] = useState(/** @type {string[]} */ ([]));
  useEffect(() => {
    let mine = true;
    if (name) {
      get(`/collections/${encodeURIComponent(name)}/documents`).then(
        (found) => mine && setTitles(best(found.documents)),
        () => undefined,
      );
    }
    return () => {
      mine = false;
    };
  }, [name, lang.value]);
  return titles;
}

/** Those in the page's language first. @param {{title: string, lang: string}[]} documents */
function best(documents) {
  const rank = (/** @type {{lang: string}} */ each) => (each.lang === lang.value ? 0 : 1);
  return [...documents].sort((a, b) => rank(a) - rank(b)).slice(0, MOST).map((each) => each.title);
}
