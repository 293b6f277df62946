/**
 * A chart of rows, as `Answer.data.chart` says: bar, line, pie or scatter.
 *
 * The one rule: whoever does not see the picture gets its figures in words, and its colours stand out by 3 to 1 in both themes.
 */
import { html, useEffect, useMemo, useRef, useState } from "./html.js";
import { t } from "../i18n.js";
import { said } from "../said.js";
import { dark, lang } from "../state.js";
import { looksOf, shown } from "../data/looks.js";

/** `series`: splits a single `y` into one for each of its values; `table`: nothing is drawn.
 * @typedef {{kind: "bar" | "line" | "pie" | "scatter" | "table", x: string, y: string[], series?: string, title?: string}} ChartSpec */
/** @typedef {import("../data/looks.js").Look} Look */
/** @typedef {string | number | boolean | null} Value */

const LIGHT = ["#2558c9", "#c2410c", "#0f766e", "#8b2fc9", "#be185d", "#4d7c0f", "#475569", "#946200"];
const DARK = ["#7da7ff", "#fb923c", "#2dd4bf", "#c795ff", "#f582b8", "#a3d93c", "#a9b6c8", "#f2c744"];
const POINTS = /** @type {const} */ (["circle", "rectRot", "triangle", "rect", "star", "crossRot", "rectRounded", "dash"]);
const SPOKEN = 30; // values told in words
const LONG_NAME = 12; // letters of a name from which bars lie down
const MANY = 8; // bars from which they lie down
const MOST_SETS = 8; // as many as there are colours

/**
 * What of the rows is drawn: names and figures in the order of the drawing.
 * @param {ChartSpec} chart
 * @param {string[]} columns
 * @param {Value[][]} rows
 * @param {Look[]} [looks]
 */
export function series(chart, columns, rows, looks = []) {
  const x = columns.indexOf(chart.x);
  const ys = chart.y.map((name) => columns.indexOf(name)).filter((at) => at >= 0);
  const taken = rows.filter((row) => x >= 0 && row[x] !== null);
  if (chart.kind === "line") taken.sort((a, b) => compare(a[x] ?? null, b[x] ?? null));
  const by = chart.series ? columns.indexOf(chart.series) : -1;
  if (by >= 0 && ys.length) return split(taken, x, /** @type {number} */ (ys[0]), by, looks);
  return {
    names: taken.map((row) => shown(row[x] ?? null, looks[x])),
    xs: taken.map((row) => figureOf(row[x] ?? null)),
    sets: ys.map((at) => ({ name: columns[at] ?? "", look: looks[at], values: taken.map((row) => figureOf(row[at] ?? null)) })),
  };
}

/** One set for each value of a column; what there is several times is added up. @param {Value[][]} rows @param {number} x @param {number} y @param {number} by @param {Look[]} looks */
function split(rows, x, y, by, looks) {
  const places = [...new Set(rows.map((row) => row[x] ?? null))];
  if (looks[x]?.time) places.sort(compare);
  const names = [...new Set(rows.map((row) => row[by] ?? null))].slice(0, MOST_SETS);
  const sums = new Map(/** @type {[string, number][]} */ ([]));
  for (const row of rows) {
    const key = JSON.stringify([row[x] ?? null, row[by] ?? null]);
    const figure = figureOf(row[y] ?? null);
    if (figure !== null) sums.set(key, (sums.get(key) ?? 0) + figure);
  }
  return {
    names: places.map((place) => shown(place, looks[x])),
    xs: places.map(figureOf),
    sets: names.map((name) => ({
      name: name === null ? t("data.no_value") : shown(name, looks[by]),
      look: looks[y],
      values: places.map((place) => sums.get(JSON.stringify([place, name])) ?? null),
    })),
  };
}

/** @param {Value} value */
function figureOf(value) {
  return value === null || value === "" || !Number.isFinite(Number(value)) ? null : Number(value);
}

/** @param {Value} a @param {Value} b */
function compare(a, b) {
  if (typeof a === "number" && typeof b === "number") return a - b;
  return String(a).localeCompare(String(b), document.documentElement.lang, { numeric: true });
}

/** @param {{chart: ChartSpec, columns: string[], rows: Value[][], looks?: import("../data/looks.js").Told[]}} props */
export function Chart({ chart, columns, rows, looks }) {
  const canvas = useRef(/** @type {HTMLCanvasElement | null} */ (null));
  const [problem, setProblem] = useState("");
  const night = dark.value;
  const locale = lang.value;
  const drawn = useMemo(() => series(chart, columns, rows, looksOf(columns, rows, looks)), [chart, columns, rows, looks, locale]);
  useEffect(() => {
    let gone = false;
    /** @type {{destroy: () => void} | undefined} */
    let made;
    draw(canvas.current, chart, drawn, night, locale)
      .then((graphic) => {
        if (gone) graphic?.destroy();
        else made = graphic;
      })
      .catch((error) => setProblem(said(String(error?.message ?? error))));
    return () => {
      gone = true;
      made?.destroy();
    };
  }, [chart, drawn, night, locale]);
  if (!drawn.sets.length) return null;
  const title = chart.title || `${chart.y.join(", ")} / ${chart.x}`;
  const lying = chart.kind === "bar" && lies(drawn.names);
  const height = lying ? Math.max(160, 64 + drawn.names.length * (16 + 12 * drawn.sets.length)) : 300;
  return html`<figure class="chart">
    <figcaption class="chart-title">${title}</figcaption>
    <div class="chart-box" style=${{ blockSize: `${height}px` }}>
      <canvas ref=${canvas} role="img" aria-label=${spoken(chart, drawn, title)}></canvas>
    </div>
    ${problem && html`<p class="chart-problem" role="status">${t("data.chart_failed", { problem })}</p>`}
  </figure>`;
}

/** Long names and many bars are read more easily side by side. @param {string[]} names */
function lies(names) {
  return names.length > MANY || names.some((name) => name.length > LONG_NAME);
}

/**
 * @param {ChartSpec} chart
 * @param {ReturnType<typeof series>} drawn
 * @param {string} title
 */
function spoken(chart, drawn, title) {
  const figure = (/** @type {number | null} */ value, /** @type {Look | undefined} */ look) => (value === null ? t("data.no_value") : shown(value, look));
  const told = drawn.names.slice(0, SPOKEN).map((name, n) => {
    const values = drawn.sets.map((set) => (drawn.sets.length > 1 ? `${set.name} ` : "") + figure(set.values[n] ?? null, set.look));
    return `${name}: ${values.join(", ")}`;
  });
  const more = drawn.names.length > SPOKEN ? ` ${t("data.chart_more", { n: drawn.names.length - SPOKEN })}` : "";
  return `${t(`data.chart_${chart.kind}`)}: ${title}. ${told.join("; ")}.${more}`;
}

/**
 * @param {HTMLCanvasElement | null} canvas
 * @param {ChartSpec} chart
 * @param {ReturnType<typeof series>} drawn
 * @param {boolean} night
 * @param {string} locale
 */
async function draw(canvas, chart, drawn, night, locale) {
  const { Chart: Graphic, registerables } = await import("chart.js");
  if (!canvas?.isConnected) return undefined;
  Graphic.register(...registerables);
  const ink = getComputedStyle(canvas).color;
  const colours = night ? DARK : LIGHT;
  return new Graphic(canvas, /** @type {any} */ ({
    type: chart.kind,
    data: chart.kind === "pie" ? slices(drawn, colours, night, locale) : lines(chart, drawn, colours),
    options: options(chart, drawn, ink, night, locale),
  }));
}

/** @param {ReturnType<typeof series>} drawn @param {string[]} colours @param {boolean} night @param {string} locale */
function slices(drawn, colours, night, locale) {
  const values = (drawn.sets[0]?.values ?? []).map((value) => Math.max(0, value ?? 0));
  const sum = values.reduce((all, value) => all + value, 0) || 1;
  const share = new Intl.NumberFormat(locale, { style: "percent", maximumFractionDigits: 1 });
  return {
    labels: drawn.names.map((name, n) => `${name} (${share.format((values[n] ?? 0) / sum)})`),
    datasets: [
      {
        data: values,
        backgroundColor: values.map((_, n) => colours[n % colours.length]),
        borderColor: night ? "#16181d" : "#ffffff",
        borderWidth: 2,
      },
    ],
  };
}

/** @param {ChartSpec} chart @param {ReturnType<typeof series>} drawn @param {string[]} colours */
function lines(chart, drawn, colours) {
  const scatter = chart.kind === "scatter";
  return {
    labels: scatter ? undefined : drawn.names,
    datasets: drawn.sets.map((set, n) => ({
      label: set.name,
      data: scatter ? set.values.map((y, at) => ({ x: drawn.xs[at], y })).filter(({ x, y }) => x !== null && y !== null) : set.values,
      backgroundColor: colours[n % colours.length],
      borderColor: colours[n % colours.length],
      borderWidth: chart.kind === "bar" ? 0 : 2,
      borderDash: chart.kind === "line" && n > 0 ? [6, 2 + n] : [],
      borderRadius: chart.kind === "bar" ? 3 : 0,
      maxBarThickness: 44,
      pointStyle: POINTS[n % POINTS.length],
      pointRadius: chart.kind === "line" && drawn.names.length > 60 ? 0 : 4,
      tension: 0,
    })),
  };
}

/** @param {ChartSpec} chart @param {ReturnType<typeof series>} drawn @param {string} ink @param {boolean} night @param {string} locale */
function options(chart, drawn, ink, night, locale) {
  const legend = { display: chart.kind === "pie" || drawn.sets.length > 1, position: "bottom", labels: { color: ink, usePointStyle: true } };
  const shared = { locale, responsive: true, maintainAspectRatio: false, animation: false, plugins: { legend } };
  if (chart.kind === "pie") return shared;
  const lying = chart.kind === "bar" && lies(drawn.names);
  const grid = { color: night ? "rgba(255,255,255,0.14)" : "rgba(0,0,0,0.11)" };
  const short = { color: ink, callback: shortened, autoSkip: !lying };
  const grace = chart.kind === "scatter" ? "5%" : 0; // room, so that no point is cut at the edge
  const figures = { beginAtZero: chart.kind === "bar", grace, grid, ticks: { color: ink }, title: named(chart.series ? chart.y.join(", ") : drawn.sets.map((set) => set.name).join(", "), ink) };
  const names = { ...(grace ? { grace } : {}), grid: { display: false }, ticks: chart.kind === "scatter" ? { color: ink } : short, title: named(chart.x, ink) };
  return { ...shared, indexAxis: lying ? "y" : "x", scales: lying ? { x: figures, y: names } : { x: names, y: figures } };
}

/** @param {string} text @param {string} color */
function named(text, color) {
  return { display: true, text: text.length > 40 ? `${text.slice(0, 39)}…` : text, color };
}

/** A tick's name; `this` is the scale. @this {any} @param {string | number} value */
function shortened(value) {
  const name = String(this.getLabelForValue(Number(value)));
  return name.length > 22 ? `${name.slice(0, 21)}…` : name;
}
