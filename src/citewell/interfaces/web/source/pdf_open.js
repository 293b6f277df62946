/** A PDF opened by pdf.js, loaded when the first one is asked for. The one rule: nothing in the file is ever run. */
import { bytesOf } from "./load.js";

/** @typedef {import("pdfjs-dist").PDFDocumentProxy} Pdf */
/** @typedef {typeof import("pdfjs-dist")} Library */
/** @typedef {{library: Library, pdf: Pdf, close: () => void}} OpenPdf */

const HOME = new URL("../vendor/pdfjs-dist/", import.meta.url).href;

/** @type {Promise<Library> | undefined} */
let loading;

async function library() {
  loading ??= import("pdfjs-dist");
  const found = await loading.catch((error) => {
    loading = undefined; // the next one asks again
    throw error;
  });
  found.GlobalWorkerOptions.workerSrc = `${HOME}build/pdf.worker.min.mjs`;
  return found;
}

/** Raises what pdf.js says of a file that it cannot read, and ApiError. @param {import("./load.js").Info} info @returns {Promise<OpenPdf>} */
export async function openPdf(info) {
  const [found, bytes] = await Promise.all([library(), bytesOf(info)]);
  const task = found.getDocument({
    data: new Uint8Array(bytes.slice(0)), // it is handed to the worker, and ours is kept
    cMapUrl: `${HOME}cmaps/`,
    cMapPacked: true,
    standardFontDataUrl: `${HOME}standard_fonts/`,
    wasmUrl: `${HOME}wasm/`,
    useWasm: false, // our policy allows none; the same in JavaScript lies beside it
    useWorkerFetch: false,
    enableXfa: false,
    verbosity: found.VerbosityLevel.ERRORS,
  });
  const close = () => void task.destroy().catch(() => undefined);
  try {
    const pdf = await task.promise;
    if (pdf.numPages < 1) throw new Error("no pages");
    return { library: found, pdf, close };
  } catch (error) {
    close();
    throw error;
  }
}
