/** Words of the part "library", both languages. */

import { en } from "./library_en.js";
import { zh } from "./library_zh.js";

export default { en, zh };
