/**
 * `<citewell-chat>`: a bubble in a corner that opens a conversation, or the conversation itself where the page has a place for it.
 * The one rule: nothing of the page reaches in and nothing of ours out; all stands in a shadow root, made without markup.
 */
import { asked, showTurn } from "./answer.js";
import { askInto } from "./asking.js";
import { fill, make, sign } from "./dom.js";
import { keep, recalled } from "./keep.js";
import { post } from "./line.js";
import { STYLE } from "./style.js";
import { languageOf, wordsOf } from "./words.js";

/** @typedef {import("./keep.js").Turn} Turn */

const LOOKS = ["data-theme", "data-accent", "data-position"];
const WORDED = ["data-lang", "data-title", "data-greeting"];
const dark = window.matchMedia("(prefers-color-scheme: dark)");
const narrow = window.matchMedia("(max-width: 480px)");
const common = new CSSStyleSheet();
common.replaceSync(STYLE);

export class Chat extends HTMLElement {
  static observedAttributes = [...LOOKS, ...WORDED];

  root = make("div", { class: "root" });
  own = new CSSStyleSheet(); // what the attributes say of its colours
  bubble = make("button", { class: "bubble", type: "button", "aria-haspopup": "dialog", onclick: () => this.open() }, sign("chat"));
  heading = make("h2", { id: "title" });
  log = make("div", { class: "log", role: "log", "aria-live": "off", tabindex: 0 });
  field = make("textarea", { rows: 1, enterkeyhint: "send", autocomplete: "off" });
  button = make("button", { type: "submit" });
  anew = make("button", { type: "button", onclick: () => this.restart() }, sign("anew"));
  closer = make("button", { type: "button", onclick: () => this.close() }, sign("close"));
  status = make("p", { class: "unseen", role: "status" });
  panel = make("div", { class: "panel", role: "dialog", "aria-labelledby": "title", hidden: true });
  words = wordsOf("en");
  kept = recalled("");
  ready = false;
  /** @type {AbortController | null} */
  line = null;
  /** @type {Element | null} */
  from = null; // where the focus was

  constructor() {
    super();
    const shadow = this.attachShadow({ mode: "open", delegatesFocus: false });
    shadow.adoptedStyleSheets = [common, this.own];
    const composer = make("form", { class: "composer" }, this.field, this.button);
    composer.addEventListener("submit", (event) => {
      event.preventDefault();
      if (this.line) this.line.abort();
      else void this.ask(this.field.value);
    });
    this.field.addEventListener("keydown", (event) => this.#typed(event));
    this.field.addEventListener("input", () => this.#fit());
    this.panel.addEventListener("keydown", (event) => this.#keys(event));
    fill(this.panel, make("header", {}, this.heading, this.anew, this.closer), this.log, composer, this.status);
    fill(this.root, this.bubble, this.panel);
    shadow.append(this.root);
  }

  connectedCallback() {
    if (!this.ready) {
      this.kept = recalled(this.key);
      this.ready = true;
      const { open } = this.kept;
      this.panel.hidden = !(this.inline || (open ?? this.dataset["open"] === "true"));
    }
    for (const each of [dark, narrow]) each.addEventListener("change", this.#look);
    window.visualViewport?.addEventListener("resize", this.#seen);
    this.#look();
    this.#reword();
    this.#show();
  }

  disconnectedCallback() {
    this.line?.abort();
    for (const each of [dark, narrow]) each.removeEventListener("change", this.#look);
    window.visualViewport?.removeEventListener("resize", this.#seen);
  }

  /** @param {string} name */
  attributeChangedCallback(name) {
    if (!this.ready) return;
    this.#look();
    if (!WORDED.includes(name) || this.line) return;
    this.#reword();
    this.#show();
  }

  get server() {
    return { url: this.dataset["server"] || new URL("/", location.href).href, token: this.dataset["token"] ?? "" };
  }

  get key() {
    return ["citewell", this.server.url, this.dataset["collection"], this.dataset["site"], this.dataset["agent"]].join(" ");
  }

  get inline() {
    return this.hasAttribute("data-inline");
  }

  open() {
    if (this.inline) return this.field.focus();
    if (this.panel.hidden) this.from = document.activeElement;
    this.panel.hidden = false;
    this.#opened(true);
    this.field.focus();
    this.log.scrollTop = this.log.scrollHeight;
  }

  close() {
    if (this.inline || this.panel.hidden) return;
    this.panel.hidden = true;
    this.#opened(false);
    const { from } = this;
    if (from instanceof HTMLElement && from !== document.body && !(from instanceof Chat) && from.isConnected) from.focus();
    else this.bubble.focus();
  }

  /** @param {string} text */
  async ask(text) {
    const question = String(text).trim();
    if (!question || this.line) return;
    if (this.panel.hidden) this.open();
    this.field.value = "";
    this.#fit();
    await this.#run({ question });
  }

  restart() {
    this.line?.abort();
    this.kept = { ...this.kept, session: "", turns: [] };
    keep(this.key, this.kept);
    this.#show();
    this.field.focus();
  }

  /** @param {Turn} turn */
  async #run(turn) {
    const { words } = this;
    const mine = (this.line = new AbortController());
    this.kept.turns = [...this.kept.turns.filter((each) => each !== turn), turn];
    delete turn.problem;
    delete turn.stopped;
    keep(this.key, this.kept);
    this.#show();
    const box = /** @type {HTMLElement} */ (this.log.lastElementChild?.lastElementChild);
    box.setAttribute("aria-busy", "true");
    fill(this.status, words.thinking);
    this.#sending();
    const following = new MutationObserver(() => this.#follow());
    following.observe(this.log, { childList: true, subtree: true, characterData: true });
    let came = await askInto(this.server, this.#request(turn), box, words, mine.signal);
    if (came.problem?.stale && this.kept.session) {
      this.kept.session = ""; // it was deleted, or is another user's: a new one is begun
      came = await askInto(this.server, this.#request(turn), box, words, mine.signal);
    }
    Object.assign(turn, came);
    following.disconnect();
    box.removeAttribute("aria-busy");
    if (this.line !== mine) return;
    this.line = null;
    if (!this.kept.turns.includes(turn)) return this.#sending(); // a new conversation was begun meanwhile
    if (turn.answer) this.kept.session = turn.answer.session_id || this.kept.session;
    keep(this.key, this.kept);
    showTurn(box, turn, this.#ways(turn));
    this.#sending();
    const problem = came.problem ? `${came.problem.what} ${came.problem.todo}` : words.stopped;
    fill(this.status, turn.answer ? `${words.answer}: ${turn.answer.answer}` : problem);
    box.parentElement?.scrollIntoView({ block: "nearest" });
    this.dispatchEvent(new CustomEvent("citewell-answer", { bubbles: true, composed: true, detail: { question: turn.question, answer: turn.answer ?? null } }));
  }

  /** @param {Turn} turn */
  #request({ question }) {
    const { collection, site, agent } = this.dataset;
    const named = site || collection;
    return { question, ...(named ? { collection: named } : {}), ...(agent || site ? { agent: agent || "website" } : {}), ...(this.kept.session ? { session_id: this.kept.session } : {}) };
  }

  /** @param {Turn} turn */
  #ways(turn) {
    const again = () => {
      if (this.line) return;
      this.field.focus(); // the button that was pressed goes
      void this.#run(turn);
    };
    /** @param {boolean} right @param {string} [correction] */
    const vote = async (right, correction) => {
      await post(this.server, "api/feedback", { trace_id: turn.answer?.trace_id, is_correct: right, ...(correction ? { user_correction: correction } : {}) });
      turn.vote = right;
      keep(this.key, this.kept);
    };
    return { words: this.words, again, vote };
  }

  #show() {
    const greeting = make("p", { class: "greeting" }, this.dataset["greeting"] || this.words.greeting);
    const turns = this.kept.turns.map((turn) => {
      const box = make("div", { class: "came" });
      if (!this.line || turn !== this.kept.turns.at(-1)) showTurn(box, turn, this.#ways(turn));
      return make("div", { class: "turn" }, asked(turn.question, this.words), box);
    });
    fill(this.log, greeting, ...turns);
    this.anew.hidden = !turns.length;
    this.#sending();
    this.log.scrollTop = this.log.scrollHeight;
  }

  /** To the end, unless somebody reads further up. */
  #follow() {
    const { scrollTop, scrollHeight, clientHeight } = this.log;
    if (scrollHeight - scrollTop - clientHeight < 160) this.log.scrollTop = scrollHeight;
  }

  #sending() {
    const does = this.line ? "stop" : "send";
    if (this.button.getAttribute("aria-label") === this.words[does]) return;
    this.button.setAttribute("aria-label", this.words[does]);
    fill(this.button, sign(does));
  }

  #reword() {
    const lang = languageOf(this.dataset["lang"]);
    const { words } = this;
    this.words = wordsOf(lang);
    if (words !== this.words) this.button.removeAttribute("aria-label");
    this.root.lang = lang;
    fill(this.heading, this.dataset["title"] || this.words.title);
    this.field.placeholder = this.words.placeholder;
    /** @type {[Element, string][]} */
    const named = [[this.bubble, this.words.open], [this.closer, this.words.close], [this.anew, this.words.anew], [this.log, this.words.log], [this.field, this.words.question]];
    for (const [each, label] of named) each.setAttribute("aria-label", label);
    this.anew.title = this.words.anew;
  }

  #look = () => {
    const { theme = "auto", position = "right", accent = "" } = this.dataset;
    const isDark = theme === "dark" || (theme !== "light" && dark.matches);
    this.root.className = ["root", isDark && "dark", position.endsWith("left") && "left", this.inline && "inline"].filter(Boolean).join(" ");
    this.own.replaceSync(":host {}");
    const rule = this.own.cssRules[0];
    if (accent && CSS.supports("color", accent) && rule instanceof CSSStyleRule) rule.style.setProperty("--citewell-accent", accent);
    this.root.style.setProperty("--on", readableOn(getComputedStyle(this.bubble).backgroundColor));
    if (this.inline) this.panel.setAttribute("role", "region");
    else this.panel.setAttribute("aria-modal", String(narrow.matches));
    this.bubble.hidden = this.inline || !this.panel.hidden;
    this.closer.hidden = this.inline;
    this.#seen();
  };

  /** The part of a phone's screen that its keyboard leaves. */
  #seen = () => {
    const { visualViewport: seen } = window;
    if (seen && seen.scale === 1) this.root.style.setProperty("--seen", `${seen.height}px`);
  };

  /** @param {boolean} open */
  #opened(open) {
    this.kept.open = open;
    keep(this.key, this.kept);
    this.#look();
    this.dispatchEvent(new CustomEvent(open ? "citewell-open" : "citewell-close", { bubbles: true, composed: true }));
  }

  /** Enter sends; not the one that ends a word of Chinese. @param {KeyboardEvent} event */
  #typed(event) {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing || event.keyCode === 229) return;
    event.preventDefault();
    if (!this.line) void this.ask(this.field.value);
  }

  #fit() {
    if (CSS.supports("field-sizing", "content")) return;
    this.field.style.height = "auto";
    this.field.style.height = `${this.field.scrollHeight + 2}px`;
  }

  /** Escape closes; where it covers the page, Tab stays inside. The page itself hears nothing of what is typed here.
   * @param {KeyboardEvent} event */
  #keys(event) {
    event.stopPropagation();
    if (event.key === "Escape" && !event.isComposing) this.close();
    if (event.key !== "Tab" || this.inline || !narrow.matches) return;
    const all = [...this.panel.querySelectorAll("button, textarea, a[href], summary, [tabindex='0']")].filter((each) => each.checkVisibility() && !each.matches(":disabled"));
    const [first, last] = [all[0], all.at(-1)];
    const at = this.shadowRoot?.activeElement;
    if (at !== (event.shiftKey ? first : last)) return;
    event.preventDefault();
    const next = event.shiftKey ? last : first;
    if (next instanceof HTMLElement) next.focus();
  }
}

/** Black or white, whichever is read better on a colour as the browser computes it. @param {string} colour */
function readableOn(colour) {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const told = /^rgba?\((\d+), (\d+), (\d+)/.exec(colour)?.slice(1).map(Number);
  if (canvas && !told) {
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
  }
  const [r = 0, g = 0, b = 0] = told ?? canvas?.getImageData(0, 0, 1, 1).data ?? [];
  const [red = 0, green = 0, blue = 0] = [r, g, b].map((part) => (part / 255 <= 0.04045 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.179 ? "#000000" : "#ffffff";
}
