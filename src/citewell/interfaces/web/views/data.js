/** Tables and databases: what there is, and questions to it. */
import { get, post } from "../api.js";
import { ACCEPTED, changes, Connect, Sendings, sendTables, Whose } from "../data/adding.js";
import { AskHere, takeToAsk } from "../ask/asking.js";
import { talkOf } from "../ask/talks.js";
import { placeOf, SourcePage } from "../data/source.js";
import { t } from "../i18n.js";
import { said } from "../said.js";
import { go, lang, link, me } from "../state.js";
import { DropAnywhere, FileButton } from "../ui/drop.js";
import { ago, figure } from "../ui/figures.js";
import { html, useEffect, useState } from "../ui/html.js";
import { Badge, Busy, Button, Empty, Problem, toast } from "../ui/index.js";

/** @typedef {import("../data/adding.js").Source} Source */

/** @param {{parts: string[], params: Record<string, string>}} props */
export default function Data({ parts: [name] }) {
  const mayEdit = me.value?.role !== "reader";
  const tables = new RegExp(`\\.(${ACCEPTED.replaceAll(".", "").replaceAll(",", "|")})$`, "i");
  const away = (/** @type {File[]} */ files) => (files.length && files.every((each) => tables.test(each.name)) ? send(files) : takeToAsk(talkOf(name ? `@data/${name}` : "@data"), files));
  const send = async (/** @type {File[]} */ files) => {
    if (files.length > 1) toast(t("data.one_file", { n: files.length }));
    const names = await sendTables(files);
    if (names.length === 1 && files.length === 1) go(link("data", String(names[0])).slice(1));
  };
  return html`<div class="view data-view">
    <${DropAnywhere} label=${t("data.drop_here")} disabled=${!mayEdit} onFiles=${(/** @type {any[]} */ found) => away(found.map((each) => each.file))} />
    <${Sendings} />
    ${name ? html`<${SourcePage} key=${name} name=${name} mayEdit=${mayEdit} away=${away} />` : html`<${Sources} mayEdit=${mayEdit} send=${send} away=${away} />`}
  </div>`;
}

/** @param {{mayEdit: boolean, send: (files: File[]) => void, away: (files: File[]) => void}} props */
function Sources({ mayEdit, send, away }) {
  const [sources, setSources] = useState(/** @type {Source[] | null} */ (null));
  const [error, setError] = useState(/** @type {unknown} */ (null));
  const [connecting, setConnecting] = useState(false);
  const moved = changes.value;
  const load = () => {
    setError(null);
    get("/data/sources").then((found) => setSources(found.sources), setError);
  };
  useEffect(load, [moved]);
  const connected = (/** @type {string | null} */ name) => {
    setConnecting(false);
    if (name) go(link("data", name).slice(1));
  };
  const trySample = () => post("/data/samples", { lang: lang.value }).then(({ name }) => go(link("data", name).slice(1)), setError);
  const buttons = mayEdit && html`<div class="row">
    <${FileButton} label=${t("data.add_file")} accept=${ACCEPTED} primary onFiles=${(/** @type {FileList} */ list) => send([...(list ?? [])])} />
    <${Button} icon="link" onClick=${() => setConnecting(true)}>${t("data.add_server")}<//>
    ${sources?.length === 0 && html`<${Button} onClick=${trySample}>${t("data.try_sample")}<//>`}<${Whose} /></div>`;
  return html`<header class="data-head">
      <div class="data-head-row"><h1>${t("data.title")}</h1>${sources !== null && sources.length > 0 && buttons}</div>
      <p class="muted">${t("data.intro")}</p>
    </header>
    <${Problem} error=${error} retry=${load} />
    ${!sources && !error && html`<${Busy} label=${t("data.loading")} />`}
    ${sources?.length === 0 && html`<${Empty} icon="data" title=${t("data.empty_title")} text=${t("data.empty_text")} action=${buttons} />`}
    ${sources && sources.length > 0 && html`<${AskHere} place="@data" fixed=${{ agent: "data", options: {} }} label=${t("data.ask_all")} away=${away} />
      <h2>${t("data.sources")}</h2>
      <ul class="data-sources">${sources.map((source) => html`<${Card} key=${source.name} source=${source} />`)}</ul>`}
    ${connecting && html`<${Connect} close=${connected} />`}`;
}

/** @param {{source: Source}} props */
function Card({ source }) {
  const rows = source.tables.reduce((sum, table) => sum + (table.rows ?? 0), 0);
  return html`<li><a class="card data-card" href=${link("data", source.name)}>
    <strong>${source.name}</strong>
    <span>${t("data.tables_n", { n: source.tables.length })}${" · "}${t("data.rows_n", { n: figure(rows) })}</span>
    <span class="muted">${placeOf(source.location)}${" · "}${t("data.read_at", { when: ago(source.refreshed_at) })}</span>
    ${source.owner && html`<${Badge}>${t("library.private")}<//>`}
    ${source.problem && html`<${Badge} kind="bad">${said(source.problem)}<//>`}
  </a></li>`;
}
