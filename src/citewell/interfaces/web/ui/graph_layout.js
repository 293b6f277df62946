/**
 * Where the nodes and edges of a graph stand: dagre's layout, with the ways between the same two nodes drawn as one.
 * The one rule: what is drawn here knows nothing of a page.
 */
import { Graph as Net, layout } from "@dagrejs/dagre";

/** @typedef {[from: string, to: string, label: string]} Way */
/** @typedef {{ node: string, action: string }} Taken */
/** @typedef {{ x: number, y: number }} Point */
/**
 * @typedef {object} Label
 * @property {string} text what is written
 * @property {string} action its name
 * @property {boolean} taken
 */
/**
 * @typedef {object} Line
 * @property {string} from
 * @property {string} to
 * @property {Label[]} labels one line each
 * @property {boolean} taken
 * @property {boolean} back it leads to where the run has been
 * @property {string} path of an SVG
 * @property {string} head the arrow's
 * @property {Point} at the middle of its labels
 */
/** `words`: what is written for its name. @typedef {{ name: string, words: string, x: number, y: number, width: number, height: number }} Box */
/** @typedef {{ width: number, height: number, boxes: Box[], lines: Line[] }} Drawing */

export const END = "END";
const HEIGHT = 32;
const LABEL = 15; // of one line of a label
const LOOP = 26; // how far a loop stands out
const MARGIN = 10;

/** @type {CanvasRenderingContext2D | null | undefined} */
let pen;

/**
 * How wide a text will be, in pixels.
 * @param {string} text
 * @param {string} font
 */
export function widthOf(text, font) {
  if (pen === undefined) pen = typeof document === "undefined" ? null : document.createElement("canvas").getContext("2d");
  if (!pen) return text.length * 7.2;
  pen.font = font;
  return pen.measureText(text).width;
}

/**
 * The ways that were taken: from steps exactly, from bare names every way between two that follow each other.
 * @param {readonly Way[]} edges
 * @param {readonly (string | Taken)[]} visited
 * @returns {Set<string>} `from label`
 */
export function waysTaken(edges, visited) {
  const found = new Set();
  visited.forEach((one, n) => {
    if (typeof one !== "string") {
      found.add(`${one.node} ${one.action}`);
      return;
    }
    const after = visited[n + 1];
    const next = typeof after === "object" ? after.node : after;
    for (const [from, to, label] of edges) if (from === one && to === next) found.add(`${from} ${label}`);
  });
  return found;
}

/**
 * @param {readonly string[]} nodes
 * @param {readonly Way[]} edges
 * @param {readonly (string | Taken)[]} visited
 * @param {{ font?: string, direction?: "down" | "right", nodeWords?: (name: string) => string, actionWords?: (label: string) => string }} [how]
 *   what is written for a name
 * @returns {Drawing}
 */
export function arrange(nodes, edges, visited, how = {}) {
  const { font = "500 12.5px Figtree, system-ui, sans-serif", direction = "down", nodeWords = same, actionWords = same } = how;
  const net = new Net({ directed: true });
  net.setGraph({
    rankdir: direction === "right" ? "LR" : "TB", nodesep: 26, edgesep: 16, ranksep: direction === "right" ? 30 : 26,
    marginx: MARGIN, marginy: MARGIN,
  });
  const taken = waysTaken(edges, visited);
  const known = new Set(nodes);
  /** @type {Map<string, { from: string, to: string, labels: Label[] }>} */
  const joined = new Map();
  for (const [from, to, label] of edges) {
    if (!known.has(from) || !known.has(to)) continue;
    const key = JSON.stringify([from, to]);
    const line = joined.get(key) ?? { from, to, labels: [] };
    line.labels.push({ text: actionWords(label), action: label, taken: taken.has(`${from} ${label}`) });
    joined.set(key, line);
  }
  /** @type {Map<string, Box>} */
  const place = new Map();
  for (const name of nodes) {
    const words = name === END ? "" : nodeWords(name);
    const width = name === END ? 44 : Math.ceil(widthOf(words, font)) + 26;
    const own = joined.get(JSON.stringify([name, name]));
    const aside = own ? 2 * (LOOP + wide(own.labels)) : 0; // a loop stands at the right; the same at the left keeps the middle
    const height = name === END ? 24 : HEIGHT;
    place.set(name, { name, words, x: 0, y: 0, width, height });
    net.setNode(name, { width: width + aside, height });
  }
  for (const { from, to, labels } of joined.values()) {
    if (from !== to) net.setEdge(from, to, { width: wide(labels), height: labels.length * LABEL + 2, labelpos: "c", minlen: 1 });
  }
  layout(net);
  for (const box of place.values()) {
    const { x, y } = /** @type {any} */ (net.node(box.name));
    Object.assign(box, { x, y });
  }
  const order = new Map(nodes.map((name, n) => [name, n]));
  const lines = [...joined.values()].map(({ from, to, labels }) => {
    const start = /** @type {Box} */ (place.get(from));
    const drawn = from === to ? loop(start, wide(labels)) : way(net.edge(from, to), start, place.get(to), direction === "down");
    const back = (order.get(to) ?? 0) <= (order.get(from) ?? 0);
    return { from, to, labels, taken: labels.some((label) => label.taken), back, ...drawn };
  });
  const size = /** @type {any} */ (net.graph());
  return { width: Math.ceil(size.width), height: Math.ceil(size.height), boxes: [...place.values()], lines };
}

/** @param {readonly Label[]} labels */
function wide(labels) {
  return Math.ceil(Math.max(0, ...labels.map((label) => widthOf(label.text, "11px Figtree, system-ui, sans-serif")))) + 10;
}

/**
 * An edge as dagre laid it, between the boxes as they are drawn.
 * @param {any} edge `{points, x, y}`
 * @param {Box} start
 * @param {Box | undefined} end
 * @param {boolean} down
 */
function way(edge, start, end, down) {
  const sign = end && (down ? end.y < start.y : end.x < start.x) ? -1 : 1;
  const inner = /** @type {Point[]} */ (edge.points).slice(1, -1);
  const points = inner.flatMap((point) => (near(point, edge) ? through(point, down, sign) : [point]));
  const first = points[0];
  const last = points.at(-1);
  const whole = first && last && end ? [border(start, first), ...points, border(end, last)] : edge.points;
  return { path: curve(whole), head: arrow(whole), at: { x: edge.x, y: edge.y } };
}

/** @param {Point} one @param {Point} other */
function near(one, other) {
  return Math.abs(one.x - other.x) < 1 && Math.abs(one.y - other.y) < 1;
}

/** Two points, so that the line goes straight through a label. @param {Point} at @param {boolean} down @param {number} sign */
function through({ x, y }, down, sign) {
  const [one, two] = down ? [9 * sign, 0] : [0, 20 * sign];
  return [{ x: x - two, y: y - one }, { x: x + two, y: y + one }];
}

/**
 * Where a line from the middle of a box to a point leaves it.
 * @param {Box} box
 * @param {Point} to
 */
function border(box, to) {
  const x = to.x - box.x;
  const y = to.y - box.y;
  const share = Math.min(box.width / 2 / (Math.abs(x) || 1e-6), box.height / 2 / (Math.abs(y) || 1e-6));
  return { x: box.x + x * share, y: box.y + y * share };
}

/**
 * From a box to itself, at its right.
 * @param {Box} box
 * @param {number} width of its label
 */
function loop(box, width) {
  const edge = box.x + box.width / 2;
  const top = { x: edge, y: box.y - 8 };
  const end = { x: edge, y: box.y + 8 };
  const far = edge + LOOP - 2;
  const path = `M${round(top)}C${far + 6},${box.y - 22} ${far + 6},${box.y + 22} ${round(end)}`;
  return { path, head: arrow([{ x: edge + 8, y: box.y + 12 }, end]), at: { x: far + width / 2 + 2, y: box.y } };
}

/**
 * A soft line along the points: round the corners, through the middle between two of them.
 * @param {readonly Point[]} points
 */
function curve(points) {
  const at = (/** @type {number} */ n) => /** @type {Point} */ (points[n]);
  let path = `M${round(at(0))}`;
  for (let n = 1; n < points.length - 1; n++) {
    const [one, next] = [at(n), at(n + 1)];
    const middle = n === points.length - 2 ? next : { x: (one.x + next.x) / 2, y: (one.y + next.y) / 2 };
    path += `Q${round(one)} ${round(middle)}`;
  }
  return path;
}

/**
 * The head of an arrow at the last point, as a path.
 * @param {readonly Point[]} points
 */
function arrow(points) {
  const tip = points.at(-1);
  const before = points.at(-2);
  if (!tip || !before) return "";
  const angle = Math.atan2(tip.y - before.y, tip.x - before.x);
  const corner = (/** @type {number} */ turn) =>
    round({ x: tip.x - 8 * Math.cos(angle + turn), y: tip.y - 8 * Math.sin(angle + turn) });
  return `M${round(tip)}L${corner(0.42)}L${corner(-0.42)}Z`;
}

/** @param {Point} point */
function round({ x, y }) {
  return `${x.toFixed(1)},${y.toFixed(1)}`;
}

/**
 * A chain of what was done, for runs that follow no table (a paper's sections): each step leads to the next.
 * @param {readonly { node: string, action: string }[]} steps
 * @returns {{ nodes: string[], edges: Way[] }}
 */
export function chainOf(steps) {
  const nodes = [...new Set(steps.map((step) => step.node))];
  /** @type {Map<string, Way>} */
  const edges = new Map();
  steps.forEach((step, n) => {
    const to = steps[n + 1]?.node ?? END;
    edges.set(JSON.stringify([step.node, to, step.action]), [step.node, to, step.action]);
  });
  return { nodes: [...nodes, END], edges: [...edges.values()] };
}

/** @param {string} name */
function same(name) {
  return name;
}
