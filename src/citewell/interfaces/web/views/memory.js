/** Memory: what is remembered of who asks, to be searched, reworded and forgotten. The one rule: what is forgotten is gone. */

import { html, useEffect, useState } from "../ui/html.js";
import { ask, Busy, Button, Check, Choice, Empty, Field, Problem, toast } from "../ui/index.js";
import { del, get } from "../api.js";
import { me, user } from "../state.js";
import { t } from "../i18n.js";
import { Card } from "../memory/card.js";
import { fits } from "../memory/fit.js";

/** @typedef {import("../memory/fit.js").Memory} Memory */

export default function MemoryPage() {
  const [memories, setMemories] = useState(/** @type {Memory[] | null} */ (null));
  const [problem, setProblem] = useState(/** @type {unknown} */ (null));
  const [search, setSearch] = useState("");
  const [kind, setKind] = useState("");
  const [older, setOlder] = useState(false);
  const load = async () => {
    try {
      setMemories((await get("/memories", { history: older })).memories);
      setProblem(null);
    } catch (error) {
      setProblem(error);
    }
  };
  useEffect(() => void load(), [user.value, older]);
  const gone = async (/** @type {Promise<any>} */ asked) => {
    try {
      const { memory_ids, traces } = await asked;
      toast(t("memory.forgotten", { n: memory_ids.length, traces }), "good");
    } catch (error) {
      toast(error);
    }
    await load();
  };
  const forget = async (/** @type {Memory} */ memory) => {
    const words = memory.kind === "fact" ? memory.text : memory.subject;
    const text = t("memory.forget.text", { text: words });
    if (await ask({ title: t("memory.forget.title"), text, action: t("memory.forget"), danger: true })) {
      await gone(del(`/memories/${encodeURIComponent(memory.memory_id)}`));
    }
  };
  const forgetAll = async () => {
    const whose = user.value || me.value?.user_id || "local"; // the server wants the name
    const text = t("memory.all.text", { n: memories?.length ?? 0, user: whose });
    if (await ask({ title: t("memory.all.title"), text, action: t("memory.forget_all"), danger: true })) {
      await gone(del("/memories", { user_id: whose }));
    }
  };
  const found = (memories ?? []).filter((memory) => (!kind || memory.kind === kind) && fits(memory, search));
  const some = memories !== null && memories.length > 0;
  return html`<div class="view memory-page">
    <header class="view-head">
      <div><h1>${t("memory.title")}</h1><p class="muted">${t("memory.lead")}</p></div>
      ${some && html`<${Button} kind="danger" icon="trash" onClick=${forgetAll}>${t("memory.forget_all")}<//>`}
    </header>
    ${problem && html`<${Problem} error=${problem} retry=${load} />`}
    ${!memories && !problem && html`<${Busy} />`}
    ${memories?.length === 0 && html`<${Nothing} />`}
    ${some && html`<div class="memory-bar">
      <${Field} hidden label=${t("memory.search")} type="search" value=${search} placeholder=${t("memory.search")}
        onInput=${(/** @type {any} */ event) => setSearch(event.target.value)} />
      <${Choice} hidden label=${t("memory.kinds")} value=${kind} onChange=${setKind} options=${[
        { value: "", label: t("memory.all") },
        { value: "fact", label: t("memory.facts") },
        { value: "question", label: t("memory.questions") },
      ]} />
      <${Check} label=${t("memory.older")} checked=${older} onChange=${setOlder} />
    </div>
    <p class="memory-count" role="status">${t("memory.count", { n: found.length })}</p>
    ${found.length === 0
      ? html`<div class="memory-none">
          <p>${t("memory.none.text", { n: memories.length })}</p>
          <${Button} onClick=${() => (setSearch(""), setKind(""))}>${t("memory.none.clear")}<//>
        </div>`
      : html`<ul class="memory-list">${found.map((memory) => html`<${Card} key=${memory.memory_id} ...${{ memory }} onForget=${forget} onChange=${load} />`)}</ul>`}
    <section class="memory-off"><h2>${t("memory.off.title")}</h2><p>${t("memory.off.text")}</p></section>`}
  </div>`;
}

function Nothing() {
  const text = html`${t("memory.empty.text")}<br /><br />${t("memory.empty.off")}`;
  const action = html`<${Button} kind="primary" icon="ask" href="#/ask">${t("memory.empty.ask")}<//>`;
  return html`<${Empty} icon="memory" title=${t("memory.empty.title")} text=${text} action=${action} />`;
}
