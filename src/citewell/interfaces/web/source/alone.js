/**
 * A source on a page of its own, where a link to a citation leads: its title, the words, the place; and a way to ask about it.
 * The one rule: the server says what stands at the place that the link names; where that is not what was cited, it is told.
 */
import { ApiError, get } from "../api.js";
import { chooseAgent, choose } from "../ask/choices.js";
import { newTalk } from "../talks/conversations.js";
import { t } from "../i18n.js";
import { Button } from "../ui/button.js";
import { html, useEffect, useRef, useState } from "../ui/html.js";
import { Icon } from "../ui/icon.js";
import { Busy, Problem } from "../ui/notice.js";
import { Place, Quote, Tools } from "./head.js";
import { SourceView, useInfo } from "./view.js";

/** @typedef {import("./state.js").Citation} Citation */
/** @typedef {{citation: Citation | null, changed: boolean, error: unknown}} Placed */

const PLACE = ["start", "end", "words", "page"];

/** @param {{id: string, params: Record<string, string>}} props */
export function Alone({ id, params }) {
  const { placed, again } = useSpan(id, params);
  if (placed.error) return html`<div class="page"><h1>${t("source.panel")}</h1><${Problem} error=${placed.error} retry=${again} /></div>`;
  if (!placed.citation) return html`<div class="page"><h1 class="unseen">${t("source.panel")}</h1><${Busy} label=${t("source.loading")} /></div>`;
  return html`<${Shown} citation=${placed.citation} changed=${placed.changed} />`;
}

/** @param {{citation: Citation, changed: boolean}} props */
function Shown({ citation, changed }) {
  const found = useInfo(citation);
  const [asText, setAsText] = useState(false);
  const head = useRef(/** @type {HTMLHeadingElement | null} */ (null));
  const title = citation.title || found.info?.title || (found.gone ? t("source.gone") : citation.doc_id);
  useEffect(() => {
    document.title = `${title} · Citewell`;
  });
  useEffect(() => head.current?.focus({ preventScroll: true }), [citation]);
  const about = () => {
    chooseAgent("qa");
    choose({ collection: found.info?.collection ?? "", more: [], options: { doc_ids: [citation.doc_id] } }, "qa");
    newTalk();
  };
  return html`<article class="source-alone">
    <header class="panel-head">
      <div class="panel-top"><${Icon} name=${citation.origin === "web" ? "site" : "file"} /><h1 tabindex="-1" ref=${head}>${title}</h1></div>
      <${Place} citation=${citation} kind=${citation.origin} title=${title} found=${found} />
      ${changed && html`<p class="panel-note" role="status">${t("source.changed")}</p>`}
      ${citation.quote && html`<${Quote} text=${citation.quote} />`}
      <${Tools} citation=${citation} found=${found} asText=${asText} onText=${() => setAsText(!asText)}>
        ${found.info && html`<${Button} small kind="primary" icon="ask" onClick=${about}>${t("source.ask_about")}<//>`}
      <//>
    </header>
    <div class="panel-body"><${SourceView} citation=${citation} found=${found} asText=${asText} /></div>
  </article>`;
}

/** What stands at a place. @param {string} id @param {Record<string, string>} params */
function useSpan(id, params) {
  const [placed, setPlaced] = useState(/** @type {Placed} */ ({ citation: null, changed: false, error: null }));
  const [turn, setTurn] = useState(0);
  const place = JSON.stringify(PLACE.map((name) => params[name]));
  useEffect(() => {
    let left = false;
    const set = (/** @type {Placed} */ found) => !left && setPlaced(found);
    set({ citation: null, changed: false, error: null });
    spanOf(id, params).then(set, (error) => set({ citation: null, changed: false, error }));
    return () => void (left = true);
  }, [id, place, turn]);
  return { placed, again: () => setTurn(turn + 1) };
}

/** @param {string} id @param {Record<string, string>} params @returns {Promise<Placed>} */
async function spanOf(id, params) {
  const whole = { citation: bare(id, Number(params["page"]) || null), changed: false, error: null };
  if (!params["end"]) return whole;
  try {
    const asked = Object.fromEntries(PLACE.map((name) => [name, params[name]]));
    return { ...(await get(`/documents/${encodeURIComponent(id)}/span`, asked)), error: null };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    if (error.status === 404) return whole; // the view says that it is gone
    if (error.status === 422) return { ...whole, changed: true }; // it has no such place any more
    throw error;
  }
}

/** A document as a whole, or a page of it. @param {string} doc_id @param {number | null} page @returns {Citation} */
function bare(doc_id, page) {
  const nothing = { n: 0, title: "", uri: "", section: "", quote: "", start: 0, end: 0, boxes: [], score: 0, fetched_at: null };
  return { ...nothing, origin: "document", doc_id, page, status: "verified" };
}
