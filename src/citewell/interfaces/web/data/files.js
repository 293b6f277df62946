/** Rows as a file that the server writes: every one of them, read anew. The one rule: that a file does not hold all is said. */
import { postForFile } from "../api.js";
import { t } from "../i18n.js";
import { lang } from "../state.js";
import { figure } from "../ui/figures.js";
import { toast } from "../ui/index.js";
import { downloadBlob } from "./cells.js";

/** @param {import("../ask/types.js").TableData} data @param {"csv" | "xlsx"} form */
export async function exportRows({ source, sql }, form) {
  const response = await postForFile(`/data/sources/${encodeURIComponent(source)}/export`, { format: form }, { sql, lang: lang.value });
  downloadBlob(`${source}.${form}`, await response.blob());
  if (response.headers.get("Citewell-Truncated") === "true") {
    toast(t("data.file_cut", { n: figure(Number(response.headers.get("Citewell-Rows"))) }), "problem");
  }
}
