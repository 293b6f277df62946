/**
 * Text of an answer as a page: Markdown, code with a copy button, tables, math, citations as buttons.
 * The one rule: nothing reaches the document that has not gone through `fragmentOf`, which keeps no HTML of the text's own.
 */
import { useLayoutEffect } from "preact/hooks";
import { html, useRef, useState } from "./html.js";
import { lang } from "../state.js";
import { t } from "../i18n.js";
import { said } from "../said.js";
import { placed } from "../ask/place.js";
import { formulas, highlighter } from "./late.js";
import { fragmentOf } from "./markdown_dom.js";

/** @typedef {import("../ask/types.js").Citation} Citation */
/** @typedef {import("../ask/types.js").Sentence} Sentence */

const NONE = /** @type {any[]} */ ([]); // one and the same, so that nothing is laid out anew for it
const GAP = 6; // pixels between a citation and its quote
const WAIT = 160; // milliseconds for the mouse to cross from the one to the other

/**
 * `citations`: those that `[n]` stand for; `sentences`: their verdicts are underlined; `onCite`: a citation was chosen.
 * @param {{text: string, citations?: Citation[], sentences?: Sentence[], onCite?: (citation: Citation) => void}} props
 */
export function Markdown({ text, citations = NONE, sentences = NONE, onCite }) {
  const box = useRef(/** @type {HTMLDivElement | null} */ (null));
  const { tip, handlers } = useTips(citations, onCite);
  // a text without a formula or code is not laid out anew for them
  const drawing = /[$\\]/.test(text) && formulas.library.value;
  const colouring = /```|~~~/.test(text) && highlighter.library.value;
  useLayoutEffect(() => {
    const told = sentences.map((each) => ({ ...each, problems: each.problems.map(said) }));
    if (box.current) refill(box.current, fragmentOf(text, { citations, sentences: told, words: wordsOf(citations) }));
  }, [text, citations, sentences, lang.value, drawing, colouring]);
  return html`<div class="md-frame" ...${handlers}>
    <div class="md" ref=${box}></div>
    ${tip && html`<${Tip} ...${tip} />`}
  </div>`;
}

/** What had the focus has it again: formulas come when somebody may be among the citations already. @param {HTMLElement} box @param {DocumentFragment} fragment */
function refill(box, fragment) {
  const stops = () => [...box.querySelectorAll(/** @type {"button"} */ ("button, a, [tabindex]"))];
  const at = stops().findIndex((each) => each === document.activeElement);
  box.replaceChildren(fragment);
  stops()[at]?.focus({ preventScroll: true });
}

/** @param {Citation[]} citations */
function wordsOf(citations) {
  const titles = new Map(citations.map((each) => [each.n, placed(each)]));
  return {
    copy: t("ask.copy_code"),
    table: t("ask.table"),
    code: t("ask.code"),
    cite: (/** @type {number} */ n) => t("ask.cite", { n, place: titles.get(n) ?? "" }),
    verdict: (/** @type {Sentence} */ sentence) => t(`ask.verdict_${sentence.verdict}`),
    note: noteOf,
  };
}

/** What kind of sentence it is, where that is worth telling. @param {Sentence} sentence */
function noteOf({ kind, calculation, verdict }) {
  if (calculation) return t("ask.note_calculation", { equation: calculation.replaceAll("*", "×") });
  return verdict !== "unsupported" && (kind === "correction" || kind === "not_told") ? t(`ask.note_${kind}`) : "";
}

const coarse = matchMedia("(pointer: coarse)");

/**
 * Which citation's quote is shown: that of the button under the mouse or with the focus, until Esc.
 * @param {Citation[]} citations
 * @param {((citation: Citation) => void) | undefined} onCite
 */
function useTips(citations, onCite) {
  const [tip, setTip] = useState(/** @type {{citation: Citation, at: DOMRect, id: string} | null} */ (null));
  const timer = useRef(0);
  const described = useRef(/** @type {Element | null} */ (null));
  const show = (/** @type {Event} */ event) => {
    clearTimeout(timer.current);
    const button = buttonOf(event);
    const citation = button && citations.find((each) => each.n === Number(button.dataset["n"]));
    if (!button || !citation) return;
    const id = `cite-tip-${citation.n}`;
    described.current?.removeAttribute("aria-describedby");
    described.current = button;
    button.setAttribute("aria-describedby", id);
    setTip({ citation, at: button.getBoundingClientRect(), id });
  };
  const hide = () => {
    clearTimeout(timer.current);
    described.current?.removeAttribute("aria-describedby");
    setTip(null);
  };
  const hideSoon = () => {
    clearTimeout(timer.current);
    timer.current = window.setTimeout(hide, WAIT);
  };
  const handlers = {
    onMouseOver: (/** @type {MouseEvent} */ event) => {
      if (buttonOf(event)) show(event);
      else if (event.target instanceof Element && event.target.closest(".cite-tip")) clearTimeout(timer.current);
      else if (tip) hideSoon();
    },
    onMouseLeave: () => tip && hideSoon(),
    // a source that is closed gives the focus back: where there is no hand on a keyboard, nobody asked for the card
    onFocusIn: (/** @type {FocusEvent} */ event) => (!coarse.matches || buttonOf(event)?.matches(":focus-visible")) && show(event),
    onFocusOut: hide,
    onKeyDown: (/** @type {KeyboardEvent} */ event) => {
      if (event.key !== "Escape" || !tip) return;
      event.stopPropagation();
      hide();
    },
    onClick: (/** @type {MouseEvent} */ event) => {
      const button = buttonOf(event);
      const citation = button && citations.find((each) => each.n === Number(button.dataset["n"]));
      if (citation) {
        hide();
        onCite?.(citation);
      } else void copyOf(event);
    },
  };
  return { tip, handlers };
}

/** @param {Event} event @returns {HTMLElement | null} */
function buttonOf(event) {
  return event.target instanceof Element ? event.target.closest("button.cite") : null;
}

/** The copy button of a piece of code. @param {MouseEvent} event */
async function copyOf(event) {
  const button = event.target instanceof Element ? event.target.closest("button.code-copy") : null;
  const code = button?.parentElement?.querySelector("code");
  if (!button || !code) return;
  await navigator.clipboard.writeText(code.textContent ?? "");
  button.textContent = t("ask.copied");
  setTimeout(() => (button.textContent = t("ask.copy_code")), 1500);
}

/**
 * A citation's place and its words, beside the citation, above everything else.
 * @param {{citation: Citation, at: DOMRect, id: string}} props
 */
export function Tip({ citation, at, id }) {
  const box = useRef(/** @type {HTMLDivElement | null} */ (null));
  useLayoutEffect(() => {
    const tip = box.current;
    if (!tip) return;
    if (!tip.matches(":popover-open")) tip.showPopover();
    const { width, height } = tip.getBoundingClientRect();
    const above = at.top - height - GAP;
    const start = Math.min(Math.max(GAP, at.left - 24), window.innerWidth - width - GAP);
    tip.style.left = `${Math.max(GAP, start)}px`;
    tip.style.top = `${above > GAP ? above : Math.min(at.bottom + GAP, window.innerHeight - height - GAP)}px`;
  }, [citation, at]);
  return html`<div class="cite-tip" id=${id} role="tooltip" popover="manual" ref=${box}>
    <strong class="cite-tip-place">${placed(citation)}</strong>
    <q class="cite-tip-quote">${citation.quote}</q>
    ${citation.status === "weak" && html`<span class="cite-tip-weak">${t("ask.weak")}</span>`}
    ${citation.gives_orders && html`<span class="cite-tip-weak">${t("ask.gives_orders")}</span>`}
  </div>`;
}
