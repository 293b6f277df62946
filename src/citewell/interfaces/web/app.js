/** Where the page begins. */

import { Frame } from "./frame/frame.js";
import { html, render } from "./ui/html.js";

const root = document.getElementById("app");
if (root) render(html`<${Frame} />`, root);
