/** The reading sessions of who reads: what each is at, and the way back into it. */

import { html, useEffect, useState } from "../ui/html.js";
import { ago, Badge, Busy, Button, Empty, Field, figure, Menu, Problem, Progress, time } from "../ui/index.js";
import { address, get } from "../api.js";
import { link, me, user } from "../state.js";
import { t } from "../i18n.js";
import { Add } from "./add.js";
import { compareLink } from "./compare.js";
import { Renaming, removed, useRenaming } from "./changes.js";
import { Entry } from "./entry.js";
import { activeSession } from "./kept.js";

/** @typedef {import("./types.js").PaperRow} PaperRow */

const FEW = 6; // papers among which one finds one's own by looking
const LOOK_AGAIN = 3000; // milliseconds between two looks while a report is being made

export function PaperList() {
  const [papers, setPapers] = useState(/** @type {PaperRow[] | null} */ (null));
  const [problem, setProblem] = useState(/** @type {unknown} */ (null));
  const [search, setSearch] = useState("");
  const [ticked, setTicked] = useState(/** @type {string[]} */ ([]));
  const tick = (/** @type {string} */ id) => setTicked(ticked.includes(id) ? ticked.filter((each) => each !== id) : [...ticked, id]);
  const renaming = useRenaming();
  const load = async () => {
    try {
      setPapers((await get("/papers")).papers);
      setProblem(null);
    } catch (error) {
      setProblem(error);
    }
  };
  useEffect(() => void load(), [user.value]);
  const making = papers?.some((paper) => paper.current_state === "GUIDE_PENDING_REPORT");
  useEffect(() => {
    const timer = making ? setInterval(() => void load(), LOOK_AGAIN) : 0;
    return () => clearInterval(timer);
  }, [making]);
  const wanted = search.trim().toLowerCase().split(/\s+/);
  const fits = (/** @type {PaperRow} */ row) => {
    const words = [row.title, row.paper.name, ...row.paper.authors].join(" ").toLowerCase();
    return wanted.every((word) => words.includes(word));
  };
  const found = papers?.filter(fits) ?? [];
  return html`<div class="paper-home">
    <header class="paper-top">
      <div>
        <h1>${t("papers.title")}</h1>
        <p>${t("papers.lead")}</p>
      </div>
      ${me.value?.auth !== "token" && user.value && html`<${Who} />`}
    </header>
    <${Add} />
    ${problem && html`<${Problem} error=${problem} retry=${load} />`}
    ${!papers && !problem && html`<${Busy} />`}
    ${papers?.length === 0 && html`<${Empty} icon="paper" title=${t("papers.list.empty.title")} text=${t("papers.list.empty.text")} />`}
    ${papers && papers.length > 0 && html`<section class="paper-list">
      <div class="paper-list-top">
        <h2>${t("papers.list.title")}</h2>
        ${papers.length > FEW && html`<${Field} hidden label=${t("papers.list.search")} type="search" value=${search}
          placeholder=${t("papers.list.search")} onInput=${(/** @type {any} */ event) => setSearch(event.target.value)} />`}
        ${papers.length > 1 && (ticked.length > 1 ? html`<${Button} small href=${compareLink(ticked)}>${t("papers.compare.n", { n: ticked.length })}<//>`
          : html`<p class="paper-note">${t("papers.compare.hint")}</p>`)}
      </div>
      ${found.length === 0 && html`<p class="paper-note">${t("papers.list.none")}</p>`}
      <ul>${found.map((row) => html`<${Row} key=${row.session_id} row=${row} onRename=${renaming.begin} onGone=${load}
        ticked=${ticked.includes(row.session_id)} onTick=${papers.length > 1 ? () => tick(row.session_id) : null} />`)}</ul>
    </section>`}
    ${me.value?.auth !== "token" && !user.value && html`<${Entry} />`}
    <${Renaming} state=${renaming} onDone=${load} />
  </div>`;
}

/** Under which name one reads. */
function Who() {
  return html`<p class="paper-who">${t("papers.user.as", { user: user.value })}
    <${Button} small kind="quiet" onClick=${() => (user.value = "")}>${t("papers.user.change")}<//></p>`;
}

/** @param {{row: PaperRow, ticked: boolean, onTick: (() => void) | null, onRename: (row: PaperRow) => void, onGone: () => void}} props */
function Row({ row, ticked, onTick, onRename, onGone }) {
  const { session_id: id, title, current_state: state, paper, steps, read, minutes, questions } = row;
  const facts = [
    paper.authors.slice(0, 3).join(paper.lang === "zh" ? "、" : ", "),
    paper.pages ? t("papers.list.pages", { n: paper.pages }) : "",
    questions ? t("papers.list.questions", { n: questions }) : "",
  ];
  const progress = steps ? t("papers.list.steps", { read, steps }) : "";
  const left = minutes ? t("papers.list.minutes", { n: figure(minutes, 1) }) : "";
  return html`<li class="paper-card">
    <div>
      <h3><a href=${link("papers", id)}>${title}</a></h3>
      <p class="paper-note">${facts.filter(Boolean).join(" · ")}</p>
      <p class="paper-card-foot">
        <${Badge} kind=${state === "CONTROL_ROUTING" ? "good" : "info"} title=${t(`papers.now.${state}`)}>${t(`papers.state.${state}`)}<//>
        ${activeSession() === id && html`<${Badge}>${t("papers.list.active")}<//>`}
        ${progress && html`<span class="paper-progress"><${Progress} hidden value=${read / steps} label=${progress} />
          <span>${[progress, left].filter(Boolean).join(" · ")}</span></span>`}
        <time title=${time(row.last_updated)}>${ago(row.last_updated)}</time>
      </p>
    </div>
    ${onTick && html`<input class="paper-tick" type="checkbox" checked=${ticked} aria-label=${t("papers.compare.tick", { title })} onChange=${onTick} />`}
    <${Menu} label=${t("papers.menu.label", { title })} items=${[
      { label: t("papers.rename"), icon: "edit", action: () => onRename(row) },
      { label: t("papers.export"), icon: "download", href: address(`/papers/${encodeURIComponent(id)}/export`) },
      { label: t("papers.delete"), icon: "trash", danger: true, action: async () => (await removed(row)) && onGone() },
    ]} />
  </li>`;
}
