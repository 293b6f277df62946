/** Elements, made one by one. The one rule: no text ever becomes markup, so nothing here takes any. */

const SVG = "http://www.w3.org/2000/svg";
/** Strokes of a 24 by 24 grid. @type {Record<string, string>} */
const STROKES = {
  chat: "M4 5h16v11H9l-5 4zM8 9h8M8 12h5",
  close: "M6 6l12 12M18 6L6 18",
  anew: "M12 5v14M5 12h14",
  send: "M5 12h13M12 5l7 7-7 7",
  stop: "M7 7h10v10H7z",
  up: "M7 11v9H4v-9zM7 11l4-7c1.6 0 2.4 1 2 2.6L12.4 10H18c1.400 0 2.300 1.200 2 2.500l-1.500 6c-.2.9-1 1.500-2 1.500H7",
  down: "M17 13V4h3v9zM17 13l-4 7c-1.600 0-2.400-1-2-2.600l.6-3.400H6c-1.400 0-2.300-1.200-2-2.500l1.500-6C5.700 4.600 6.500 4 7.500 4H17",
  check: "M5 13l4 4L19 7",
  warn: "M12 4l9 16H3zM12 10v4M12 17v.5",
};

/** @typedef {Node | string | null | undefined | false} Child */

/**
 * An element with properties (`class`, `onclick`, `aria-…`) and children.
 * @template {keyof HTMLElementTagNameMap} K @param {K} tag @param {Record<string, any>} [given] @param {Child[]} children
 * @returns {HTMLElementTagNameMap[K]}
 */
export function make(tag, given = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else made.setAttribute(name, value === true ? "" : String(value));
  }
  fill(made, ...children);
  return made;
}

/** @param {Element} box @param {Child[]} children */
export function fill(box, ...children) {
  box.replaceChildren();
  for (const each of children) if (each) box.append(each);
}

/** @param {string} name @param {number} [size] */
export function sign(name, size = 20) {
  const drawn = document.createElementNS(SVG, "svg");
  const given = { viewBox: "0 0 24 24", width: size, height: size, fill: "none", stroke: "currentColor", "stroke-width": 2 };
  const round = { "stroke-linecap": "round", "stroke-linejoin": "round", "aria-hidden": "true", focusable: "false" };
  for (const [key, value] of Object.entries({ ...given, ...round })) drawn.setAttribute(key, String(value));
  const path = document.createElementNS(SVG, "path");
  path.setAttribute("d", STROKES[name] ?? "");
  drawn.append(path);
  return drawn;
}

/** An address that may be followed from an answer, or nothing. @param {unknown} said @returns {string} */
export function webAddress(said) {
  try {
    const url = new URL(String(said));
    return url.protocol === "https:" || url.protocol === "http:" ? url.href : "";
  } catch {
    return "";
  }
}
