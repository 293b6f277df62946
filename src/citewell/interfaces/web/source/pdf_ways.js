/**
 * A PDF in the first way that works: drawn by pdf.js; where that draws other letters than are meant, by the server with pdf.js's
 * words over it; where pdf.js cannot read the file, by the server alone. The one rule: there is no other place that draws a PDF.
 */
import { html, useEffect, useState } from "../ui/html.js";
import { PdfView } from "./pdf.js";
import { PagePictures } from "./pictures.js";

/** @typedef {import("./load.js").Info} Info */
/** @typedef {import("./state.js").Citation} Citation */

/**
 * `onServer`: the server draws it from here on; `onFail`: there is no way.
 * @param {{info: Info, citation: Citation, onServer?: () => void, onFail: (error: unknown) => void}} props
 */
export function PdfInAWay({ info, citation, onServer, onFail }) {
  const [way, setWay] = useState(/** @type {"here" | "server" | "pictures"} */ ("here"));
  useEffect(() => {
    if (way !== "here") onServer?.();
  }, [way]);
  if (way === "pictures") return html`<${PagePictures} info=${info} citation=${citation} onFail=${onFail} />`;
  return html`<${PdfView} info=${info} citation=${citation} byServer=${way === "server"} onWrong=${() => setWay("server")}
    onFail=${() => setWay("pictures")} />`;
}
