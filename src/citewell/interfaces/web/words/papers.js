/** Words of the part "papers", both languages. */

import { en } from "./papers_en.js";
import { zh } from "./papers_zh.js";

export default { en, zh };
