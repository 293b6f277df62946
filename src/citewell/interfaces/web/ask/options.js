/** Which documents are asked, which pages of a site are read. The one rule: an empty field means any, or what the settings say. */
import { t } from "../i18n.js";
import { html, useEffect, useRef, useState } from "../ui/html.js";
import { Icon } from "../ui/index.js";
import { Popover } from "../ui/popover.js";
import { choice, countOptions, resetOptions, setOption } from "./choices.js";
import { listOf, OPTIONS, shownOf } from "./option_table.js";

/** @typedef {import("./option_table.js").Row} Row */

/** @param {{agent: string}} props */
export function Options({ agent }) {
  const count = countOptions(agent);
  const names = shownOf(agent);
  if (!names.length) return null;
  return html`<${Popover} id="ask-options" icon="filter" label=${count ? t("ask.options_set", { n: count }) : t("ask.options")} words=${t("ask.options")}
    title=${t("ask.options_of", { agent: t(`ask.agent_${agent}`) })} count=${count}>${(/** @type {() => void} */ close) => html`
      <div class="options-fields">${names.map((name) => html`<${Option} key=${`${agent} ${name}`} agent=${agent} name=${name} row=${OPTIONS[name]} />`)}</div>
      <div class="options-foot">
        <button type="button" class="button" onClick=${() => resetOptions(agent)}>${t("ask.options_reset")}</button>
        <button type="button" class="button primary" onClick=${close}>${t("ask.options_done")}</button>
      </div>`}<//>`;
}

/** @param {{agent: string, name: string, row: Row}} props */
function Option({ agent, name, row }) {
  const value = choice(agent).options[name];
  const id = `option-${name}`;
  const [wrong, setWrong] = useState("");
  useEffect(() => setWrong(""), [value]);
  const change = (/** @type {any} */ event) => {
    const field = event.currentTarget;
    if (!field.validity.valid) return setWrong(t("ask.option_between", { min: row.min, max: row.max }));
    setWrong("");
    setOption(name, read(row, field.value), agent);
  };
  const own = { id, onChange: change, "aria-invalid": wrong ? "true" : undefined, "aria-describedby": wrong ? `${id}-wrong` : undefined };
  return html`<div class=${`option${row.kind === "list" || row.kind === "text" ? " option-wide" : ""}`}>
    <label for=${id}>${t(`ask.option_${name}`)}</label>
    <${Control} name=${name} row=${row} value=${value} own=${own} />
    ${wrong && html`<p class="field-error" id=${`${id}-wrong`} role="alert">${wrong}</p>`}
  </div>`;
}

/** @param {{name: string, row: Row, value: any, own: Record<string, any>}} props */
function Control({ name, row, value, own }) {
  if (row.kind === "number") {
    return html`<input type="number" min=${row.min} max=${row.max} step="1" inputmode="numeric" placeholder=${t("ask.by_settings")} value=${value ?? ""} ...${own} />`;
  }
  if (row.kind === "day") return html`<input type="date" value=${value ?? ""} ...${own} />`;
  if (row.kind === "choice") {
    const now = value?.[0] ?? "";
    return html`<select value=${now} ...${own}>
      <option value="" selected=${now === ""}>${t("ask.any")}</option>
      ${row.among?.map((each) => html`<option key=${each} value=${each} selected=${each === now}>${t(`ask.option_${name}_${each}`)}</option>`)}
    </select>`;
  }
  const text = row.kind === "list" ? (value ?? []).join(", ") : (value ?? "");
  return html`<input type="text" autocomplete="off" spellcheck=${false} maxlength=${row.longest} value=${text} placeholder=${t(`ask.option_${name}_example`)} ...${own} />`;
}

/** What a field says, as it is sent. @param {Row} row @param {string} text */
function read(row, text) {
  const said = text.trim();
  if (row.kind === "list") return listOf(said);
  if (!said) return null;
  if (row.kind === "number") return Number(said);
  return row.kind === "choice" ? [said] : said;
}

/** @param {string} name @param {Row} row @param {any} value */
function valueWords(name, row, value) {
  if (row.kind === "choice") return t(`ask.option_${name}_${value}`);
  return Array.isArray(value) ? value.join(", ") : String(value);
}

/** What is set, each to be taken back. @param {{agent: string}} props */
export function Chips({ agent }) {
  const { options } = choice(agent);
  const list = useRef(/** @type {HTMLUListElement | null} */ (null));
  const set = shownOf(agent).filter((name) => options[name] !== undefined);
  if (!set.length) return null;
  const drop = (/** @type {string} */ name, /** @type {number} */ n) => {
    setOption(name, null, agent);
    // the focus stays among the chips, or goes to the button that has them all
    requestAnimationFrame(() => {
      const left = [...(list.current?.querySelectorAll("button") ?? [])];
      const next = left[Math.min(n, left.length - 1)] ?? document.querySelector('[data-opens="ask-options"]');
      if (next instanceof HTMLElement) next.focus();
    });
  };
  return html`<ul class="option-chips" ref=${list} aria-label=${t("ask.options_chips")}>
    ${set.map((name, n) => {
      const row = /** @type {Row} */ (OPTIONS[name]);
      const words = t("ask.option_set", { name: t(`ask.option_${name}`), value: valueWords(name, row, options[name]) });
      return html`<li key=${name} class="option-chip"><span>${words}</span>
        <button type="button" aria-label=${t("ask.option_drop", { words })} title=${t("ask.option_drop", { words })} onClick=${() => drop(name, n)}>
          <${Icon} name="close" size=${14} /></button></li>`;
    })}
  </ul>`;
}
