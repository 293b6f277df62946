/** What an answer cost: calls, tokens, and seconds by step. */
import { t } from "../i18n.js";
import { duration, figure, percent } from "../ui/figures.js";
import { html } from "../ui/html.js";
import { nodeWords } from "../ui/step_words.js";

/** @typedef {{ calls: number, prompt_tokens: number, cached_tokens?: number, completion_tokens: number, seconds: Record<string, number> }} Use */

/** @param {{ usage: Use, prompts: readonly { node: string }[] }} props */
export function Usage({ usage, prompts }) {
  const { total = 0, ...steps } = usage.seconds;
  const whole = total || Object.values(steps).reduce((sum, each) => sum + each, 0) || 1;
  const rows = Object.entries(steps).map(([node, seconds]) => ({
    node, seconds, calls: prompts.filter((prompt) => prompt.node === node).length,
  }));
  return html`<div class="trace-usage">
    <dl class="figures">
      <div><dt>${t("traces.took")}</dt><dd>${duration(total)}</dd></div>
      <div><dt>${t("traces.calls")}</dt><dd>${figure(usage.calls)}</dd></div>
      <div><dt>${t("traces.tokens_sent")}</dt><dd>${figure(usage.prompt_tokens)}</dd></div>
      <div><dt>${t("traces.tokens_cached")}</dt><dd>${figure((usage.cached_tokens ?? 0))}</dd></div>
      <div><dt>${t("traces.tokens_written")}</dt><dd>${figure(usage.completion_tokens)}</dd></div>
    </dl>
    ${rows.length > 0 && html`<div class="scroll" tabindex="0" role="region" aria-label=${t("traces.usage")}><table>
      <thead><tr><th scope="col">${t("traces.node")}</th><th scope="col" class="number">${t("traces.took")}</th>
        <th scope="col" class="number">${t("traces.share")}</th><th scope="col" class="number">${t("traces.calls")}</th></tr></thead>
      <tbody>${rows.map((row) => html`<tr key=${row.node}><th scope="row">${nodeWords(row.node)}</th><td class="number">${duration(row.seconds)}</td>
        <td class="number">${percent(row.seconds / whole)}</td><td class="number">${row.calls || "–"}</td></tr>`)}</tbody>
    </table></div>`}
  </div>`;
}
