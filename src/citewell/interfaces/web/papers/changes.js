/** Renaming and deleting a reading session, from the list and from the session itself. */

import { html, useState } from "../ui/html.js";
import { ask, Field, FormDialog, toast } from "../ui/index.js";
import { del, patch } from "../api.js";
import { t } from "../i18n.js";
import { forgetSession } from "./kept.js";
import { forget } from "./reading.js";

/** @typedef {{session_id: string, title: string}} Named */

const LONGEST = 200; // characters of a title

/** Delete it, after a word of its reader: whether it is gone. @param {Named} session */
export async function removed({ session_id, title }) {
  const sure = { title: t("papers.delete.title"), text: t("papers.delete.text", { title }), action: t("papers.delete"), danger: true };
  if (!(await ask(sure))) return false;
  try {
    await del(`/papers/${encodeURIComponent(session_id)}`);
  } catch (error) {
    toast(error);
    return false;
  }
  forget(session_id);
  forgetSession(session_id);
  toast(t("papers.deleted", { title }), "good");
  return true;
}

/** Which session is being renamed. */
export function useRenaming() {
  const [session, begin] = useState(/** @type {Named | null} */ (null));
  return { session, begin, end: () => begin(null) };
}

/** @param {{state: ReturnType<typeof useRenaming>, onDone: () => unknown}} props */
export function Renaming({ state, onDone }) {
  return state.session && html`<${Title} session=${state.session} onClose=${state.end} onDone=${onDone} />`;
}

/** @param {{session: Named, onClose: () => void, onDone: () => unknown}} props */
function Title({ session, onClose, onDone }) {
  const [title, setTitle] = useState(session.title);
  const save = async () => {
    await patch(`/papers/${encodeURIComponent(session.session_id)}`, { title: title.trim() });
    onDone();
  };
  return html`<${FormDialog} title=${t("papers.rename.title")} send=${save} close=${onClose} ready=${title.trim() !== ""}>
    <${Field} label=${t("papers.rename.label")} value=${title} maxlength=${LONGEST} required autofocus onInput=${(/** @type {any} */ event) => setTitle(event.target.value)} />
  <//>`;
}
