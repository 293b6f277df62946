/** `#/source/DOC?page=&start=&end=`: where a sentence is from, for links from elsewhere. */
import { html } from "../ui/html.js";
import { Alone } from "../source/alone.js";

/** @param {{parts: string[], params: Record<string, string>}} props */
export default function Source({ parts, params }) {
  return html`<${Alone} id=${parts[0] ?? ""} params=${params} />`;
}
