/** That there is no answer, and whether there may be one yet. The one rule: what is said is what is known, not what is hoped. */
import { ApiError } from "../api.js";
import { t } from "../i18n.js";
import { advice } from "../sites/advice.js";
import { html } from "../ui/html.js";
import { Busy, Icon, Problem } from "../ui/index.js";

const LINE = ["offline", "cut_off"]; // the line was lost
const OURS = [...LINE, "stopping", "reloaded"]; // errors with words of our own

/** @param {{run: import("./stream.js").Run}} props */
export function Lost({ run }) {
  const error = run.error.value;
  const code = error instanceof ApiError ? error.code : "";
  const what = advice(code);
  if (!OURS.includes(code)) return html`<${Problem} error=${error} />${what && html`<p><strong>${t("sites.what_to_do")}</strong> ${what}</p>`}`;
  const kind = LINE.includes(code) ? "line" : code === "reloaded" ? "page" : "server";
  const now = run.looking.value ? "looking" : run.resumable.value ? "kept" : "gone";
  return html`<div class="problem" role="alert">
    <${Icon} name="warning" />
    <div>
      <p class="what">${t(`ask.lost_${kind}`)}</p>
      <p class="hint">${t(`ask.lost_${now}`)}</p>
      ${run.looking.value && html`<${Busy} small label=${t("ask.lost_look")} />`}
    </div>
  </div>`;
}
