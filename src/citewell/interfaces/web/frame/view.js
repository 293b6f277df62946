/** The part of the page that the address names. Its file is loaded when it is first opened; one that fails breaks no other. */

import { get } from "../api.js";
import { t } from "../i18n.js";
import { closeSource } from "../source/state.js";
import { online, route } from "../state.js";
import { Button } from "../ui/button.js";
import { html, useEffect, useErrorBoundary, useRef, useState } from "../ui/html.js";
import { Busy, Empty, Problem } from "../ui/notice.js";
import { VIEWS } from "../views/index.js";
import { subject } from "./subject.js";

/** @type {Map<string, import("preact").ComponentType<any>>} */
const loaded = new Map();

/** The row of the path that is open; undefined for one that does not exist. */
export function here() {
  const name = route.value.parts[0] ?? "ask";
  return VIEWS.find((row) => row.path === name);
}

export function View() {
  const row = here();
  const main = useRef(/** @type {HTMLElement | null} */ (null));
  const first = useRef(true);
  const title = [row && subject.value, row && t(row.label), "Citewell"].filter(Boolean).join(" · ");
  useEffect(() => {
    document.title = title;
  }, [title]);
  useEffect(() => {
    // whoever changes the view with the keyboard or a screen reader is at its beginning; the first load leaves the focus alone
    if (!first.current && !main.current?.contains(document.activeElement)) main.current?.focus({ preventScroll: true });
    if (!first.current) closeSource(); // it belongs to what was shown beside it
    first.current = false;
    main.current?.scrollTo(0, 0);
  }, [row?.path]);
  const inside = row
    ? html`<${Part} key=${row.path} row=${row} />`
    : html`<${Lost} />`;
  return html`<main id="main" class=${`main in-${row?.path ?? "nowhere"}`} tabindex="-1" ref=${main}>${inside}</main>`;
}

/** @param {{row: import("../views/index.js").Row}} props */
function Part({ row }) {
  const [found, setFound] = useState(() => ({ component: loaded.get(row.path), error: /** @type {unknown} */ (null) }));
  const [broken] = useErrorBoundary((error) => console.error(error));
  useEffect(() => {
    if (found.component) return;
    row.load().then(
      (module) => {
        loaded.set(row.path, module.default);
        setFound({ component: module.default, error: null });
      },
      (error) => setFound({ component: undefined, error }),
    );
  }, []);
  const ready = Boolean(found.component || found.error || broken);
  useEffect(() => {
    if (!ready) return;
    document.documentElement.dataset.view = row.path; // tests wait for it, styles may use it
    return () => {
      // the view that comes says its own name before the one that goes is cleaned up
      if (document.documentElement.dataset.view === row.path) delete document.documentElement.dataset.view;
    };
  }, [ready]);
  if (found.error || broken) return html`<${Broken} error=${found.error ?? broken} />`;
  if (!found.component) return html`<${Busy} label=${t("frame.loading", { view: t(row.label) })} />`;
  return html`<${found.component} parts=${route.value.parts.slice(1)} params=${route.value.params} />`;
}

/** @param {{error: unknown}} props */
function Broken({ error }) {
  useEffect(() => void get("/health").catch(() => undefined), []); // a part that cannot be loaded may mean that the server is gone
  const gone = useRef(false);
  useEffect(() => {
    if (gone.current && online.value) location.reload(); // no script that failed is asked for again
    gone.current = !online.value;
  }, [online.value]);
  return html`<div class="page">
    <h1>${t("frame.view_broken")}</h1>
    <p>${t("frame.view_broken_hint")}</p>
    <${Problem} error=${error} />
    <${Button} icon="refresh" onClick=${() => location.reload()}>${t("frame.reload")}<//>
  </div>`;
}

function Lost() {
  const action = html`<${Button} kind="primary" icon="ask" href="#/ask">${t("frame.to_ask")}<//>`;
  return html`<div class="page"><${Empty} icon="search" title=${t("frame.unknown_view")} text=${t("frame.unknown_view_text")} action=${action} /></div>`;
}
