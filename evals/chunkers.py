"""The four chunkers on retrieval: which of them puts the passage asked for among the first.

    .venv/bin/python evals/chunkers.py --articles 5 --json out.json

Two sets of the evaluation data: articles of SQuAD 2.0, each one document again (a hit: the passage
holds an answer inside the paragraph that the question was asked of), and the papers of `paper_qa`
(a hit: the passage stands on a page that holds the evidence). The one rule: everything but the
chunker is the same: budget, overlap, embedder, search.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from citewell.config import Settings, load_settings
from citewell.ingest import parse
from citewell.ingest.chunk.chunkers import CHUNKERS
from citewell.retrieve.query import Query
from citewell.retrieve.strategies import STRATEGIES
from citewell.runtime.app import App
from citewell.service.library.chunking import cut_document_as, resolve_chunking
from citewell.service.library.embedding import embed_pending
from citewell.store.index.protocol import Filter
from citewell.types import Document, Hit

DATA = Path(__file__).resolve().parent.parent.parent / "shared" / "data"
DEPTH = 5
Judge = Callable[[Hit], bool]


@dataclass(frozen=True, slots=True)
class Source:
    """A document and its questions, each with what makes a hit right. `alone`: they are asked of
    this document alone (what "the paper" says), and not of all of them.
    """

    name: str
    document: Document
    questions: list[tuple[str, Judge]]
    alone: bool = False


def read(path: Path) -> list[dict[str, Any]]:
    return [
        json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()
    ]


async def squad(settings: Settings, articles: int) -> list[Source]:
    """The shortest articles, their paragraphs joined."""
    folder = DATA / "qa_refusal_en"
    paragraphs: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for record in read(folder / "squad2_corpus.jsonl"):
        paragraphs[record["doc_id"].partition("#")[0]].append(record)
    questions = [q for q in read(folder / "squad2_questions.jsonl") if q["answerable"]]
    shortest = sorted(paragraphs, key=lambda name: sum(len(p["text"]) for p in paragraphs[name]))[
        :articles
    ]
    found = []
    for name in shortest:
        document = await parse(
            "\n\n".join(p["text"] for p in paragraphs[name]).encode(),
            f"{name}.txt",
            settings.ingest,
        )
        spans = {p["doc_id"]: span(document.text, p["text"]) for p in paragraphs[name]}
        own = [q for q in questions if q["article"] == name]
        found.append(
            Source(
                name, document, [(q["question"], answered(q, spans, document.text)) for q in own]
            )
        )
    return found


def span(text: str, part: str) -> tuple[int, int]:
    start = text.find(part.strip()[:80])
    return (start, start + len(part.strip())) if start >= 0 else (0, 0)


def answered(question: dict[str, Any], spans: dict[str, tuple[int, int]], text: str) -> Judge:
    """Whether a hit holds an answer, whole, inside the gold paragraph."""
    start, end = spans[question["gold_doc_ids"][0]]
    places = [
        (at, at + len(a)) for a in question["answers"] if (at := text.find(a, start, end)) >= 0
    ]
    return lambda hit: any(hit.start <= first and last <= hit.end for first, last in places)


async def papers(settings: Settings) -> list[Source]:
    folder = DATA / "paper_qa"
    found = []
    asked = [q for q in read(folder / "questions.jsonl") if q["answerable"] and q["evidence_pages"]]
    for path in sorted((folder / "pdf").glob("*.pdf")):
        document = await parse(path.read_bytes(), path.name, settings.ingest)
        own = [q for q in asked if q["pdf"] == path.name]
        found.append(
            Source(
                path.name,
                document,
                [(q["question"], on_page(document, q["evidence_pages"])) for q in own],
                alone=True,
            )
        )
    return found


def on_page(document: Document, pages: Sequence[int]) -> Judge:
    spans = [(page.start, page.end) for page in document.pages if page.number in pages]
    return lambda hit: any(max(hit.start, start) < min(hit.end, end) for start, end in spans)


async def measure(settings: Settings, sources: Sequence[Source], chunker: str) -> dict[str, Any]:
    """A library of its own for each chunker, so that no vector is had for nothing."""
    way = resolve_chunking(settings.ingest, {"chunker": chunker})
    with tempfile.TemporaryDirectory() as home:
        async with App(settings.model_copy(update={"home": Path(home), "llm": "none"})) as app:
            cutting = embedding = 0.0
            chunks = 0
            for source in sources:
                began = time.perf_counter()
                cut = [
                    each
                    for each in await cut_document_as(
                        source.document, way, app.embedder, settings.ingest
                    )
                    if each.kind != "summary"
                ]
                cutting, chunks = cutting + time.perf_counter() - began, chunks + len(cut)
                await app.catalog.put(
                    source.name, source.name, source.name.encode(), source.document, cut
                )
            began = time.perf_counter()
            await embed_pending(app)
            embedding = time.perf_counter() - began
            ranks = [
                await rank(app, source, *question)
                for source in sources
                for question in source.questions
            ]
    return {
        "chunker": chunker,
        "questions": len(ranks),
        "hit@1": round(sum(r == 1 for r in ranks) / len(ranks), 3),
        f"hit@{DEPTH}": round(sum(0 < r <= DEPTH for r in ranks) / len(ranks), 3),
        "chunks": chunks,
        "cut_s": round(cutting, 1),
        "embed_s": round(embedding, 1),
    }


async def rank(app: App, source: Source, question: str, right: Judge) -> int:
    """The place of the first right hit, from 1; 0 where none is among the first."""
    where = Filter(collections=(source.name,)) if source.alone else Filter()
    query = Query(question, await app.embedder.query(question), where=where, k=DEPTH)
    found = await STRATEGIES["direct_chunk_search"](app.index, query)
    return next(
        (n for n, hit in enumerate(found.hits, 1) if hit.collection == source.name and right(hit)),
        0,
    )


async def run(arguments: argparse.Namespace) -> dict[str, list[dict[str, Any]]]:
    settings = load_settings()
    sets = {}
    if arguments.articles:
        sets["squad2 articles"] = await squad(settings, arguments.articles)
    if not arguments.no_papers:
        sets["paper_qa"] = await papers(settings)
    results: dict[str, list[dict[str, Any]]] = {}
    for name, sources in sets.items():
        print(f"\n{name}: {sum(len(s.document.text) for s in sources):,} characters")
        for chunker in arguments.chunkers or list(CHUNKERS):
            row = await measure(settings, sources, chunker)
            results.setdefault(name, []).append(row)
            print("  ".join(f"{key} {value}" for key, value in row.items()), flush=True)
    return results


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("chunkers", nargs="*", help="which of them (all)")
    parser.add_argument(
        "--articles", type=int, default=5, help="how many SQuAD articles, the shortest first"
    )
    parser.add_argument("--no-papers", action="store_true", help="leave the papers out")
    parser.add_argument("--json", type=Path, help="write the figures here")
    arguments = parser.parse_args()
    results = asyncio.run(run(arguments))
    if arguments.json:
        arguments.json.write_text(json.dumps(results, indent=2), encoding="utf-8")


if __name__ == "__main__":
    main()
