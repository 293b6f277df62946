/**
 * The server's English in Chinese, for a page in Chinese: every text that the server's code holds for people, with `{1}`, `{2}`
 * where it puts in a value. The one rule: the key is the English word for word as the code has it;
 * tests/interfaces/test_server_words.py fails where a text of the code has no entry, or an entry no text.
 */

import { answers } from "./answers.js";
import { http } from "./http.js";
import { ingest } from "./ingest.js";
import { knowledge } from "./knowledge.js";
import { models } from "./models.js";
import { service } from "./service.js";
import { tables } from "./tables.js";

/** @type {Record<string, string>} */
export const CHINESE = { ...answers, ...http, ...ingest, ...knowledge, ...models, ...service, ...tables };
