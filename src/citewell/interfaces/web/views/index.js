/** The parts of the page: one row each. `load` brings its component, `label` its word, `icon` its sign. */

import * as ask from "./ask.js"; // what every visit needs

/**
 * @typedef {import("preact").ComponentType<{parts: string[], params: Record<string, string>}>} View
 * @typedef {{path: string, label: string, icon: string, load: () => Promise<any>, inside?: string, hidden?: boolean}} Row
 */

/** In the order of the navigation; `inside`: of which other part it is a room, shown while one is there; `hidden`: only links lead there.
 * The loaded module's `default` is a View; `parts` are those of the path after its own.
 * @type {Row[]} */
export const VIEWS = [
  { path: "ask", label: "frame.ask", icon: "ask", load: async () => ask },
  { path: "library", label: "frame.library", icon: "library", load: () => import("./library.js") },
  { path: "sites", label: "frame.sites", icon: "site", load: () => import("./sites.js"), inside: "library" },
  { path: "papers", label: "frame.papers", icon: "paper", load: () => import("./papers.js"), inside: "library" },
  { path: "data", label: "frame.data", icon: "data", load: () => import("./data.js"), inside: "library" },
  { path: "boards", label: "frame.boards", icon: "chart", load: () => import("./boards.js"), inside: "library" },
  { path: "knowledge", label: "frame.knowledge", icon: "knowledge", load: () => import("./knowledge.js") },
  { path: "settings", label: "frame.settings", icon: "settings", load: () => import("./settings.js") },
  { path: "memory", label: "frame.memory", icon: "memory", load: () => import("./memory.js"), inside: "settings" },
  { path: "traces", label: "frame.traces", icon: "trace", load: () => import("./traces.js"), inside: "settings" },
  { path: "shared", label: "shared.heading", icon: "link", load: () => import("./shared.js"), hidden: true },
  { path: "source", label: "source.panel", icon: "file", load: () => import("./source.js"), hidden: true },
];
