/**
 * Files dropped anywhere on a view. The one rule: a file that misses its place never makes the browser leave the page.
 */
import { dropped } from "../library/files.js";
import { go } from "../state.js";
import { html, signal, useEffect, useLayoutEffect, useRef, useState } from "./html.js";
import { Icon } from "./icon.js";

/** @typedef {import("../library/files.js").Found} Found */

/** Whether files are dragged, and no text or link of the page. @param {DragEvent} event */
export function holdsFiles(event) {
  return [...(event.dataTransfer?.types ?? [])].includes("Files");
}

/** Files that were dropped where nothing takes files, until the composer has them. */
export const stray = signal(/** @type {File[]} */ ([]));

/** Takes what is dropped on a part of the page that takes no files: it is asked about. */
export function StrayFiles() {
  useEffect(() => {
    const take = (/** @type {DragEvent} */ event) => {
      if (event.defaultPrevented || !holdsFiles(event)) return;
      event.preventDefault();
      if (event.type === "dragover" || !event.dataTransfer) return;
      void dropped(event.dataTransfer).then((files) => {
        stray.value = files.map((each) => each.file);
        go("/ask");
      });
    };
    // the window hears it after every part of the page
    for (const name of ["dragover", "drop"]) addEventListener(name, /** @type {any} */ (take));
    return () => {
      for (const name of ["dragover", "drop"]) removeEventListener(name, /** @type {any} */ (take));
    };
  }, []);
  return null;
}

/**
 * Takes what is dropped on the page while it is drawn. `onFiles` gets the files, with those of folders. A place of its own (an
 * element with `data-own-drop`) takes its files itself.
 * @param {{label: string, onFiles: (files: Found[]) => void, disabled?: boolean}} props
 */
export function DropAnywhere({ label, onFiles, disabled = false }) {
  const [over, setOver] = useState(false);
  const take = useRef(onFiles);
  take.current = onFiles;
  useLayoutEffect(() => {
    let depth = 0; // entered and not left: of each element there is an event of its own
    const own = (/** @type {Event} */ event) => event.target instanceof Element && event.target.closest("[data-own-drop], dialog") !== null;
    const enter = (/** @type {DragEvent} */ event) => {
      if (!holdsFiles(event)) return;
      event.preventDefault();
      depth += 1;
      setOver(!own(event) && !disabled);
    };
    const move = (/** @type {DragEvent} */ event) => {
      if (!holdsFiles(event)) return;
      event.preventDefault();
      if (event.dataTransfer) event.dataTransfer.dropEffect = own(event) || !disabled ? "copy" : "none";
    };
    const leave = (/** @type {DragEvent} */ event) => {
      if (!holdsFiles(event)) return;
      depth = Math.max(0, depth - 1);
      if (!depth) setOver(false);
    };
    const drop = (/** @type {DragEvent} */ event) => {
      if (!holdsFiles(event)) return;
      event.preventDefault();
      depth = 0;
      setOver(false);
      if (own(event) || disabled || !event.dataTransfer) return;
      void dropped(event.dataTransfer).then((files) => take.current(files));
    };
    const listens = /** @type {[string, any][]} */ ([["dragenter", enter], ["dragover", move], ["dragleave", leave], ["drop", drop]]);
    for (const [name, listener] of listens) document.addEventListener(name, listener);
    return () => {
      for (const [name, listener] of listens) document.removeEventListener(name, listener);
    };
  }, [disabled]);
  return over && html`<div class="drop-over" aria-hidden="true"><p><${Icon} name="upload" size=${32} />${label}</p></div>`;
}

/**
 * A button that chooses files. `folder`: a whole folder; `bare`: its sign alone; `accept`: kinds of them. What was chosen can be chosen again.
 * @param {{label: string, onFiles: (list: FileList | null) => void, folder?: boolean, multiple?: boolean, accept?: string, icon?: string,
 *   primary?: boolean, disabled?: boolean, bare?: boolean}} props
 */
export function FileButton({ label, onFiles, folder = false, multiple = true, accept, icon = "upload", primary = false, disabled = false, bare = false }) {
  const field = useRef(/** @type {HTMLInputElement | null} */ (null));
  const chosen = (/** @type {any} */ event) => {
    onFiles(event.currentTarget.files);
    event.currentTarget.value = "";
  };
  return html`<span class="file-button">
    <button type="button" class=${bare ? "icon-button" : `button ${primary ? "primary" : "plain"}`} disabled=${disabled} onClick=${() => field.current?.click()}
      aria-label=${bare ? label : null} title=${bare ? label : null}><${Icon} name=${icon} size=${18} />${!bare && html`${" "}${label}`}</button>
    <input ref=${field} type="file" hidden multiple=${multiple} accept=${accept} webkitdirectory=${folder || undefined} aria-label=${label}
      onChange=${chosen} />
  </span>`;
}
