/**
 * A conversation from its first question to the answer in the making. The one rule: the page is moved for the reader only while
 * they are at its end; who has scrolled up to read is left there.
 */
import { t } from "../i18n.js";
import { html, useEffect, useLayoutEffect, useRef, useState } from "../ui/html.js";
import { Icon } from "../ui/index.js";
import { TurnView } from "./turn.js";

/** @typedef {import("./talks.js").Talk} Talk */
/** @typedef {import("./talks.js").Turn} Turn */

const NEAR = 80; // pixels from the end that still count as the end

/** `children`: what stands there before there is a question. @param {{talk: Talk, onEdit: (turn: Turn) => void, children?: any}} props */
export function Thread({ talk, onEdit, children }) {
  const box = useRef(/** @type {HTMLDivElement | null} */ (null));
  const inner = useRef(/** @type {HTMLDivElement | null} */ (null));
  const atEnd = useRef(true);
  const [away, setAway] = useState(false);
  const turns = talk.turns.value;

  const toEnd = () => box.current?.scrollTo({ top: box.current.scrollHeight });
  const onScroll = () => {
    const element = box.current;
    if (!element) return;
    atEnd.current = element.scrollHeight - element.scrollTop - element.clientHeight < NEAR;
    setAway(!atEnd.current);
  };
  useLayoutEffect(() => {
    atEnd.current = true;
    toEnd();
  }, [talk, turns.length]);
  useEffect(() => {
    const grown = new ResizeObserver(() => atEnd.current && toEnd());
    if (inner.current) grown.observe(inner.current);
    return () => grown.disconnect();
  }, []);
  /** An answer that is longer than the window is read from its beginning. @param {HTMLElement} turn */
  const onAnswer = (turn) => {
    const element = box.current;
    if (!element || !atEnd.current || turn.offsetHeight < element.clientHeight) return;
    atEnd.current = false;
    turn.scrollIntoView({ block: "start" });
  };
  return html`<div class="thread" ref=${box} onScroll=${onScroll} tabindex="-1">
    <div class="thread-inner" ref=${inner}>
      ${children}
      ${turns.map((turn, n) => html`<${TurnView} key=${turn.key} talk=${talk} turn=${turn} last=${n === turns.length - 1} onAnswer=${onAnswer} onEdit=${onEdit} />`)}
    </div>
    ${away && turns.length > 0 && html`<button type="button" class="to-end" onClick=${toEnd} aria-label=${t("ask.to_end")} title=${t("ask.to_end")}>
      <${Icon} name="chevron-down" /></button>`}
  </div>`;
}
