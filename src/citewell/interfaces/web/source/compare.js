/**
 * Whether a page looks as the server draws it: some PDFs name the glyphs of their fonts wrongly, and pdf.js then draws other
 * letters, or none. The one rule: it is only told where most of what the server draws is missing or stands elsewhere.
 */
import { pageAddress } from "./load.js";

const GRID = 48; // cells across and down
const FINE = 10; // pixels across a cell
const WIDTH = GRID * FINE; // pixels of the server's picture
const LIKE = 0.7; // least correlation of the two; 60 pages that are drawn right had 0.82 and more, 14 of 15 with wrong letters 0.6 and less
const LITTLE = 0.001; // mean difference of neighbouring pixels: too little to compare

/**
 * @param {HTMLCanvasElement} canvas the page as it was drawn here
 * @param {string} id
 * @param {number} page
 * @returns {Promise<boolean>} false where it plainly does not
 */
export async function looksRight(canvas, id, page) {
  const image = new Image();
  image.src = pageAddress(id, page, { start: 0, end: 0 }, WIDTH);
  await image.decode();
  const [mine, theirs] = [inkOf(canvas), inkOf(image)];
  if (!mine || !theirs || sum(theirs) / theirs.length < LITTLE) return true;
  return correlation(mine, theirs) >= LIKE;
}

/** How much there is to see in each cell of a picture: letters have much, fills have nothing. @param {HTMLCanvasElement | HTMLImageElement} picture */
function inkOf(picture) {
  const side = GRID * FINE;
  const small = document.createElement("canvas");
  small.width = small.height = side;
  const context = small.getContext("2d", { willReadFrequently: true });
  if (!context) return null;
  context.imageSmoothingQuality = "high";
  context.drawImage(picture, 0, 0, side, side);
  const { data } = context.getImageData(0, 0, side, side);
  const cells = new Float64Array(GRID * GRID);
  const light = (/** @type {number} */ at) => (Number(data[at]) + Number(data[at + 1]) + Number(data[at + 2])) / 765;
  for (let y = 1; y < side; y++) {
    for (let x = 1; x < side; x++) {
      const at = 4 * (y * side + x);
      const step = Math.abs(light(at) - light(at - 4)) + Math.abs(light(at) - light(at - 4 * side));
      const cell = Math.floor(y / FINE) * GRID + Math.floor(x / FINE);
      cells[cell] = Number(cells[cell]) + step / FINE / FINE;
    }
  }
  return cells;
}

/** @param {Float64Array} cells */
function sum(cells) {
  return cells.reduce((all, each) => all + each, 0);
}

/** Pearson's. @param {Float64Array} a @param {Float64Array} b */
function correlation(a, b) {
  const [meanA, meanB] = [sum(a) / a.length, sum(b) / b.length];
  let [both, ownA, ownB] = [0, 0, 0];
  for (let i = 0; i < a.length; i++) {
    const [x, y] = [Number(a[i]) - meanA, Number(b[i]) - meanB];
    both += x * y;
    ownA += x * x;
    ownB += y * y;
  }
  return ownA && ownB ? both / Math.sqrt(ownA * ownB) : 0;
}
