/** What the steps of an agent are called, and what leads from one to the next. The names of the code stand where a step is opened. */

import { known, t } from "../i18n.js";

/** @param {string} node its name in the API */
export function nodeWords(node) {
  const key = `ask.node_${node.replaceAll(" ", "_")}`;
  return known(key) ? t(key) : node;
}

/** Why the step after it was taken. @param {string} action its name in the API */
export function actionWords(action) {
  const key = `traces.way_${action}`;
  return known(key) ? t(key) : action;
}
