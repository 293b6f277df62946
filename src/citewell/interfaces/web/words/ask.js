/** Words of the part "ask", both languages. */

import { en as english } from "./ask_en.js";
import { nodes } from "./ask_nodes.js";
import { zh as chinese } from "./ask_zh.js";

export const en = { ...english, ...nodes.en };

export const zh = { ...chinese, ...nodes.zh };

export default { en, zh };
