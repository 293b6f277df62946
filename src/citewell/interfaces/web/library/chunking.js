/** How a collection's documents are cut: change it, and try it on a file. The one rule: a try keeps nothing. */
import { patch } from "../api.js";
import { t } from "../i18n.js";
import { FileButton } from "../ui/drop.js";
import { html, useState } from "../ui/html.js";
import { Button, Problem, toast, useWork } from "../ui/index.js";
import { CutFields, cutOf, saidOf } from "./cut_fields.js";
import { dropped } from "./files.js";
import { follow } from "./jobs.js";
import { chunkingWords } from "./kinds.js";
import { Cuts } from "./preview.js";

/** @typedef {{name: string, documents: number, chunks: number, embedded: number, created_at: number, chunking: Record<string, any>,
 *   owner?: string}} Collection */

/** @param {{collection: Collection, mayEdit: boolean, reload: () => void}} props */
export function ChunkingTab({ collection, mayEdit, reload }) {
  return html`<div class="lib-chunking">
    <section class="card">
      <h2>${t("library.cut_title")}</h2>
      <p class="muted">${t("library.cut_text")}</p>
      ${mayEdit ? html`<${Change} collection=${collection} reload=${reload} />` : html`<p>${chunkingWords(collection.chunking)}</p>`}
    </section>
    <${Try} start=${collection.chunking} />
  </div>`;
}

/** @param {{collection: Collection, reload: () => void}} props */
function Change({ collection, reload }) {
  const [cut, setCut] = useState(cutOf(collection.chunking));
  const before = saidOf(cutOf(collection.chunking));
  const said = saidOf(cut);
  const { busy, error, run } = useWork(async (/** @type {Event} */ _) => {
    if (JSON.stringify(said) === JSON.stringify(before)) return toast(t("library.cut_unchanged"));
    const { job } = await patch(`/collections/${encodeURIComponent(collection.name)}`, { chunking: said });
    follow(job);
    toast(t("library.cut_saved", { name: collection.name }), "good");
    reload();
  });
  return html`<form class="form" onSubmit=${run}>
    <${CutFields} cut=${cut} change=${setCut} fixed=${cutOf(collection.chunking)} />
    <${Problem} error=${error} />
    <div class="form-foot"><${Button} kind="primary" type="submit" busy=${busy}>${t("library.cut_save")}<//></div>
  </form>`;
}

/** @param {{start: Record<string, any>}} props */
export function Try({ start }) {
  const [subject, setSubject] = useState(/** @type {{file: File} | null} */ (null));
  const [over, setOver] = useState(false);
  const take = (/** @type {File | undefined} */ file) => file && setSubject({ file });
  const drop = (/** @type {DragEvent} */ event) => {
    event.preventDefault();
    setOver(false);
    if (event.dataTransfer) void dropped(event.dataTransfer).then((found) => take(found[0]?.file));
  };
  return html`<section class=${`card lib-try ${over ? "over" : ""}`} data-own-drop onDragOver=${() => setOver(true)}
    onDragLeave=${() => setOver(false)} onDrop=${drop} aria-label=${t("library.try_title")}>
    <h2>${t("library.try_title")}</h2>
    <p class="muted">${t("library.try_text")}</p>
    <${FileButton} label=${t("library.try_choose")} multiple=${false} icon="file" onFiles=${(/** @type {FileList} */ list) => take(list?.[0])} />
    ${subject && html`<h3>${t("library.preview_title", { title: subject.file.name })}</h3>
      <${Cuts} key=${`${subject.file.name} ${subject.file.size} ${subject.file.lastModified}`} subject=${subject} start=${start} />`}
  </section>`;
}
