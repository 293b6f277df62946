/** Documents and passages in the source panel. The one rule: the panel comes when it is first needed, and its want is told. */
import { t } from "../i18n.js";
import { toast } from "../ui/toast.js";

const panel = () => import("../source/panel.js");

/** @param {{doc_id: string, title: string, uri: string}} doc */
export async function openWhole({ doc_id, title, uri }) {
  try {
    (await panel()).openDocument({ doc_id, title, uri });
  } catch {
    toast(t("library.no_panel"), "problem");
  }
}

/**
 * A passage where it stands in its document. `score` is of another scale than a citation's.
 * @param {{n: number, doc_id: string, title: string, uri: string, page: number | null, section: string, text: string, start: number,
 *   end: number}} passage
 */
export async function openPassage({ n, doc_id, title, uri, page, section, text, start, end }) {
  const origin = /^https?:\/\//i.test(uri) ? /** @type {const} */ ("web") : /** @type {const} */ ("document");
  const status = /** @type {const} */ ("verified");
  const citation = { n, origin, doc_id, title, uri, page, section, quote: text, start, end, boxes: [], score: 0, status, fetched_at: null };
  try {
    (await panel()).openSource(citation);
  } catch {
    toast(t("library.no_panel"), "problem");
  }
}
