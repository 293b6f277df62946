/** What the whole page knows: who asks, language, theme, and where it stands. The one rule: only signals here, no markup. */

import { computed, effect, signal } from "@preact/signals";

/**
 * @typedef {{user_id: string, role: "reader" | "editor" | "reviewer" | "admin", auth: "none" | "token", csrf: string, collection?: string, home?: string, largest_file?: number}} Me
 * @typedef {{path: string, parts: string[], params: Record<string, string>}} Route
 */

/** @param {string} name @returns {string | null} */
export function kept(name) {
  try {
    return localStorage.getItem(`citewell.${name}`);
  } catch {
    return null; // a browser that keeps nothing
  }
}

/** Keep a small text in this browser; `null` forgets it. @param {string} name @param {string | null} value */
export function keep(name, value) {
  try {
    if (value === null) localStorage.removeItem(`citewell.${name}`);
    else localStorage.setItem(`citewell.${name}`, value);
  } catch {
    // it lasts until the page is closed
  }
}

/** Who asks: undefined until the server has said, null where nobody is signed in. */
export const me = signal(/** @type {Me | null | undefined} */ (undefined));

/** Whether a sign-in has ended by itself: its time was over, or its token was revoked. */
export const ended = signal(false);

/** The name a person chose where the server asks for none (`auth = "none"`); empty: the server's own default. */
export const user = signal(kept("user_id") ?? "");

/** False while the server does not answer. */
export const online = signal(true);

/** Milliseconds between two tries to reach a server that is gone. */
export const LOOK_AGAIN = 3000;

/** What the server has texts in. */
export const LANGUAGES = (document.documentElement.dataset["languages"] ?? "en").split(" ");
const THEMES = ["auto", "light", "dark"];

/** How large the page's text is. */
export const SIZES = ["normal", "large", "larger"];

const [system = ""] = navigator.language.toLowerCase().split("-");

/** @type {import("@preact/signals").Signal<string>} */
export const lang = signal(pick(kept("lang"), LANGUAGES, LANGUAGES.includes(system) ? system : "en"));

/** @type {import("@preact/signals").Signal<"auto" | "light" | "dark">} */
export const theme = signal(pick(kept("theme"), THEMES, "auto"));

export const size = signal(pick(kept("size"), SIZES, "normal"));

const systemDark = matchMedia("(prefers-color-scheme: dark)");
const systemIsDark = signal(systemDark.matches);
systemDark.addEventListener("change", (event) => (systemIsDark.value = event.matches));

/** Whether the page is dark now, for what is drawn by hand (charts). */
export const dark = computed(() => (theme.value === "auto" ? systemIsDark.value : theme.value === "dark"));

/** Where the page stands: the address behind `#`. `params` are those after `?` in it. */
export const route = signal(read());

/** Go to a path such as `/ask/ses_1`; in place of a sheet or drawer that covers the page (`ui/back.js`). @param {string} path @param {{replace?: boolean}} [how] */
export function go(path, { replace = false } = {}) {
  const hash = `#${path.startsWith("/") ? path : `/${path}`}`;
  if (replace || history.state?.over) history.replaceState(null, "", hash);
  else if (location.hash !== hash) history.pushState(null, "", hash);
  route.value = read();
}

/** The link to a path, its parts escaped: `link("library", name)`. @param {...string} parts */
export function link(...parts) {
  return `#/${parts.map(encodeURIComponent).join("/")}`;
}

if (history.state?.over) history.replaceState(null, ""); // what covered the page before it was loaded anew
addEventListener("hashchange", moved);
addEventListener("popstate", moved);

effect(() => {
  keep("lang", lang.value);
  document.documentElement.lang = lang.value === "zh" ? "zh-Hans" : lang.value;
});

effect(() => {
  keep("theme", theme.value);
  if (theme.value === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme.value;
});

effect(() => {
  keep("size", size.value);
  document.documentElement.dataset["size"] = size.value;
});

effect(() => keep("user_id", user.value || null));

/** Closing what covers the page leaves the address as it is. */
function moved() {
  const now = read();
  if (JSON.stringify(now) !== JSON.stringify(route.value)) route.value = now;
}

/** The bare address is the place to ask. @returns {Route} */
function read() {
  const [path = "", query = ""] = location.hash.replace(/^#\/?/, "").split("?", 2);
  const parts = (path.replaceAll("/", "") ? path : "ask").split("/").filter(Boolean).map(unescaped);
  return { path: `/${parts.join("/")}`, parts, params: Object.fromEntries(new URLSearchParams(query)) };
}

/** @param {string} text */
function unescaped(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** @param {string | null} value @param {string[]} among @param {string} otherwise @returns {any} */
function pick(value, among, otherwise) {
  return value !== null && among.includes(value) ? value : otherwise;
}
