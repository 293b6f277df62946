/**
 * "Put this on your site": the line that shows a chat about a collection, or a site that is kept, on another site, and what has to be
 * said before it works.
 * The one rule: a line that is pasted works as it stands, so nothing in it is a guess but what it says itself.
 */
import { copyText } from "../ask/copy.js";
import { t } from "../i18n.js";
import { me } from "../state.js";
import { html } from "../ui/html.js";
import { Button, coded, Dialog } from "../ui/index.js";

const SITE = "https://www.example.com";

/** For an attribute of HTML. @param {string} text */
function quoted(text) {
  return text.replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("<", "&lt;");
}

/** For a shell. @param {string} text */
function shelled(text) {
  return /^[\w.-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/** @param {{name: string, kind?: "collection" | "site", close: () => void}} props */
export function OnASite({ name, kind = "collection", close }) {
  const users = me.value?.auth === "token";
  const own = kind === "site" ? "_site" : "";
  const open = `[access]\norigins = ["${SITE}"]${users ? "" : `\npublic = [${JSON.stringify(own ? `site:${name}` : name)}]`}`;
  const token = `citewell user add guest --role reader\ncitewell user token guest --widget --${kind} ${shelled(name)}`;
  const tag = `<script src="${location.origin}/widget.js" data-${kind}="${quoted(name)}"${users ? ' data-token="cw_…"' : ""} async></script>`;
  return html`<${Dialog} title=${t("library.on_a_site")} onClose=${close} wide>
    <p>${t(`library.site_intro${own}`)}</p>
    <ol class="lib-site">
      <li>${coded(t("library.site_open"))}<${Lines} text=${open} /></li>
      ${users && html`<li>${t(`library.site_token${own}`)}<${Lines} text=${token} /></li>`}
      <li>${t(users ? "library.site_tag_token" : "library.site_tag")}<${Lines} text=${tag} /></li>
    </ol>
    <p class="muted">${t(users ? "library.site_public" : "library.site_local")}</p>
    ${!users && html`<p class="muted">${coded(t("library.site_auth"))}</p>`}
  <//>`;
}

/** Lines to copy. @param {{text: string}} props */
function Lines({ text }) {
  return html`<div class="lib-lines"><pre tabindex="0"><code>${text}</code></pre>
    <${Button} small icon="copy" onClick=${() => copyText(text)}>${t("library.copy")}<//></div>`;
}
