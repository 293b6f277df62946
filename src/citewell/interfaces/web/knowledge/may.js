/** Who may do what with knowledge. The one rule: what somebody may not do is shown, and why it cannot be pressed. */
import { t } from "../i18n.js";
import { me, user } from "../state.js";
import { Button } from "../ui/button.js";
import { html, useId } from "../ui/html.js";

const REVIEWS = new Set(["reviewer", "admin"]);

/** Why this person may not review, stand by, undo and restore; empty where they may. */
export function notReviewer() {
  const role = me.value?.role;
  return !role || REVIEWS.has(role) ? "" : t("knowledge.not_reviewer", { role: t(`knowledge.role_${role}`) });
}

/** Why this person may not check and clean; empty where they may. */
export function notAdmin() {
  const role = me.value?.role;
  return !role || role === "admin" ? "" : t("knowledge.only_admin", { role: t(`knowledge.role_${role}`) });
}

/** The name under which this person's word is kept. */
export function myself() {
  return me.value?.auth === "token" ? me.value.user_id : user.value || me.value?.user_id || "local";
}

/** What goes into the body of a request that names who asks: nothing where a token says so. */
export function who() {
  return me.value?.auth === "token" ? {} : { user_id: myself() };
}

/**
 * A button that says why it cannot be pressed, where it cannot.
 * @param {{ why: string, children?: any } & Record<string, any>} props
 */
export function Allowed({ why, children, ...rest }) {
  const id = useId();
  if (!why) return html`<${Button} ...${rest}>${children}<//>`;
  return html`<span class="allowed"><${Button} ...${rest} disabled aria-describedby=${id}>${children}<//>
    <span class="hint" id=${id}>${why}</span></span>`;
}
