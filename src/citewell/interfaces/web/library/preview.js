/**
 * How a document or a file would be cut: its passages in order, or the ways side by side. The one rule: what a passage repeats of the
 * one before looks different, so that the cuts can be seen.
 */
import { get, upload } from "../api.js";
import { t } from "../i18n.js";
import { said } from "../said.js";
import { figure, percent } from "../ui/figures.js";
import { html, useEffect, useState } from "../ui/html.js";
import { Badge, Busy, Button, Dialog, Problem, Table } from "../ui/index.js";
import { CutFields, cutOf, saidOf } from "./cut_fields.js";

/**
 * @typedef {{n: number, start: number, end: number, page: number | null, heading_path: string[], tokens: number, kind: string,
 *   repeats: number, text: string}} Chunk
 * @typedef {{chunks: number, summaries: number, tokens_mean: number, tokens_min: number, tokens_max: number, sentences: number,
 *   cut_sentences: number, seconds: number}} Totals
 * @typedef {{chunking: {chunker: string, tokens: number, overlap: number}, totals: Totals, chunks: Chunk[], summaries: Chunk[]}} Preview
 * @typedef {{title: string, warnings: string[], previews: Preview[]}} Previews
 * @typedef {{doc_id: string, title: string} | {file: File}} Subject
 */

const A_PAGE = 40;
const COMPARED = ["structure", "sentences", "fixed"]; // by meaning takes minutes
const WAIT = 400; // ms after the last stroke before it is cut anew

/** @param {Subject} subject @param {import("./cut_fields.js").Cut} cut @param {AbortSignal} signal @returns {Promise<Previews>} */
function asked(subject, cut, signal) {
  const { chunker, ...sizes } = saidOf(cut);
  const query = new URLSearchParams(Object.entries(sizes).map(([name, value]) => [name, String(value)]));
  const ways = chunker === "compare" ? COMPARED : chunker ? [String(chunker)] : [];
  for (const each of ways) query.append("chunker", each);
  if ("doc_id" in subject) return get(`/documents/${subject.doc_id}/chunks?${query}`, {}, { signal });
  const form = new FormData();
  form.append("file", subject.file, subject.file.name);
  return upload(`/chunks?${query}`, form, undefined, { signal });
}

/** `start`: how it is cut first. @param {{subject: Subject, start?: Record<string, any>, own?: string}} props */
export function Cuts({ subject, start, own = t("library.chunker_default") }) {
  const [cut, setCut] = useState(cutOf(start));
  const [found, setFound] = useState(/** @type {Previews | null} */ (null));
  const [error, setError] = useState(/** @type {unknown} */ (null));
  const [busy, setBusy] = useState(true);
  const [first, setFirst] = useState(true);
  useEffect(() => {
    const line = new AbortController();
    const timer = setTimeout(look, first ? 0 : WAIT);
    async function look() {
      setFirst(false);
      setBusy(true);
      setError(null);
      try {
        setFound(await asked(subject, cut, line.signal));
      } catch (problem) {
        if (!line.signal.aborted) setError(problem);
      }
      if (!line.signal.aborted) setBusy(false);
    }
    return () => {
      clearTimeout(timer);
      line.abort();
    };
  }, [subject, cut]);
  const one = found?.previews.length === 1 ? found.previews[0] : null;
  return html`<div class="lib-preview" aria-busy=${busy ? "true" : "false"}>
    <${CutFields} cut=${cut} change=${setCut} own=${own} more=${[["compare", t("library.compare")]]} />
    ${busy && html`<${Busy} label=${t("library.working")} small />`}
    <${Problem} error=${error} />
    ${!error && found?.warnings.map((text) => html`<p key=${text}><${Badge} kind="warn">${said(text)}<//></p>`)}
    ${!error && one && html`<${Passages} key=${`${one.chunking.chunker} ${one.totals.chunks}`} preview=${one} />`}
    ${!error && found && !one && html`<${Compared} previews=${found.previews} />`}
  </div>`;
}

/** @param {{subject: {doc_id: string, title: string}, close: () => void}} props */
export function PreviewDialog({ subject, close }) {
  return html`<${Dialog} title=${t("library.preview_title", { title: subject.title })} wide onClose=${close}>
    <${Cuts} subject=${subject} own=${t("library.preview_own")} />
  <//>`;
}

/** @param {{preview: Preview}} props */
function Passages({ preview }) {
  const [most, setMost] = useState(A_PAGE);
  const { totals, chunks, chunking } = preview;
  const sums = { ...totals, mean: figure(totals.tokens_mean, 0), min: totals.tokens_min, max: totals.tokens_max };
  const cut = percent(totals.cut_sentences, 1);
  return html`<p class="lib-sums" role="status"><strong>${t(`library.chunker_${chunking.chunker}`)}, ${t("library.chunk_tokens", { n: chunking.tokens })},
      ${" "}${t("library.overlap")} ${chunking.overlap}.</strong>${" "}${t("library.preview_sums", { ...sums, cut })}</p>
    <ol class="lib-chunks">${chunks.slice(0, most).map((chunk) => html`<${Passage} key=${chunk.n} chunk=${chunk} />`)}</ol>
    ${chunks.length > most && html`<${Button} onClick=${() => setMost(most + A_PAGE)}>
      ${t("library.show_more", { n: Math.min(A_PAGE, chunks.length - most), total: chunks.length })}<//>`}`;
}

/** Offsets count characters, not the halves that a JavaScript text is made of. @param {{chunk: Chunk}} props */
function Passage({ chunk }) {
  const letters = chunk.repeats ? Array.from(chunk.text) : [];
  const repeated = letters.slice(0, chunk.repeats).join("");
  const place = [
    chunk.page !== null && t("library.page", { n: chunk.page }),
    chunk.heading_path.join(" › "),
    t("library.chunk_tokens", { n: chunk.tokens }),
    t(`library.chunk_kind_${chunk.kind}`),
    chunk.repeats > 0 && t("library.chunk_repeats", { n: chunk.repeats }),
  ].filter(Boolean);
  return html`<li class="lib-chunk">
    <h3>${t("library.chunk_n", { n: chunk.n })}</h3><p class="muted">${place.join(" · ")}</p>
    <p class="lib-chunk-text">${repeated && html`<span class="lib-repeats">${repeated}</span>`}${chunk.text.slice(repeated.length)}</p>
  </li>`;
}

/** @param {{previews: Preview[]}} props */
function Compared({ previews }) {
  const rows = previews.map(({ chunking, totals }) => ({ ...totals, way: t(`library.chunker_${chunking.chunker}`) }));
  const columns = [
    { key: "way", label: t("library.chunker") },
    { key: "chunks", label: t("library.chunks"), align: /** @type {const} */ ("end") },
    { key: "tokens_mean", label: t("library.mean"), align: /** @type {const} */ ("end") },
    { key: "tokens_min", label: t("library.least"), align: /** @type {const} */ ("end") },
    { key: "tokens_max", label: t("library.most"), align: /** @type {const} */ ("end") },
    { key: "cut_sentences", label: t("library.sentences_cut"), align: /** @type {const} */ ("end"),
      render: (/** @type {Totals} */ row) => percent(row.cut_sentences, 1) },
    { key: "summaries", label: t("library.summaries"), align: /** @type {const} */ ("end") },
    { key: "seconds", label: t("library.seconds"), align: /** @type {const} */ ("end"), render: (/** @type {Totals} */ row) => row.seconds.toFixed(2) },
  ];
  return html`<${Table} caption=${t("library.compare")} columns=${columns} rows=${rows} id=${(/** @type {any} */ row) => row.way} />`;
}
