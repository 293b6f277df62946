/** `#/traces`: how answers came about. */
import { html } from "../ui/html.js";
import { List } from "../traces/list.js";
import { One } from "../traces/one.js";

/** @param {{ parts: string[], params: Record<string, string> }} props */
export default function Traces({ parts, params }) {
  const id = parts[0];
  return id ? html`<${One} id=${id} tab=${params["tab"] ?? ""} key=${id} />` : html`<${List} />`;
}
