/** Folders of conversations, in the page's sidebar. The one rule: no conversation goes with its folder. */
import { del, patch, post } from "../api.js";
import { t } from "../i18n.js";
import { keep, kept } from "../state.js";
import { ask as confirm, Field, FormDialog, Icon, Menu, toast } from "../ui/index.js";
import { html, signal, useState } from "../ui/html.js";
import { Row } from "./row.js";
import { folders, loadSessions } from "../ask/talks.js";

/** @typedef {import("../ask/types.js").Folder} Folder */
/** @typedef {import("../ask/types.js").Session} Session */

const LONGEST = 60; // characters of a name

const closed = signal(new Set((kept("folders_closed") ?? "").split(" ")));

/** @param {string} name @returns {Promise<Folder>} */
export async function addFolder(name) {
  const folder = await post("/folders", { name: name.trim() });
  await loadSessions();
  return folder;
}

/** @param {{sessions: Session[]}} props those that stand in one */
export function FolderRows({ sessions }) {
  return html`${folders.value.map((folder) => html`<${FolderRow} key=${folder.folder_id} folder=${folder}
    members=${sessions.filter((each) => each.folder === folder.folder_id).sort((one, other) => Number(other.pinned ?? false) - Number(one.pinned ?? false))} />`)}`;
}

/** @param {{folder: Folder, members: Session[]}} props */
function FolderRow({ folder, members }) {
  const [renaming, setRenaming] = useState(false);
  const open = !closed.value.has(folder.folder_id);
  const toggled = (/** @type {any} */ event) => {
    const next = new Set(closed.value);
    if (event.currentTarget.open) next.delete(folder.folder_id);
    else next.add(folder.folder_id);
    closed.value = next;
    keep("folders_closed", [...next].join(" "));
  };
  const erase = async () => {
    const text = t("ask.delete_folder_text", { name: folder.name });
    if (!(await confirm({ title: t("ask.delete_folder"), text, action: t("ask.delete"), danger: true }))) return;
    try {
      await del(`/folders/${encodeURIComponent(folder.folder_id)}`);
      await loadSessions();
    } catch (error) {
      toast(error);
    }
  };
  return html`<div class="talks-folder">
    <details open=${open} onToggle=${toggled}>
      <summary><${Icon} name="folder" size=${16} /><span class="talk-title">${folder.name}</span>${" "}<small class="talk-agent">${members.length}</small></summary>
      ${members.length
        ? html`<ul>${members.map((each) => html`<${Row} key=${each.session_id} session=${each} />`)}</ul>`
        : html`<p class="talks-none">${t("ask.folder_empty")}</p>`}
    </details>
    <${Menu} label=${t("ask.folder_menu", { name: folder.name })} items=${[
      { label: t("ask.rename"), icon: "edit", action: () => setRenaming(true) },
      { label: t("ask.delete"), icon: "trash", danger: true, action: erase },
    ]} />
    ${renaming && html`<${FolderDialog} folder=${folder} close=${() => setRenaming(false)} />`}
  </div>`;
}

/** A new one, or another name. @param {{folder?: Folder, close: () => void}} props */
export function FolderDialog({ folder, close }) {
  const [name, setName] = useState(folder?.name ?? "");
  const save = async () => {
    if (!folder) return addFolder(name);
    await patch(`/folders/${encodeURIComponent(folder.folder_id)}`, { name: name.trim() });
    return loadSessions();
  };
  return html`<${FormDialog} title=${t(folder ? "ask.rename_folder" : "ask.new_folder")} close=${close} send=${save} ready=${name.trim() !== ""}>
    <${Field} label=${t("ask.folder_name")} required maxlength=${LONGEST} value=${name} autofocus
      onInput=${(/** @type {any} */ event) => setName(event.currentTarget.value)} />
  <//>`;
}
