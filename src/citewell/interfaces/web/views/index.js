/** The parts of the page: one row each. `load` brings its component, `label` its word, `icon` its sign. */

/**
 * @typedef {import("preact").ComponentType<{parts: string[], params: Record<string, string>}>} View
 * @typedef {{path: string, label: string, icon: string, load: () => Promise<any>, hidden?: boolean}} Row
 */

/** In the order of the navigation; `hidden`: only links lead there. The loaded module's `default` is a View; `parts` are those of the path after its own.
 * @type {Row[]} */
export const VIEWS = [
  { path: "ask", label: "frame.ask", icon: "ask", load: () => import("./ask.js") },
  { path: "library", label: "frame.library", icon: "library", load: () => import("./library.js") },
  { path: "sites", label: "frame.sites", icon: "site", load: () => import("./sites.js") },
  { path: "papers", label: "frame.papers", icon: "paper", load: () => import("./papers.js") },
  { path: "data", label: "frame.data", icon: "data", load: () => import("./data.js") },
  { path: "knowledge", label: "frame.knowledge", icon: "knowledge", load: () => import("./knowledge.js") },
  { path: "memory", label: "frame.memory", icon: "memory", load: () => import("./memory.js") },
  { path: "traces", label: "frame.traces", icon: "trace", load: () => import("./traces.js") },
  { path: "source", label: "source.panel", icon: "file", load: () => import("./source.js"), hidden: true },
  { path: "settings", label: "frame.settings", icon: "settings", load: () => import("./settings.js") },
];
