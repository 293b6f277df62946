/**
 * What stands here before the first question: what to do first, and what can be asked. The one rule: a question that is offered has
 * been answered from what is there before.
 */
import { t } from "../i18n.js";
import { lang, me } from "../state.js";
import { ended, sendSamples, works } from "../library/jobs.js";
import { html } from "../ui/html.js";
import { Button, Empty, Icon, Progress, toast } from "../ui/index.js";
import { agent, choice } from "./choices.js";
import { useStarters } from "./questions.js";

const MOST = 4; // questions offered

/** @param {{collections: {name: string, documents: number}[] | null, sources: string[], onPick: (question: string) => void}} props */
export function Welcome({ collections, sources, onPick }) {
  const chosen = choice().collection;
  const filled = (collections ?? []).filter((each) => each.documents > 0);
  const usual = filled.find((each) => each.name === (chosen || "default")) ?? [...filled].sort((a, b) => b.documents - a.documents)[0];
  const name = usual?.name ?? "";
  const { questions, waiting } = useStarters(agent.value === "website" || agent.value === "data" ? "" : name, { lang: lang.value, limit: MOST });
  if (!collections) return null;
  const site = agent.value === "website";
  const data = agent.value === "data";
  if (data && !sources.length) {
    return html`<div class="welcome"><${Empty} title=${t("ask.no_tables_title")} text=${t("ask.no_tables_text")}
      action=${html`<${Button} kind="primary" icon="plus" href="#/data">${t("ask.add_tables")}<//>`} /></div>`;
  }
  if (!site && !data && !filled.length) {
    return html`<div class="welcome"><${Empty} title=${t("ask.empty_title")} text=${t("ask.empty_text")}
      action=${html`<${Button} kind="primary" icon="plus" href="#/library">${t("ask.add_documents")}<//>
        ${me.value?.role !== "reader" && html`<${Button} onClick=${() => sendSamples(lang.value).catch(toast)}>${t("ask.try_samples")}<//>`}`} />
      <${Arriving} />
      <ul class="welcome-ways">
        ${["site", "paper", "data"].map((way) => html`<li key=${way}><a href=${way === "site" ? "#/sites" : way === "paper" ? "#/papers" : "#/data"}>
          <${Icon} name=${way} /><span>${t(`ask.way_${way}`)}</span></a></li>`)}
      </ul></div>`;
  }
  return html`<div class="welcome">
    <h2 class="welcome-title">${t("ask.welcome")}</h2>
    <p class="welcome-text">${t(site ? "ask.welcome_site" : data ? "ask.welcome_data" : "ask.welcome_text")}</p>
    <${Arriving} />
    ${waiting && !questions.length && html`<p class="hint welcome-wait" role="status"><span class="spinner" aria-hidden="true"></span>${t("ask.finding_questions")}</p>`}
    ${questions.length > 0 && html`<ul class="examples" aria-label=${t("ask.examples")}>
      ${questions.map(({ question, title }) => html`<li key=${question}><button type="button" class="example" onClick=${() => onPick(question)}>
        <span>${question}</span><small>${title}</small></button></li>`)}
    </ul>`}
  </div>`;
}

/** What is being added now, so that who asks knows that there is more to come. */
function Arriving() {
  const work = works.value.find((each) => !ended(each));
  if (!work) return null;
  const { done = 0, total = 0 } = work.job ?? {};
  const files = total > 0 && total === work.names.length; // then it counts passages
  const label = files ? t("ask.adding_of", { done, total }) : total ? t("ask.indexing") : t("ask.adding");
  return html`<div class="welcome-arriving"><${Progress} value=${total ? done / total : null} label=${label} /></div>`;
}
