/** Papers: what is being read, several compared, and one paper with its guide. The address says which; a reload comes back to it. */

import { html } from "../ui/html.js";
import { user } from "../state.js";
import { Compare } from "../papers/compare.js";
import { PaperList } from "../papers/list.js";
import { Room } from "../papers/room.js";

/** @param {{parts: string[], params: Record<string, string>}} props */
export default function Papers({ parts, params }) {
  const [sessionId = ""] = parts;
  if (sessionId === "compare") return html`<${Compare} key=${user.value} ids=${(params["ids"] ?? "").split(",").filter(Boolean)} />`;
  return sessionId ? html`<${Room} key=${`${user.value} ${sessionId}`} sessionId=${sessionId} />` : html`<${PaperList} key=${user.value} />`;
}
