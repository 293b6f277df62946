/** What brings documents in: buttons, the address of a page, and the question which collection. The one rule: nothing is sent before its place is known. */
import { t } from "../i18n.js";
import { FileButton } from "../ui/drop.js";
import { html, useState } from "../ui/html.js";
import { Button, Field, FormDialog, toast } from "../ui/index.js";
import { chosen, named } from "./files.js";
import { sendFiles, sendPage } from "./jobs.js";

/** @typedef {import("./files.js").Found} Found */

/** @param {string} collection @param {Found[]} found */
export function take(collection, found) {
  if (!found.length) toast(t("library.nothing_dropped"), "problem");
  else void sendFiles(collection, named(found));
}

/** @param {{collection: string}} props */
export function AddButtons({ collection }) {
  const [address, setAddress] = useState(false);
  const send = (/** @type {FileList | null} */ list) => list?.length && take(collection, chosen(list));
  return html`<div class="lib-add">
    <${FileButton} label=${t("library.add_files")} onFiles=${send} primary />
    <${FileButton} label=${t("library.add_folder")} onFiles=${send} folder icon="folder" />
    <${Button} icon="link" onClick=${() => setAddress(true)}>${t("library.add_url")}<//>
    ${address && html`<${AddPage} collection=${collection} close=${() => setAddress(false)} />`}
  </div>`;
}

/** @param {{collection: string, close: () => void}} props */
function AddPage({ collection, close }) {
  const [url, setUrl] = useState("");
  return html`<${FormDialog} title=${t("library.add_url")} send=${() => sendPage(collection, url.trim())} close=${close} action=${t("library.add")}>
    <${Field} label=${t("library.url")} hint=${t("library.url_hint")} type="url" required autofocus value=${url}
      onInput=${(/** @type {any} */ event) => setUrl(event.currentTarget.value)} />
  <//>`;
}

/**
 * Files were dropped where no collection is open.
 * @param {{found: Found[], names: string[], close: (collection: string | null) => void}} props
 */
export function Into({ found, names, close }) {
  const [name, setName] = useState(names[0] ?? "default");
  const send = () => {
    take(name.trim(), found);
    return name.trim();
  };
  return html`<${FormDialog} title=${t("library.into")} send=${send} close=${close} action=${t("library.add_n", { n: found.length })}>
    <${Field} label=${t("library.collection")} hint=${t("library.into_hint")} list="library-names" required maxlength="100" value=${name}
      onInput=${(/** @type {any} */ event) => setName(event.currentTarget.value)} />
    <datalist id="library-names">${names.map((each) => html`<option key=${each} value=${each}></option>`)}</datalist>
  <//>`;
}
