/**
 * An agent's graph, drawn: the node that runs is lit, those that have run are marked, the ways taken are drawn stronger.
 * The one rule: what the picture shows is said in words too, for those who do not see it.
 */
import { html, useEffect, useMemo, useRef } from "./html.js";
import { t } from "../i18n.js";
import { lang } from "../state.js";
import { END, arrange } from "./graph_layout.js";
import { actionWords, nodeWords } from "./step_words.js";

export { chainOf } from "./graph_layout.js";

/** @typedef {import("./graph_layout.js").Way} Way */
/** @typedef {import("./graph_layout.js").Taken} Taken */
/** @typedef {import("./graph_layout.js").Line} Line */
/** @typedef {import("./graph_layout.js").Box} Box */
/**
 * @typedef {object} GraphProps
 * @property {readonly string[]} nodes as `GET /api/graphs/{agent}` gives them; the first is where a run starts
 * @property {readonly Way[]} edges
 * @property {string} [current] the node that runs now
 * @property {readonly (string | Taken)[]} [visited] what has run, in order: names, or steps (`{node, action}`), which tell the
 *   way exactly
 * @property {"down" | "right"} [direction]
 * @property {string} [title] said before what the picture shows
 */

/** @param {GraphProps} props */
export function Graph({ nodes, edges, current = "", visited = [], direction = "down", title = "" }) {
  const frame = useRef(/** @type {HTMLElement | null} */ (null));
  const trail = visited.map((one) => (typeof one === "string" ? one : one.node));
  const way = visited.map((one) => (typeof one === "string" ? one : `${one.node} ${one.action}`)).join("\n");
  const drawing = useMemo(() => arrange(nodes, edges, visited, { direction, nodeWords, actionWords }), [nodes, edges, way, direction, lang.value]);
  useEffect(() => {
    if (current) show(frame.current); // a run that is over is read from its start
  }, [current, drawing]);
  if (!nodes.length) return null;
  const times = count(trail);
  const last = visited.at(-1);
  const over = !current && drawing.lines.some((line) => line.to === END && line.from === trail.at(-1)
    && (typeof last !== "object" || line.labels.some((label) => label.action === last.action)));
  const size = { inlineSize: `max(${Math.round(drawing.width * 0.8)}px, min(100%, ${drawing.width}px))` };
  return html`<figure class="graph">
    <div class="graph-frame" ref=${frame} tabindex="0" role="region" aria-label=${title || t("traces.graph_title")}>
      <svg viewBox=${`0 0 ${drawing.width} ${drawing.height}`} style=${size} aria-hidden="true" focusable="false">
        ${ordered(drawing.lines).map((line) => html`<${Edge} line=${line} key=${`${line.from} ${line.to}`} />`)}
        ${drawing.boxes.map((box) => html`<${Node} box=${box} key=${box.name} lit=${box.name === current || (over && box.name === END)}
          first=${box.name === nodes[0]} times=${times.get(box.name) ?? 0} />`)}
      </svg>
    </div>
    <figcaption><${InWords} nodes=${nodes} edges=${edges} trail=${trail} current=${current} /></figcaption>
  </figure>`;
}

/** @param {{ line: Line }} props */
function Edge({ line }) {
  const kind = `graph-way${line.taken ? " taken" : ""}${line.back ? " back" : ""}`;
  const top = line.at.y - ((line.labels.length - 1) * 15) / 2;
  return html`<g class=${kind}>
    <title>${`${line.from} → ${line.to}: ${line.labels.map((label) => label.text).join(", ")}`}</title>
    <path class="graph-line" d=${line.path} />
    <path class="graph-head" d=${line.head} />
    ${line.labels.map((label, n) => html`<text class=${label.taken ? "taken" : ""} x=${line.at.x} y=${top + n * 15}
      key=${label.action}>${label.text}</text>`)}
  </g>`;
}

/** @param {{ box: Box, lit: boolean, first: boolean, times: number }} props */
function Node({ box, lit, first, times }) {
  const kind = `graph-node${lit ? " lit" : ""}${times ? " visited" : ""}${box.name === END ? " end" : ""}${first ? " first" : ""}`;
  const [x, y] = [box.x - box.width / 2, box.y - box.height / 2];
  const said = times ? t("traces.graph_times", { node: box.name, n: times }) : box.name;
  return html`<g class=${kind} data-node=${box.name}>
    <title>${box.name === END ? t("traces.graph_end") : said}</title>
    <rect x=${x} y=${y} width=${box.width} height=${box.height} rx=${box.name === END || first ? box.height / 2 : 7} />
    <text x=${box.x} y=${box.y}>${box.name === END ? t("traces.graph_end") : box.words}</text>
    ${times > 1 && html`<g class="graph-times"><circle cx=${x + box.width - 3} cy=${y + 3} r="9" />
      <text x=${x + box.width - 3} y=${y + 3}>${times}</text></g>`}
  </g>`;
}

/** @param {{ nodes: readonly string[], edges: readonly Way[], trail: string[], current: string }} props */
function InWords({ nodes, edges, trail, current }) {
  return html`<div class="unseen">
    ${current && html`<p>${t("traces.graph_now", { node: nodeWords(current) })}</p>`}
    ${trail.length > 0 && html`<p>${t("traces.graph_way")}</p><ol>${trail.map((name, n) => html`<li key=${n}>${nodeWords(name)}</li>`)}</ol>`}
    <p>${t("traces.graph_all")}</p>
    <ul>${nodes.filter((name) => name !== END).map((name) => html`<li key=${name}>${nodeWords(name)}: ${edges
      .filter(([from]) => from === name)
      .map(([, to, label]) => t("traces.graph_leads", { label: actionWords(label), node: to === END ? t("traces.graph_end") : nodeWords(to) }))
      .join("; ")}</li>`)}</ul>
  </div>`;
}

/**
 * Taken ways last, so that they are drawn over the others.
 * @param {readonly Line[]} lines
 */
function ordered(lines) {
  return [...lines].sort((a, b) => Number(a.taken) - Number(b.taken));
}

/** @param {readonly string[]} names */
function count(names) {
  /** @type {Map<string, number>} */
  const times = new Map();
  for (const name of names) times.set(name, (times.get(name) ?? 0) + 1);
  return times;
}

/**
 * Bring the lit node into the frame, without moving the page.
 * @param {HTMLElement | null} frame
 */
function show(frame) {
  const lit = frame?.querySelector(".graph-node.lit");
  if (!frame || !lit) return;
  const [outer, inner] = [frame.getBoundingClientRect(), lit.getBoundingClientRect()];
  const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
  frame.scrollTo({
    left: frame.scrollLeft + inner.left - outer.left - (outer.width - inner.width) / 2,
    top: frame.scrollTop + inner.top - outer.top - (outer.height - inner.height) / 2,
    behavior: calm ? "auto" : "smooth",
  });
}
