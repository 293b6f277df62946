/**
 * A conversation from its first question to the answer in the making. The one rule: the question that was asked last is brought to the
 * top, so that its answer comes into sight below it; after that the page stays where the reader has it.
 */
import { t } from "../i18n.js";
import { html, useLayoutEffect, useRef, useState } from "../ui/html.js";
import { Icon } from "../ui/index.js";
import { TurnView } from "./turn.js";

/** @typedef {import("./talks.js").Talk} Talk */
/** @typedef {import("./talks.js").Turn} Turn */

/** `children`: what stands there before there is a question. @param {{talk: Talk, onEdit: (turn: Turn) => void, children?: any}} props */
export function Thread({ talk, onEdit, children }) {
  const box = useRef(/** @type {HTMLDivElement | null} */ (null));
  const [away, setAway] = useState(false);
  const turns = talk.turns.value;
  const last = () => /** @type {HTMLElement | null} */ (box.current?.querySelector(".turn-last") ?? null);

  const toLast = () => last()?.scrollIntoView({ block: "start" });
  const onScroll = () => {
    const [turn, element] = [last(), box.current];
    setAway(Boolean(turn && element && turn.offsetTop > element.scrollTop + element.clientHeight));
  };
  useLayoutEffect(toLast, [talk, turns.length]);
  return html`<div class="thread" ref=${box} onScroll=${onScroll} tabindex="-1">
    <div class="thread-inner">
      ${children}
      ${turns.map((turn, n) => html`<${TurnView} key=${turn.key} talk=${talk} turn=${turn} last=${n === turns.length - 1} onEdit=${onEdit} />`)}
    </div>
    ${away && turns.length > 0 && html`<button type="button" class="to-end" onClick=${toLast} aria-label=${t("ask.to_end")} title=${t("ask.to_end")}>
      <${Icon} name="chevron-down" /></button>`}
  </div>`;
}
