/** What brings tables in: files one after the other, and servers by their address. The one rule: a password is sent once and kept nowhere here. */
import { ApiError, post, upload } from "../api.js";
import { known, t } from "../i18n.js";
import { me } from "../state.js";
import { bytes } from "../ui/figures.js";
import { html, signal, useState } from "../ui/html.js";
import { Button, Check, Field, FormDialog, Problem, Progress, toast } from "../ui/index.js";

/**
 * @typedef {{name: string, dialect: string, location: string, tables: {name: string, rows: number | null, columns: number}[],
 *   fingerprint: string, described: boolean, warnings: string[], problem: string, created_at: number,
 *   refreshed_at: number, owner?: string}} Source
 * @typedef {{id: number, file: File, name: string, sent: number, error: ApiError | null, abort: AbortController, own?: boolean}} Sending
 */

/** Files on their way. @type {import("@preact/signals").Signal<Sending[]>} */
export const sendings = signal([]);
/** Counts up when sources have come or changed. */
export const changes = signal(0);
export const ACCEPTED = ".csv,.tsv,.xlsx,.xlsm,.xls,.ods,.json,.jsonl,.ndjson,.parquet,.sqlite,.sqlite3,.db";

let numbers = 0;

/** @type {[RegExp, string][]} */
const ADVICE = [
  [/password authentication|Access denied|authentication failed|no password supplied|password/i, "password"],
  [/protected by a password/, "locked"],
  [/connect|refused|timed? ?out|could not translate|unreachable|resolve|no route/i, "reach"],
  [/its file was sent/, "sent"],
  [/bytes are allowed|larger than|more than .* (values|tables|columns)/, "large"],
  [/no format with tables|is no table|these are read/, "format"],
];

/** What to do about an error, beside the server's hint. @param {unknown} error */
export function adviceOf(error) {
  if (!(error instanceof ApiError)) return "";
  if (error.code === "conflict" && /source/.test(error.message)) return t("data.conflict_hint");
  const locked = /protected by a password/.test(error.message) ? "locked" : ADVICE.find(([sign]) => sign.test(error.message))?.[1];
  const key = `data.advice_${locked}`;
  return locked && known(key) ? t(key) : "";
}

/** @param {Sending} one @param {Partial<Sending>} values */
function change(one, values) {
  sendings.value = sendings.value.map((each) => (each.id === one.id ? { ...each, ...values } : each));
}

/** Whether what is sent is for the sender only; with users. */
export const own = signal(false);

/** Beside the buttons that add: whose the tables will be. */
export function Whose() {
  if (me.value?.auth !== "token") return null;
  return html`<${Check} label=${t("data.private_file")} checked=${own.value} onChange=${(/** @type {boolean} */ yes) => (own.value = yes)} />`;
}

/** One after the other: each makes a source. The names of those that came. @param {File[]} files @returns {Promise<string[]>} */
export async function sendTables(files) {
  const mine = own.value && me.value?.auth === "token";
  const queue = files.map((file) => ({ id: ++numbers, file, name: "", sent: 0, error: null, abort: new AbortController(), own: mine }));
  sendings.value = [...sendings.value, ...queue];
  const names = [];
  for (const one of queue) {
    const name = await sendOne(one, "");
    if (name) names.push(name);
  }
  return names;
}

/** @param {Sending} one @param {string} name */
async function sendOne(one, name) {
  const form = new FormData();
  form.append("file", one.file, one.file.name);
  if (name) form.append("name", name);
  if (one.own) form.append("private", "true");
  change(one, { error: null, sent: 0 });
  try {
    const onProgress = (/** @type {number} */ share) => change(one, { sent: share });
    const added = await upload("/data/sources", form, onProgress, { signal: one.abort.signal });
    done(one.id);
    told(added);
    return /** @type {string} */ (added.name);
  } catch (error) {
    if (one.abort.signal.aborted) done(one.id);
    else change(one, { error: error instanceof ApiError ? error : new ApiError(0, { message: String(error) }) });
    return "";
  }
}

/** A newer file in place of the one that was sent: under its name, whatever it is called now. @param {Source} source @param {File} file */
export async function sendNewer(source, file) {
  const title = source.location.slice("upload:".length);
  const renamed = new File([file], title, { type: file.type });
  const one = { id: ++numbers, file: renamed, name: source.name, sent: 0, error: null, abort: new AbortController() };
  sendings.value = [...sendings.value, one];
  await sendOne(one, source.name);
}

/** @param {number} id */
function done(id) {
  sendings.value = sendings.value.filter((each) => each.id !== id);
}

/** @param {Source & {status: "added" | "replaced" | "unchanged"}} added */
function told(added) {
  toast(t(`data.${added.status}`, { name: added.name, n: added.tables.length }), "good");
  changes.value += 1;
}

/** Files on their way, and those that did not come in. */
export function Sendings() {
  if (!sendings.value.length) return null;
  return html`<div class="data-sendings">${sendings.value.map((one) => html`<${One} key=${one.id} one=${one} />`)}</div>`;
}

/** @param {{one: Sending}} props */
function One({ one }) {
  const { file, sent, error } = one;
  const [name, setName] = useState(file.name.replace(/\.[^.]+$/, ""));
  const stop = html`<${Button} small onClick=${() => (error ? done(one.id) : one.abort.abort())}>${t(error ? "data.close" : "data.cancel")}<//>`;
  if (!error) {
    const words = sent < 1 ? t("data.sending_of", { part: bytes(sent * file.size), size: bytes(file.size) }) : t("data.reading");
    return html`<article class="data-sending"><${Progress} value=${sent < 1 ? sent : null} label=${t("data.adding", { name: file.name })}
      detail=${words} />${stop}</article>`;
  }
  const advice = adviceOf(error);
  const again = (/** @type {Event} */ event) => {
    event.preventDefault();
    void sendOne(one, name.trim());
  };
  return html`<article class="data-sending failed" aria-label=${file.name}>
    <div><strong>${file.name}</strong><${Problem} error=${error} />
      ${advice && html`<p>${advice}</p>`}
      ${error.code === "conflict" && html`<form class="data-rename" onSubmit=${again}>
        <${Field} label=${t("data.name_ask")} required maxlength="80" value=${name} onInput=${(/** @type {any} */ event) => setName(event.currentTarget.value)} />
        <${Button} type="submit">${t("data.add_as")}<//></form>`}</div>
    ${stop}
  </article>`;
}

/** The address with the password in its place. @param {string} url @param {string} password */
export function withPassword(url, password) {
  if (!password) return url;
  return url.replace(/^([a-z0-9+]+:\/\/)([^:@/]*)(:[^@/]*)?@/i, (_, scheme, user) => `${scheme}${user}:${encodeURIComponent(password)}@`);
}

/** @param {{close: (name: string | null) => void}} props */
export function Connect({ close }) {
  const [url, setUrl] = useState("");
  const [password, setPassword] = useState("");
  const [name, setName] = useState("");
  const [mine, setMine] = useState(own.value);
  const send = async () => {
    const body = { url: withPassword(url.trim(), password), ...(name.trim() ? { name: name.trim() } : {}), ...(mine ? { private: true } : {}) };
    const added = await post("/data/sources", body);
    told(added);
    return added.name;
  };
  const typed = (/** @type {(text: string) => void} */ set) => (/** @type {any} */ event) => set(event.currentTarget.value);
  return html`<${FormDialog} title=${t("data.add_server")} send=${send} close=${close} action=${t("data.connect")} advice=${adviceOf}>
      <${Field} label=${t("data.url")} hint=${t("data.url_hint")} required autofocus maxlength="4096" spellcheck=${false} autocomplete="off"
        value=${url} onInput=${typed(setUrl)} />
      <${Field} label=${t("data.password")} hint=${t("data.password_hint")} type="password" autocomplete="off" value=${password} onInput=${typed(setPassword)} />
      <${Field} label=${t("data.name")} hint=${t("data.name_hint")} maxlength="80" value=${name} onInput=${typed(setName)} />
      ${me.value?.auth === "token" && html`<${Check} label=${t("library.private_box")} hint=${t("library.private_hint")} checked=${mine} onChange=${setMine} />`}
  <//>`;
}
