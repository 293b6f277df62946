/** Links by which others read a conversation. The one rule: before one is made it is said who will read what. */
import { del, get, post } from "../api.js";
import { t } from "../i18n.js";
import { me } from "../state.js";
import { Busy, Button, day, Dialog, Field, IconButton, Problem, Select, toast } from "../ui/index.js";
import { html, useEffect, useState } from "../ui/html.js";
import { copyText } from "../ask/copy.js";

/** @typedef {import("../ask/types.js").Session} Session */
/** @typedef {import("../ask/types.js").Share} Share */

const DAYS = [1, 7, 30, 365];

/** @param {{session: Session, close: () => void}} props */
export function ShareDialog({ session, close }) {
  const path = `/sessions/${encodeURIComponent(session.session_id)}/shares`;
  const signsIn = me.value?.auth === "token";
  const [shares, setShares] = useState(/** @type {Share[] | null} */ (null));
  const [days, setDays] = useState("30");
  const [names, setNames] = useState("");
  const [error, setError] = useState(/** @type {unknown} */ (null));
  const look = () => get(path).then(({ shares: found }) => setShares(found), setError);
  useEffect(() => void look(), []);
  const make = async (/** @type {Event} */ event) => {
    event.preventDefault();
    const readers = names.split(/[,，、;；\s]+/).filter(Boolean);
    try {
      const made = await post(path, { days: Number(days), readers });
      setError(null);
      setNames("");
      await look();
      await copyText(linkOf(made));
    } catch (problem) {
      setError(problem);
    }
  };
  const revoke = async (/** @type {Share} */ share) => {
    try {
      await del(`${path}/${encodeURIComponent(share.share_id)}`);
      toast(t("shared.revoked"), "good");
      await look();
    } catch (problem) {
      setError(problem);
    }
  };
  return html`<${Dialog} title=${t("shared.title")} onClose=${close}>
    <p>${t("shared.what")}</p>
    <p>${t(signsIn ? "shared.to_users" : "shared.to_this_machine")}</p>
    <form class="share-form" onSubmit=${make}>
      <${Select} label=${t("shared.lasts")} value=${days} options=${DAYS.map((n) => [String(n), t("shared.days", { n })])} onChange=${setDays} />
      ${signsIn && html`<${Field} label=${t("shared.readers")} hint=${t("shared.readers_hint")} value=${names}
        onInput=${(/** @type {any} */ event) => setNames(event.currentTarget.value)} />`}
      <${Button} kind="primary" type="submit" icon="link">${t("shared.make")}<//>
    </form>
    ${error && html`<${Problem} error=${error} />`}
    ${!shares && !error && html`<${Busy} />`}
    ${shares && shares.length > 0 && html`<h3 class="share-head">${t("shared.links")}</h3>
      <ul class="shares">${shares.map((share) => html`<li key=${share.share_id}>
        <input type="text" readonly aria-label=${t("shared.link")} value=${linkOf(share)} onFocus=${(/** @type {any} */ event) => event.currentTarget.select()} />
        <${IconButton} name="copy" label=${t("shared.copy")} onClick=${() => copyText(linkOf(share))} />
        <${Button} small onClick=${() => revoke(share)}>${t("shared.revoke")}<//>
        <small class="muted">${t("shared.until", { day: day(share.expires_at) })} · ${share.readers.join(t("ask.joint")) || t(signsIn ? "shared.everybody" : "shared.here")}</small>
      </li>`)}</ul>`}
  <//>`;
}

/** @param {Share} share */
function linkOf(share) {
  return `${location.origin}${location.pathname}#/shared/${share.share_id}`;
}
