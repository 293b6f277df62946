/** Why something cannot be changed here. */

import { t } from "../i18n.js";
import { coded, Icon } from "../ui/index.js";
import { html } from "../ui/html.js";

/** @param {{by: string}} props `by`: the variable or the file that says it; empty: nothing is shown */
export function Fixed({ by }) {
  return by ? html`<p class="fixed-note"><${Icon} name="lock" size=${16} /><span>${coded(t("settings.fixed", { by: `\`${by}\`` }))}</span></p>` : null;
}
