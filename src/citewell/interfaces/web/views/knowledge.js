/** `#/knowledge`: what people have confirmed and corrected. `#/knowledge?item=ID` is one item, or one rule. */
import { t } from "../i18n.js";
import { html } from "../ui/html.js";
import { Confirmed } from "../knowledge/confirmed.js";
import { Conflicts } from "../knowledge/conflicts.js";
import { Health } from "../knowledge/health.js";
import { One } from "../knowledge/item.js";
import { useLoaded } from "../knowledge/loaded.js";
import { notReviewer } from "../knowledge/may.js";
import { Mine } from "../knowledge/mine.js";
import { OneRule, Rules } from "../knowledge/rules.js";
import { Wrongs } from "../knowledge/wrong.js";
import { Empty } from "../ui/notice.js";
import { Parts } from "../traces/parts.js";

/** @type {Record<string, import("preact").ComponentType<{}>>} */
const PARTS = { confirmed: Confirmed, rules: Rules, conflicts: Conflicts, wrong: Wrongs, health: Health, mine: Mine };

const REVIEWED = new Set(["conflicts", "wrong"]); // what the server shows to reviewers only

/** @param {{ parts: string[], params: Record<string, string> }} props */
export default function Knowledge({ parts, params }) {
  const waiting = useLoaded("/knowledge/rules", { state: "waiting" });
  const item = params["item"] ?? "";
  const chosen = parts[0] ?? "";
  const name = Object.hasOwn(PARTS, chosen) ? chosen : "confirmed";
  const Part = PARTS[name];
  const count = waiting.found?.rules.length;
  const links = Object.keys(PARTS).map((each) => ({
    href: each === "confirmed" ? "#/knowledge" : `#/knowledge/${each}`, label: t(`knowledge.tab_${each}`),
    current: !item && each === name, count: each === "rules" && count ? count : undefined,
  }));
  return html`<div class="view knowledge">
    <header class="view-head"><h1>${t("knowledge.title")}</h1></header>
    <${Parts} parts=${links} label=${t("knowledge.parts")} />
    ${item ? (item.startsWith("rule_") ? html`<${OneRule} id=${item} key=${item} />` : html`<${One} id=${item} key=${item} />`)
      : html`<section key=${name} aria-label=${t(`knowledge.tab_${name}`)}>${REVIEWED.has(name) && notReviewer()
        ? html`<${Empty} icon="knowledge" title=${t("knowledge.for_reviewers")} text=${notReviewer()} />` : html`<${Part} />`}</section>`}
  </div>`;
}
