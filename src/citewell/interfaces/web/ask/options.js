/** How a question is to be answered: filters, budgets, what may be used. The one rule: an empty field means what the settings say. */
import { t } from "../i18n.js";
import { html, useEffect, useRef } from "../ui/html.js";
import { agent, choice, choose, OPTIONS, setOption } from "./choices.js";

const NUMBERS = { max_seconds: [1, 3600], max_calls: [1, 200], max_tokens: [100, 1_000_000], max_pages: [1, 5000], max_iterations: [0, 50], corrections: [0, 5] };
const LISTS = ["types", "doc_ids", "allowed_domains", "start_urls"];
const SWITCHES = ["web", "memory", "knowledge"];
const DAYS = ["since", "until"];
const STRATEGIES = ["direct_chunk_search", "hierarchical_search"];
const GROUPS = /** @type {const} */ ([
  ["filters", ["types", "langs", "since", "until", "doc_ids"]],
  ["site", ["allowed_domains", "instruction", "max_pages", "max_iterations"]],
  ["way", ["strategy", "web", "memory", "corrections", "knowledge"]],
  ["budget", ["max_seconds", "max_calls", "max_tokens"]],
]);

/** @param {{close: () => void, id: string}} props */
export function Options({ close, id }) {
  const box = useRef(/** @type {HTMLDivElement | null} */ (null));
  const names = OPTIONS[agent.value] ?? [];
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
    if (event.key !== "Escape") return;
    event.stopPropagation();
    close();
  };
  return html`<div class="options" id=${id} role="dialog" aria-label=${t("ask.options")} ref=${box} onKeyDown=${onKeyDown}>
    ${GROUPS.map(([group, members]) => {
      const shown = members.filter((name) => names.includes(name));
      return shown.length > 0 && html`<fieldset key=${group}>
        <legend>${t(`ask.options_${group}`)}</legend>
        <div class="options-fields">${shown.map((name) => html`<${Option} key=${name} name=${name} />`)}</div>
      </fieldset>`;
    })}
    <div class="options-foot">
      <button type="button" class="button" onClick=${() => choose({ options: keptOnes() })}>${t("ask.options_reset")}</button>
      <button type="button" class="button primary" onClick=${close}>${t("ask.options_done")}</button>
    </div>
  </div>`;
}

/** What stands beside the question stays: the pages of a site, the tables. */
function keptOnes() {
  const { start_urls, source } = choice().options;
  return { ...(start_urls ? { start_urls } : {}), ...(source ? { source } : {}) };
}

/** @param {{name: string}} props */
function Option({ name }) {
  const value = choice().options[name];
  const id = `option-${name}`;
  const set = (/** @type {any} */ said) => setOption(name, said);
  const label = html`<label for=${id}>${t(`ask.option_${name}`)}</label>`;
  if (name in NUMBERS) {
    const [min, max] = NUMBERS[/** @type {keyof typeof NUMBERS} */ (name)];
    return html`<div class="option">${label}<input id=${id} type="number" min=${min} max=${max} step="1" inputmode="numeric"
      value=${value ?? ""} placeholder=${t("ask.by_settings")} onChange=${(/** @type {any} */ event) => set(number(event.currentTarget))} /></div>`;
  }
  if (SWITCHES.includes(name)) {
    return html`<div class="option">${label}<select id=${id} value=${value === undefined ? "" : String(value)}
      onChange=${(/** @type {any} */ event) => set(event.currentTarget.value === "" ? null : event.currentTarget.value === "true")}>
      <option value="">${t("ask.by_settings")}</option><option value="true">${t("ask.yes")}</option><option value="false">${t("ask.no")}</option>
    </select></div>`;
  }
  if (name === "strategy") {
    return html`<div class="option">${label}<select id=${id} value=${value ?? ""} onChange=${(/** @type {any} */ event) => set(event.currentTarget.value)}>
      <option value="">${t("ask.by_settings")}</option>${STRATEGIES.map((each) => html`<option key=${each} value=${each}>${t(`ask.route_${each}`)}</option>`)}
    </select></div>`;
  }
  if (name === "langs") {
    return html`<div class="option">${label}<select id=${id} value=${value?.[0] ?? ""}
      onChange=${(/** @type {any} */ event) => set(event.currentTarget.value ? [event.currentTarget.value] : [])}>
      <option value="">${t("ask.any")}</option><option value="en">English</option><option value="zh">中文</option></select></div>`;
  }
  if (DAYS.includes(name)) {
    return html`<div class="option">${label}<input id=${id} type="date" value=${value ?? ""} onChange=${(/** @type {any} */ event) => set(event.currentTarget.value)} /></div>`;
  }
  const isList = LISTS.includes(name);
  return html`<div class="option option-wide">${label}<input id=${id} type="text" autocomplete="off" value=${isList ? (value ?? []).join(", ") : (value ?? "")}
    placeholder=${t(`ask.option_${name}_example`)}
    onChange=${(/** @type {any} */ event) => set(isList ? listOf(event.currentTarget.value) : event.currentTarget.value.trim())} /></div>`;
}

/** @param {HTMLInputElement} field @returns {number | null} */
function number(field) {
  return field.value && field.validity.valid ? Number(field.value) : null;
}

/** @param {string} text */
export function listOf(text) {
  return text.split(/[\s,，、;；]+/).filter(Boolean);
}
