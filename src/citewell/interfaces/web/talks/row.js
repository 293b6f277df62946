/** A conversation in the list, and what can be done with it. */
import { file } from "../api.js";
import { download } from "../data/cells.js";
import { agentName, t } from "../i18n.js";
import { link, route } from "../state.js";
import { ask as confirm, Button, Dialog, Field, FormDialog, Menu, Problem, Select, toast, useWork } from "../ui/index.js";
import { html, useState } from "../ui/html.js";
import { addFolder } from "./folders.js";
import { ShareDialog } from "./share.js";
import { change, folders, remove } from "../ask/talks.js";

/** @typedef {import("../ask/types.js").Session} Session */
/** @typedef {"rename" | "move" | "share" | "export" | ""} Doing */

const LONGEST = 200; // characters of a title
const KINDS = /** @type {const} */ ([["docx", "ask.export_word"], ["pdf", "ask.export_pdf"], ["md", "ask.export_markdown"]]);
const NEW = "new"; // among the ids of folders, which begin otherwise

/** @param {Session} session */
export function titleOf(session) {
  return session.title || t("ask.untitled");
}

/** @param {{session: Session}} props */
export function Row({ session }) {
  const [doing, setDoing] = useState(/** @type {Doing} */ (""));
  const title = titleOf(session);
  const paper = session.agent === "paper";
  const here = route.value.parts[1] === session.session_id;
  const erase = async () => {
    const text = t(paper ? "ask.delete_paper_text" : "ask.delete_text", { title });
    if (!(await confirm({ title: t("ask.delete_title"), text, action: t("ask.delete"), danger: true }))) return;
    try {
      await remove(session.session_id);
      toast(t("ask.deleted"), "good");
    } catch (error) {
      toast(error);
    }
  };
  const mark = (/** @type {Partial<Session>} */ values) => change(session.session_id, values).catch(toast);
  const own = { session, close: () => setDoing("") };
  return html`<li class=${`talk${here ? " talk-here" : ""}`}>
    <a href=${link(paper ? "papers" : "ask", session.session_id)} aria-current=${here ? "page" : null} title=${title}>
      <span class="talk-title">${title}</span>
      <small class="talk-agent">${agentName(session.agent)}</small>
    </a>
    <${Menu} label=${t("ask.talk_menu", { title })} items=${[
      { label: t(session.pinned ? "ask.unpin" : "ask.pin"), icon: "pin", action: () => mark({ pinned: !session.pinned }) },
      { label: t("ask.rename"), icon: "edit", action: () => setDoing("rename") },
      { label: t("ask.move"), icon: "folder", action: () => setDoing("move") },
      { label: t("ask.share"), icon: "link", action: () => setDoing("share") },
      { label: t("ask.export"), icon: "download", action: () => setDoing("export") },
      { label: t(session.archived ? "ask.unarchive" : "ask.archive"), icon: "eye", action: () => mark({ archived: !session.archived }) },
      { label: t("ask.delete"), icon: "trash", danger: true, action: erase },
    ]} />
    ${doing === "rename" && html`<${Rename} ...${own} />`}
    ${doing === "move" && html`<${Move} ...${own} />`}
    ${doing === "share" && html`<${ShareDialog} ...${own} />`}
    ${doing === "export" && html`<${Export} ...${own} />`}
  </li>`;
}

/** @param {{session: Session, close: () => void}} props */
function Rename({ session, close }) {
  const [title, setTitle] = useState(session.title);
  const save = () => change(session.session_id, { title: title.trim() });
  return html`<${FormDialog} title=${t("ask.rename_title")} close=${close} send=${save} ready=${title.trim() !== ""}>
    <${Field} label=${t("ask.title")} required maxlength=${LONGEST} value=${title} autofocus
      onInput=${(/** @type {any} */ event) => setTitle(event.currentTarget.value)} />
  <//>`;
}

/** @param {{session: Session, close: () => void}} props */
function Move({ session, close }) {
  const [folder, setFolder] = useState(session.folder ?? "");
  const [name, setName] = useState("");
  const save = async () => change(session.session_id, { folder: folder === NEW ? (await addFolder(name)).folder_id : folder });
  const options = [["", t("ask.no_folder")], ...folders.value.map((each) => [each.folder_id, each.name]), [NEW, t("ask.new_folder")]];
  return html`<${FormDialog} title=${t("ask.move_title")} close=${close} send=${save} ready=${folder !== NEW || name.trim() !== ""}>
    <${Select} label=${t("ask.folder")} value=${folder} options=${options} onChange=${setFolder} />
    ${folder === NEW && html`<${Field} label=${t("ask.folder_name")} required maxlength="60" value=${name}
      onInput=${(/** @type {any} */ event) => setName(event.currentTarget.value)} />`}
  <//>`;
}

/** @param {{session: Session, close: () => void}} props */
function Export({ session, close }) {
  const { busy, error, run } = useWork(async (/** @type {string} */ format) => {
    const made = await file(`/sessions/${encodeURIComponent(session.session_id)}/export`, { format });
    download(`${titleOf(session).replace(/[\\/:*?"<>|]+/g, " ").trim().slice(0, 80)}.${format}`, made, made.type);
    close();
  });
  return html`<${Dialog} title=${t("ask.export_title")} onClose=${close}>
    <p>${t("ask.export_hint")}</p>
    <div class="export-kinds">${KINDS.map(([format, label]) => html`<${Button} key=${format} icon="download" disabled=${busy} onClick=${() => run(format)}>${t(label)}<//>`)}</div>
    ${error && html`<${Problem} error=${error} />`}
  <//>`;
}
