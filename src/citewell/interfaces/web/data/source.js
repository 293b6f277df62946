/** One source: ask it, look at its tables, say what they mean. The one rule: what reading it left out stays in sight. */
import { del, get, post } from "../api.js";
import { useSubject } from "../frame/subject.js";
import { t } from "../i18n.js";
import { said } from "../said.js";
import { go, link } from "../state.js";
import { FileButton } from "../ui/drop.js";
import { ago, time } from "../ui/figures.js";
import { html, useEffect, useState } from "../ui/html.js";
import { ask, Badge, Busy, Button, Icon, Problem, Tabs, toast, useWork } from "../ui/index.js";
import { adviceOf, changes, sendNewer } from "./adding.js";
import { AskHere } from "../ask/asking.js";
import { beginTalk } from "../ask/talks.js";
import { Description } from "./description.js";
import { useExample } from "./example.js";
import { ENGINES } from "./sql.js";
import { Tables } from "./tables.js";

/** @typedef {import("./adding.js").Source} Source */

/** `away`: takes files. @param {{name: string, mayEdit: boolean, away: (files: File[]) => void}} props */
export function SourcePage({ name, mayEdit, away }) {
  const [source, setSource] = useState(/** @type {Source | null} */ (null));
  const [error, setError] = useState(/** @type {unknown} */ (null));
  const [tab, setTab] = useState("ask");
  useSubject(name);
  const example = useExample(name);
  const moved = changes.value;
  const load = () => {
    setError(null);
    get(`/data/sources/${encodeURIComponent(name)}`).then(setSource, setError);
  };
  useEffect(load, [name, moved]);
  useEffect(() => setTab("ask"), [name]);
  const back = html`<a class="data-back" href=${link("data")}><${Icon} name="arrow-left" size=${16} />${" "}${t("data.back")}</a>`;
  if (error) return html`${back}<h1>${name}</h1><${Problem} error=${error} retry=${load} />`;
  if (!source) return html`${back}<h1>${name}</h1><${Busy} label=${t("data.loading")} />`;
  const counts = { tables: source.tables.length };
  const tabs = ["ask", "tables", "description"].map((id) => ({ id, label: t(`data.tab_${id}`), count: counts[/** @type {"tables"} */ (id)] }));
  return html`<header class="data-head">${back}
      <div class="data-head-row"><h1>${name}</h1>${mayEdit && html`<${Actions} source=${source} />`}</div>
      <p class="muted data-facts"><span>${placeOf(source.location)}</span>${source.dialect !== "duckdb" && html`<span>${ENGINES[source.dialect]}</span>`}
        <span>${t("data.tables_n", { n: source.tables.length })}</span>
        <span title=${time(source.refreshed_at)}>${t("data.read_at", { when: ago(source.refreshed_at) })}</span></p>
      <${Told} source=${source} />
    </header>
    <${Tabs} tabs=${tabs} value=${tab} onChange=${setTab} label=${name}>
      ${tab === "ask" && html`<${AskHere} place=${`@data/${name}`} fixed=${{ agent: "data", options: { source: name } }} label=${t("data.ask_of", { name })} placeholder=${example} away=${away} />`}
      ${tab === "tables" && html`<${Tables} source=${name} fingerprint=${`${source.fingerprint} ${source.refreshed_at}`} />`}
      ${tab === "description" && html`<${Description} key=${name} source=${name} mayEdit=${mayEdit}
        saved=${() => setSource({ ...source, described: true })} />`}
    <//>`;
}

/** @param {string} location */
export function placeOf(location) {
  if (location.startsWith("document:")) return t("data.of_document");
  return location.startsWith("upload:") ? t("data.sent_file", { name: location.slice(7) }) : location;
}

/** What is wrong with it, and what was left out. @param {{source: Source}} props */
function Told({ source }) {
  return html`${source.problem && html`<p class="data-problem"><${Badge} kind="bad">${said(source.problem)}<//></p>`}
    ${source.warnings.length > 0 && html`<details class="data-warnings"><summary><${Badge} kind="warn">
      ${t("data.left_out_n", { n: source.warnings.length })}<//></summary><ul>${source.warnings.map((text) => html`<li key=${text}>${said(text)}</li>`)}</ul></details>`}`;
}

/** A file that was sent is not here to be read again. @param {{source: Source}} props */
function Actions({ source }) {
  const { name, tables } = source;
  const { busy, run: refresh } = useWork(async () => {
    await post(`/data/sources/${encodeURIComponent(name)}/refresh`).finally(() => (changes.value += 1));
    toast(t("data.refreshed", { name }), "good");
  }, (error) => [error, adviceOf(error)].filter(Boolean).forEach((each) => toast(each)));
  const remove = async () => {
    const question = { title: t("data.remove_ask", { name }), text: t("data.remove_text", { n: tables.length }), action: t("data.remove"), danger: true };
    if (!(await ask(question))) return;
    try {
      await del(`/data/sources/${encodeURIComponent(name)}`);
      beginTalk(`@data/${name}`);
      toast(t("data.removed", { name }), "good");
      go("/data");
    } catch (error) {
      toast(error);
    }
  };
  const suffix = /\.[^.]+$/.exec(source.location)?.[0];
  const newer = (/** @type {FileList | null} */ list) => list?.[0] && sendNewer(source, list[0]);
  const sent = source.location.startsWith("upload:");
  return html`<span class="row">
    ${sent
      ? html`<${FileButton} label=${t("data.send_newer")} multiple=${false} accept=${suffix} onFiles=${newer} />`
      : !source.location.startsWith("document:") && html`<${Button} kind="quiet" icon="refresh" busy=${busy} onClick=${refresh}>${t("data.refresh")}<//>`}
    <${Button} kind="quiet" icon="trash" onClick=${remove}>${t("data.remove")}<//></span>`;
}
