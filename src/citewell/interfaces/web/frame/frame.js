/** The frame around every view: sidebar (a drawer on phones), the view, the source panel, and what is told over them. */

import { get } from "../api.js";
import { t } from "../i18n.js";
import { SourcePanel } from "../source/panel.js";
import { useConversations } from "../talks/conversations.js";
import { LOOK_AGAIN, me, online, route, user } from "../state.js";
import { coded } from "../ui/coded.js";
import { Asked } from "../ui/dialog.js";
import { StrayFiles } from "../ui/drop.js";
import { html, useEffect, useErrorBoundary, useRef, useState } from "../ui/html.js";
import { Busy, Problem } from "../ui/notice.js";
import { Toasts, toast } from "../ui/toast.js";
import { Keys } from "./palette.js";
import { Drawer, Sidebar, TopBar, useNarrow } from "./sidebar.js";
import { SignIn } from "./sign_in.js";
import { View } from "./view.js";

export function Frame() {
  const [error, setError] = useState(/** @type {unknown} */ (null));
  const who = me.value;
  const name = user.value;
  const look = () => {
    setError(null);
    get("/me").then((found) => (me.value = found), (failed) => me.value === undefined && setError(failed));
  };
  useEffect(() => {
    if (who === undefined) look();
  }, [who]);
  const before = useRef(name);
  useEffect(() => {
    // another name was chosen, on whichever part of the page
    if (before.current !== name && who?.auth === "none") look();
    before.current = name;
  }, [name]);

  const other = useOther(who);

  let inside;
  if (who && !other) inside = html`<${Inside} />`;
  else if (who === null) inside = html`<${SignIn} />`;
  else inside = html`<main class="alone">${error ? html`<${Problem} error=${error} retry=${look} />` : html`<${Busy} />`}</main>`;
  return html`${inside}<${Offline} /><${Toasts} /><${Asked} />`;
}

/** Whether another person has signed in than was here before: the page is loaded anew then, and keeps nothing of the first one's.
 * @param {import("../state.js").Me | null | undefined} who */
function useOther(who) {
  const first = useRef("");
  const name = who?.auth === "token" ? who.user_id : "";
  const other = Boolean(name && first.current && first.current !== name);
  useEffect(() => {
    if (other) location.reload();
    else if (name) first.current = name;
  }, [name]);
  return other;
}

function Inside() {
  const narrow = useNarrow();
  useConversations();
  const [drawer, setDrawer] = useState(false);
  useEffect(() => setDrawer(false), [route.value, narrow]);
  /** @param {Event} event the address has a route behind its `#`, so the link must not be followed */
  const skip = (event) => {
    event.preventDefault();
    document.getElementById("main")?.focus();
  };
  return html`<a class="skip" href="#main" onClick=${skip}>${t("frame.skip")}</a>
    <div class="frame">
      ${narrow
        ? html`<${TopBar} open=${() => setDrawer(true)} /><${Drawer} open=${drawer} onClose=${() => setDrawer(false)} />`
        : html`<aside class="sidebar" aria-label=${t("frame.sidebar")}><${Sidebar} /></aside>`}
      <${View} />
      <${Panel} />
      <${Keys} />
      <${StrayFiles} />
    </div>`;
}

function Panel() {
  const [error] = useErrorBoundary((failed) => toast(failed instanceof Error ? failed : String(failed), "problem"));
  return error ? null : html`<${SourcePanel} />`;
}

/** Tells that the server is gone, and looks for it until it is back. */
function Offline() {
  const gone = !online.value;
  useEffect(() => {
    if (!gone) return;
    const timer = setInterval(() => {
      get("/health").then(
        () => toast(t("frame.back_online"), "good"),
        () => undefined, // still gone
      );
    }, LOOK_AGAIN);
    return () => clearInterval(timer);
  }, [gone]);
  if (!gone) return html`<div class="offline-place" role="status"></div>`;
  return html`<div class="offline-place" role="status">
    <p class="offline"><strong>${t("frame.offline")}</strong> ${coded(t("frame.offline_hint"))}</p>
  </div>`;
}
