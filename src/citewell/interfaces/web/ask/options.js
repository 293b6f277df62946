/** How a question is to be answered: filters, budgets, what may be used. The one rule: an empty field means what the settings say. */
import { t } from "../i18n.js";
import { html, useEffect, useRef, useState } from "../ui/html.js";
import { Icon } from "../ui/index.js";
import { agent, choice, resetOptions, setOption } from "./choices.js";
import { GROUPS, listOf, OPTIONS, shownOf } from "./option_table.js";

/** @typedef {import("./option_table.js").Row} Row */

/** @param {{close: () => void, id: string}} props */
export function Options({ close, id }) {
  const box = useRef(/** @type {HTMLDivElement | null} */ (null));
  const names = shownOf(agent.value);
  useEffect(() => {
    /** @type {HTMLElement | null | undefined} */ (box.current?.querySelector("input, select, textarea"))?.focus();
    const outside = (/** @type {PointerEvent} */ event) => {
      const target = event.target instanceof Element ? event.target : null;
      if (target && !box.current?.contains(target) && !target.closest("[data-options]")) close();
    };
    document.addEventListener("pointerdown", outside);
    return () => document.removeEventListener("pointerdown", outside);
  }, []);
  const onKeyDown = (/** @type {KeyboardEvent} */ event) => {
    if (event.key === "Enter" && event.target instanceof HTMLInputElement && !event.isComposing && event.keyCode !== 229) {
      event.preventDefault(); // takes over what is typed; the question is not sent from here
      event.target.dispatchEvent(new Event("change", { bubbles: true }));
    }
    if (event.key !== "Escape") return;
    event.stopPropagation();
    close();
  };
  return html`<div class="options" id=${id} role="dialog" aria-label=${t("ask.options_of", { agent: t(`ask.agent_${agent.value}`) })} ref=${box} onKeyDown=${onKeyDown}>
    ${GROUPS.map((group) => {
      const shown = names.filter((name) => OPTIONS[name]?.group === group);
      return shown.length > 0 && html`<fieldset key=${group}>
        <legend>${t(`ask.options_${group}`)}</legend>
        <div class="options-fields">${shown.map((name) => html`<${Option} key=${`${agent.value} ${name}`} name=${name} row=${OPTIONS[name]} />`)}</div>
      </fieldset>`;
    })}
    <div class="options-foot">
      <button type="button" class="button" onClick=${resetOptions}>${t("ask.options_reset")}</button>
      <button type="button" class="button primary" onClick=${close}>${t("ask.options_done")}</button>
    </div>
  </div>`;
}

/** @param {{name: string, row: Row}} props */
function Option({ name, row }) {
  const value = choice().options[name];
  const id = `option-${name}`;
  const [wrong, setWrong] = useState("");
  useEffect(() => setWrong(""), [value]);
  const change = (/** @type {any} */ event) => {
    const field = event.currentTarget;
    if (!field.validity.valid) return setWrong(t(row.max === undefined ? "ask.option_from" : "ask.option_between", { min: row.min, max: row.max }));
    setWrong("");
    setOption(name, read(row, field.value));
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
    return html`<input type="number" min=${row.min} max=${row.max} step=${row.step ?? "any"} inputmode="decimal" placeholder=${unset(row)}
      value=${value ?? ""} ...${own} />`;
  }
  if (row.kind === "day") return html`<input type="date" value=${value ?? ""} ...${own} />`;
  if (row.kind === "switch" || row.kind === "choice") {
    const among = row.kind === "switch" ? ["true", "false"] : (row.among ?? []);
    const now = row.many ? (value?.[0] ?? "") : value === undefined ? "" : String(value);
    return html`<select value=${now} ...${own}>
      <option value="" selected=${now === ""}>${unset(row)}</option>
      ${among.map((each) => html`<option key=${each} value=${each} selected=${each === now}>${valueWords(name, row, each)}</option>`)}
    </select>`;
  }
  const text = row.kind === "list" ? (value ?? []).join(", ") : (value ?? "");
  return html`<input type="text" autocomplete="off" spellcheck=${false} maxlength=${row.longest} value=${text} placeholder=${t(`ask.option_${name}_example`)} ...${own} />`;
}

/** What holds where a field says nothing. @param {Row} row */
function unset(row) {
  return t(row.group === "filters" ? "ask.any" : "ask.by_settings");
}

/** What a field says, as it is sent. @param {Row} row @param {string} text */
function read(row, text) {
  const said = text.trim();
  if (row.kind === "list") return listOf(said);
  if (!said) return null;
  if (row.kind === "number") return Number(said);
  if (row.kind === "switch") return said === "true";
  return row.many ? [said] : said;
}

/** @param {string} name @param {Row} row @param {any} value */
function valueWords(name, row, value) {
  if (row.kind === "switch") return t(String(value) === "true" ? "ask.yes" : "ask.no");
  if (row.kind === "choice") return (row.many ? [value].flat() : [value]).map((each) => t(`ask.option_${name}_${each}`)).join(", ");
  if (name === "doc_ids" && value.length > 1) return String(value.length);
  return Array.isArray(value) ? value.join(", ") : String(value);
}

/** What is set otherwise than the settings have it, each to be taken back. */
export function Chips() {
  const { options } = choice();
  const list = useRef(/** @type {HTMLUListElement | null} */ (null));
  const set = shownOf(agent.value).filter((name) => options[name] !== undefined);
  if (!set.length) return null;
  const drop = (/** @type {string} */ name, /** @type {number} */ n) => {
    setOption(name, null);
    // the focus stays among the chips, or goes to the button that has them all
    requestAnimationFrame(() => {
      const left = [...(list.current?.querySelectorAll("button") ?? [])];
      const next = left[Math.min(n, left.length - 1)] ?? document.querySelector("[data-options]");
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
