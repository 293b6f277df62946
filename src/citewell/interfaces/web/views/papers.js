/** Papers: what is being read, and one paper with its guide. The address says which; a reload comes back to it. */

import { html } from "../ui/html.js";
import { user } from "../state.js";
import { PaperList } from "../papers/list.js";
import { Room } from "../papers/room.js";

/** @param {{parts: string[]}} props */
export default function Papers({ parts }) {
  const [sessionId = ""] = parts;
  return sessionId ? html`<${Room} key=${`${user.value} ${sessionId}`} sessionId=${sessionId} />` : html`<${PaperList} key=${user.value} />`;
}
