/**
 * Where it begins: every script tag makes its chat, once the page has a body.
 * The one rule: whatever the page does with the tag (in the head, async, as a module, twice, taken away) it must not break the page.
 */
import { Chat } from "./chat.js";

/** @typedef {{taken: WeakSet<Element>, chats: Set<Chat>}} Known  what all copies of this script on a page share */

const NAME = "citewell-chat";
const SHARED = Symbol.for("citewell.widget");
const SAID = "script[src][data-collection], script[src][data-site], script[src][data-token], script[src][data-citewell]";
const page = /** @type {any} */ (window);
/** @type {Known} */
const known = (page[SHARED] ??= { taken: new WeakSet(), chats: new Set() });
if (!customElements.get(NAME)) customElements.define(NAME, Chat);

/** @param {HTMLScriptElement} script */
function begin(script) {
  if (known.taken.has(script)) return;
  known.taken.add(script);
  if (script.dataset["auto"] === "off") return; // only the element is wanted, where the page puts it
  const chat = /** @type {Chat} */ (/** @type {unknown} */ (document.createElement(NAME)));
  Object.assign(chat.dataset, { ...script.dataset, server: script.dataset["server"] || new URL(".", script.src).href });
  delete chat.dataset["inline"]; // a tag has no place of its own
  if ([...known.chats].some((each) => each.key === chat.key && each.server.token === chat.server.token)) return;
  const above = [...known.chats].filter((each) => !each.inline && side(each) === side(chat)).length;
  if (above) chat.shadowRoot?.adoptedStyleSheets.push(raised(above));
  known.chats.add(chat);
  if (document.body) document.body.append(chat);
  else document.addEventListener("DOMContentLoaded", () => document.body.append(chat), { once: true });
}

/** @param {Chat} chat */
function side(chat) {
  return (chat.dataset["position"] ?? "right").endsWith("left") ? "left" : "right";
}

/** A second bubble in the same corner stands above the first. @param {number} many */
function raised(many) {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(`.bubble { inset-block-end: calc(var(--y) + ${68 * many}px); }`);
  return sheet;
}

/** A module is not told which tag it runs for. */
function beginAll() {
  for (const script of document.querySelectorAll(SAID)) {
    if (script instanceof HTMLScriptElement && new URL(script.src).pathname.endsWith("/widget.js")) begin(script);
  }
}

/** The first chat of the page: one that the page itself has placed, or that of the first tag, put back where it was taken away. */
function first() {
  const chat = /** @type {Chat | undefined} */ ([...known.chats].find((each) => each.isConnected) ?? document.querySelector(NAME) ?? [...known.chats][0]);
  if (!chat) throw new Error("citewell: there is no chat on this page yet; wait for DOMContentLoaded");
  if (!chat.isConnected) document.body.append(chat);
  return chat;
}

const own = document.currentScript;
if (own instanceof HTMLScriptElement) begin(own);
else {
  beginAll();
  document.addEventListener("DOMContentLoaded", beginAll, { once: true });
}
page.citewell ??= {
  open: () => first().open(),
  close: () => first().close(),
  /** @param {string} text */
  ask: (text) => first().ask(text),
  restart: () => first().restart(),
};
