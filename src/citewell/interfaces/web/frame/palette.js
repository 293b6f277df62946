/**
 * The palette (Ctrl and K) and the page's other keys. The one rule: a key that writes somewhere is never taken from there.
 */
import { get } from "../api.js";
import { t } from "../i18n.js";
import { go, link } from "../state.js";
import { Dialog } from "../ui/dialog.js";
import { html, useEffect, useState } from "../ui/html.js";
import { Icon } from "../ui/icon.js";
import { VIEWS } from "../views/index.js";

/** @typedef {{id: string, label: string, icon: string, path: string}} Place */

const MOST = 8; // conversations
const PAUSE = 150; // milliseconds of no key before the server is asked
const KEYS = [["Ctrl K", "frame.key_palette"], ["/", "frame.key_ask"], ["?", "frame.key_help"], ["Enter", "frame.key_send"], ["Esc", "frame.key_close"]];

export function Keys() {
  const [open, setOpen] = useState(/** @type {"palette" | "help" | ""} */ (""));
  useEffect(() => {
    const pressed = (/** @type {KeyboardEvent} */ event) => {
      if ((event.ctrlKey || event.metaKey) && !event.altKey && event.key.toLowerCase() === "k") {
        event.preventDefault();
        setOpen("palette");
      }
      const target = event.target instanceof HTMLElement ? event.target : null;
      const writes = target && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));
      if (writes || event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
      if (event.key === "?") setOpen("help");
      if (event.key !== "/") return;
      event.preventDefault();
      if (!document.getElementById("ask-text")) go("/ask");
      const wait = setInterval(() => {
        const box = document.getElementById("ask-text");
        box?.focus();
        if (box) clearInterval(wait);
      }, 30);
      setTimeout(() => clearInterval(wait), 5000);
    };
    document.addEventListener("keydown", pressed);
    return () => document.removeEventListener("keydown", pressed);
  }, []);
  const close = () => setOpen("");
  if (open === "palette") return html`<${Palette} close=${close} />`;
  return open === "help" && html`<${Dialog} title=${t("frame.keys")} onClose=${close}>
    <dl class="keys">${KEYS.map(([key, words]) => html`<div key=${key}><dt><kbd>${key}</kbd></dt><dd>${t(String(words))}</dd></div>`)}</dl>
  <//>`;
}

/** @param {{close: () => void}} props */
function Palette({ close }) {
  const [text, setText] = useState("");
  const [at, setAt] = useState(0);
  const found = usePlaces(text.trim());
  const chosen = Math.min(at, found.length - 1);
  const open = (/** @type {Place | undefined} */ place) => {
    if (!place) return;
    close();
    go(place.path);
  };
  const onKeyDown = (/** @type {KeyboardEvent} */ event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key] ?? 0;
    if (event.key === "Enter" && !event.isComposing) open(found[chosen]);
    if (!step) return;
    event.preventDefault();
    setAt((chosen + step + found.length) % found.length);
  };
  return html`<${Dialog} title=${t("frame.palette")} onClose=${close} class="palette">
    <input type="text" role="combobox" aria-expanded="true" aria-controls="palette-places" aria-label=${t("frame.palette")} autofocus autocomplete="off"
      aria-activedescendant=${found[chosen] ? `palette-${chosen}` : null} value=${text} placeholder=${t("frame.palette_hint")}
      onInput=${(/** @type {any} */ event) => (setText(event.currentTarget.value), setAt(0))} onKeyDown=${onKeyDown} />
    <ul id="palette-places" role="listbox" aria-label=${t("frame.palette")}>
      ${found.map((place, n) => html`<li key=${place.id} id=${`palette-${n}`} role="option" aria-selected=${n === chosen ? "true" : "false"}
        onMouseMove=${() => setAt(n)} onClick=${() => open(place)}><${Icon} name=${place.icon} size=${18} /><span>${place.label}</span></li>`)}
    </ul>
  <//>`;
}

/** Parts of the page by their names, conversations by what was said. @param {string} words @returns {Place[]} */
function usePlaces(words) {
  const [talks, setTalks] = useState(/** @type {Place[]} */ ([]));
  useEffect(() => {
    let mine = true;
    const look = () => get("/sessions", { q: words, limit: MOST }).then(({ sessions }) => mine && setTalks(sessions.slice(0, MOST).map(placeOf)), () => undefined);
    const timer = setTimeout(look, words ? PAUSE : 0);
    return () => {
      mine = false;
      clearTimeout(timer);
    };
  }, [words]);
  const wanted = words.toLocaleLowerCase();
  const parts = VIEWS.filter((row) => !row.hidden).map((row) => ({ id: row.path, label: t(row.label), icon: row.icon, path: `/${row.path}` }));
  return [...parts.filter((part) => part.label.toLocaleLowerCase().includes(wanted)), ...talks];
}

/** @param {{session_id: string, title: string, agent: string}} session @returns {Place} */
function placeOf({ session_id: id, title, agent }) {
  return { id, label: title || t("ask.untitled"), icon: "ask", path: link(agent === "paper" ? "papers" : "ask", id).slice(1) };
}
