/**
 * Any value of a trace, shown as text: figures, texts, lists and tables of names.
 * The one rule: what is large is cut or closed until somebody asks for it, so that a long trace stays quick.
 */
import { saidWithin } from "../said.js";
import { t } from "../i18n.js";
import { Button } from "../ui/button.js";
import { figure } from "../ui/figures.js";
import { html, useState } from "../ui/html.js";

const LONG = 600; // characters of a text shown at once
const MANY = 12; // items of a list shown at once
const SHORT = 90; // characters that fit in a line

/**
 * @param {{ value: unknown, depth?: number }} props
 * @returns {any}
 */
export function Value({ value: given, depth = 0 }) {
  const value = depth ? given : saidWithin(given);
  if (value === null || value === undefined || value === "") return html`<span class="value-none">${t("traces.nothing")}</span>`;
  if (typeof value === "string") return html`<${Text} text=${value} />`;
  if (typeof value !== "object") return html`<code class="value-figure">${figureOf(value)}</code>`;
  const entries = Array.isArray(value) ? value.map((each, n) => /** @type {const} */ ([String(n + 1), each])) : Object.entries(value);
  if (!entries.length) return html`<span class="value-none">${t("traces.nothing")}</span>`;
  const line = brief(value);
  if (line) return html`<span class="value-line">${line}</span>`;
  if (depth > 0) return html`<${Closed} value=${value} size=${entries.length} depth=${depth} />`;
  return html`<${Entries} entries=${entries} depth=${depth} ordered=${Array.isArray(value)} />`;
}

/** @param {{ value: object, size: number, depth: number }} props */
function Closed({ value, size, depth }) {
  const [open, setOpen] = useState(false);
  const entries = Array.isArray(value) ? value.map((each, n) => /** @type {const} */ ([String(n + 1), each])) : Object.entries(value);
  const words = t(Array.isArray(value) ? "traces.items" : "traces.fields", { n: size });
  return html`<details class="value-closed" open=${open} onToggle=${(/** @type {any} */ event) => setOpen(event.currentTarget.open)}>
    <summary>${words} <span class="muted">${hint(value)}</span></summary>
    ${open && html`<${Entries} entries=${entries} depth=${depth} ordered=${Array.isArray(value)} />`}
  </details>`;
}

/** @param {{ entries: readonly (readonly [string, unknown])[], depth: number, ordered: boolean }} props */
function Entries({ entries, depth, ordered }) {
  const [most, setMost] = useState(MANY);
  return html`<dl class=${`value-entries${ordered ? " ordered" : ""}`}>
      ${entries.slice(0, most).map(([name, value]) => html`<div key=${name}>
        <dt>${name}</dt><dd><${Value} value=${value} depth=${depth + 1} /></dd>
      </div>`)}
    </dl>
    ${entries.length > most && html`<${Button} small onClick=${() => setMost(most + 100)}>${t("traces.more_items", { n: entries.length - most })}<//>`}`;
}

/** @param {{ text: string, most?: number }} props */
export function Text({ text, most = LONG }) {
  const [whole, setWhole] = useState(false);
  if (text.length <= most) return html`<span class="value-text">${text}</span>`;
  return html`<span class="value-text">${whole ? text : `${text.slice(0, most)}…`}</span>${" "}
    <${Button} small onClick=${() => setWhole(!whole)} aria-expanded=${whole}>
      ${whole ? t("traces.less") : t("traces.all_of_it", { n: figure(text.length) })}<//>`;
}

/**
 * A list of short things, or a small object, in one line; empty where it does not fit.
 * @param {object} value
 */
function brief(value) {
  const plain = (/** @type {unknown} */ each) => each === null || typeof each !== "object";
  const values = Object.values(value);
  if (values.length > 8 || !values.every(plain)) return "";
  const line = Array.isArray(value)
    ? value.map((each) => String(each)).join(", ")
    : Object.entries(value).map(([name, each]) => `${name}: ${typeof each === "object" ? "" : figureOf(each)}`).join("  ·  ");
  return line.length <= SHORT && !line.includes("\n") ? line : "";
}

/**
 * The first text of something closed, for a look.
 * @param {object} value
 */
function hint(value) {
  const first = Object.values(value).flatMap((each) => (each && typeof each === "object" ? Object.values(each) : [each]))
    .find((each) => typeof each === "string" && each.length > 3);
  return typeof first === "string" ? `${first.slice(0, 60)}${first.length > 60 ? "…" : ""}` : "";
}

/** @param {unknown} value */
function figureOf(value) {
  return typeof value === "number" && !Number.isInteger(value) ? String(Math.round(value * 1e4) / 1e4) : String(value);
}
