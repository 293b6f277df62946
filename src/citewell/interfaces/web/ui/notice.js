/** What stands where there is nothing yet, where something failed, or where one waits. */

import { t } from "../i18n.js";
import { ApiError } from "../api.js";
import { said } from "../said.js";
import { LOOK_AGAIN, online } from "../state.js";
import { Button } from "./button.js";
import { coded } from "./coded.js";
import { html, useEffect } from "./html.js";
import { Icon } from "./icon.js";
import { mayHelp, missing } from "./missing.js";

/** Nothing here yet, and what to do first. `action`: a Button.
 * @param {{title: string, text?: any, action?: any, icon?: string}} props */
export function Empty({ title, text, action, icon }) {
  return html`<div class="empty">
    ${icon && html`<${Icon} name=${icon} size=${36} />`}
    <h2>${title}</h2>
    ${text && html`<p>${typeof text === "string" ? coded(text) : text}</p>`} ${action && html`<div class="actions">${action}</div>`}
  </div>`;
}

/** What went wrong, with the server's hint. `retry`: asks for the same once more; its button is there where that can help, and a
 * server that answers again is asked without it.
 * @param {{error: unknown, retry?: (() => void) | null}} props */
export function Problem({ error, retry }) {
  const known = error instanceof ApiError ? error : null;
  const offline = known?.code === "offline";
  const again = offline && online.value ? retry : null;
  useEffect(() => {
    if (!again) return;
    const timer = setTimeout(again, LOOK_AGAIN);
    return () => clearTimeout(timer);
  }, [error, !again]);
  if (!error) return null;
  const message = known?.text ?? (error instanceof Error ? error.message : String(error));
  const gone = missing(error);
  const hint = offline ? t("frame.offline_hint") : gone ? t(gone.advice) : said(known?.hint);
  return html`<div class="problem" role="alert">
    <${Icon} name="warning" />
    <div>
      <p class="what">${offline ? t("frame.offline") : coded(said(message))}</p>
      ${hint && html`<p class="hint">${coded(hint)}</p>`}
      ${gone && html`<${Button} small href=${`#/${gone.part}`}>${t("frame.go_to", { view: t(`frame.${gone.part}`) })}<//>`}
      ${retry && mayHelp(error) && html`<${Button} small icon="refresh" onClick=${retry}>${t("frame.retry")}<//>`}
    </div>
  </div>`;
}

/** Something is on its way. @param {{label?: string, small?: boolean}} props */
export function Busy({ label, small = false }) {
  return html`<div class=${`busy ${small ? "small" : ""}`} role="status">
    <span class="spinner" aria-hidden="true"></span><span class=${label ? "" : "unseen"}>${label ?? t("frame.busy")}</span>
  </div>`;
}

/** How far it is. @param {{value?: number | null, label: string, detail?: any, hidden?: boolean}} props `value` 0 to 1, null: nobody knows */
export function Progress({ value = null, label, detail, hidden = false }) {
  return html`<div class="progress">
    <span class=${hidden ? "unseen" : "progress-label"} aria-hidden="true">${label}</span>
    <progress max="1" value=${value ?? undefined} aria-label=${label}></progress>
    ${detail && html`<span class="hint">${detail}</span>`}
  </div>`;
}

/** A word in a small frame. @param {{kind?: "good" | "warn" | "bad" | "info" | "plain", children?: any, title?: string}} props */
export function Badge({ kind = "plain", children, title }) {
  return html`<span class=${`badge ${kind}`} title=${title}>${children}</span>`;
}
