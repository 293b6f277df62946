/**
 * The page for a release: what its first view needs in one script, each other view in one, libraries that come with their first use
 * as they are (`npm run bundle`, called by hatch_build.py). While developing, the server sends the modules themselves.
 */
import { fileURLToPath } from "node:url";

const here = fileURLToPath(new URL(".", import.meta.url));
const { first, imports, out } = JSON.parse(process.env["CITEWELL_BUNDLE"] ?? "{}");
const LATE = ["temml", "highlight.js", "pdfjs-dist", "chart.js", "@kurkle/color", "@dagrejs/dagre"];
const paths = Object.entries(imports).filter(([name]) => !LATE.includes(name));
const needed = new Set(first.map((/** @type {string} */ path) => here + path));

export default {
  input: `${here}app.js`,
  external: LATE,
  resolve: { alias: Object.fromEntries(paths.map(([name, path]) => [name, path.replace("/assets/", here)])) },
  output: {
    dir: out,
    format: "esm",
    minify: true,
    entryFileNames: "app.js",
    chunkFileNames: "[name]-[hash].js", // beside app.js, so that addresses relative to a script stay right
    codeSplitting: { groups: [{ name: "first", test: (/** @type {string} */ id) => needed.has(id) }] },
  },
};
