/** The library: collections of documents, what goes into them, and what is found in them. */
import { get } from "../api.js";
import { Collection } from "../library/collection.js";
import { Collections } from "../library/collections.js";
import { changes, lookForJobs } from "../library/jobs.js";
import { t } from "../i18n.js";
import { me } from "../state.js";
import { html, useEffect, useState } from "../ui/html.js";
import { Busy, Problem, toast } from "../ui/index.js";

/** @param {{parts: string[], params: Record<string, string>}} props */
export default function Library({ parts: [name] }) {
  const mayEdit = me.value?.role !== "reader";
  useEffect(() => void lookForJobs().catch(toast), []);
  return html`<div class="view library">${name
    ? html`<${Collection} key=${name} name=${name} mayEdit=${mayEdit} />`
    : html`<${All} mayEdit=${mayEdit} />`}</div>`;
}

/** @param {{mayEdit: boolean}} props */
function All({ mayEdit }) {
  const [infos, setInfos] = useState(/** @type {any[] | null} */ (null));
  const [error, setError] = useState(/** @type {unknown} */ (null));
  const moved = changes.value;
  const load = () =>
    get("/collections").then(
      ({ collections }) => {
        setInfos(collections);
        setError(null);
      },
      setError,
    );
  useEffect(() => void load(), [moved]);
  if (error && !infos) return html`<${Problem} error=${error} retry=${load} />`;
  if (!infos) return html`<${Busy} label=${t("library.loading")} />`;
  return html`<${Collections} infos=${infos} mayEdit=${mayEdit} />`;
}
