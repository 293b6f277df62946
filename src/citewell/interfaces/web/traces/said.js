/** How the state of a trace, an item or a vote is said. The one rule: never by colour alone. */
import { known, t } from "../i18n.js";
import { html } from "../ui/html.js";
import { Badge } from "../ui/notice.js";

const GOOD = new Set(["answered", "active", "ok", "restored", "done"]);
const BAD = new Set(["error", "quarantined", "rejected", "failed"]);
const WAIT = new Set(["fallback", "clarify", "pending", "waiting", "unknown"]);

/** @param {{ state: string }} props */
export function State({ state }) {
  const kind = GOOD.has(state) ? "good" : BAD.has(state) ? "bad" : WAIT.has(state) ? "warn" : "plain";
  return html`<${Badge} kind=${kind}>${known(`traces.state_${state}`) ? t(`traces.state_${state}`) : state}<//>`;
}
