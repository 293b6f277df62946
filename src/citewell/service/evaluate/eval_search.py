"""Search for one question of a data set, and rate what was found against its gold. What is measured
is the search that people get, with the question joined to its history as the agent does it.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field

from citewell.measure import ranking
from citewell.measure.dataset import Question
from citewell.measure.report import Found, Searched
from citewell.retrieve.confidence import BEST, measure_signals
from citewell.retrieve.query import Context
from citewell.runtime.app import App
from citewell.service.ask.options import SearchOptions
from citewell.service.ask.search import find_hits
from citewell.service.evaluate.corpus import Corpus
from citewell.skills.dialogue.reference import Readings, build_readings
from citewell.store.index.protocol import Filter
from citewell.store.library.documents import DocumentInfo
from citewell.text.entities import extract_search_names
from citewell.text.normalize import normalize_text
from citewell.types import Document, Hit

HITS = 50  # passages of one search: enough for ten documents
SHOWN, LONGEST = 5, 600  # passages kept in an item, and characters of each
Unit = tuple[str, int]  # a document and, where pages count, one of them; else 0


@dataclass(frozen=True, slots=True)
class Asked:
    """A question with the text it is searched by, and the grades of its gold documents."""

    question: Question
    read: Readings
    gold: Mapping[str, float]

    @property
    def pages(self) -> set[int]:
        return set(self.question.gold_pages)


@dataclass(slots=True)
class Shelf:
    """A corpus as questions see it: names, languages and texts of its documents."""

    corpus: Corpus
    infos: dict[str, DocumentInfo]
    means: dict[str, set[str]]
    contents: dict[str, Document] = field(default_factory=dict)

    @classmethod
    async def of(cls, corpus: Corpus) -> Shelf:
        infos, means = await corpus.index_documents()
        return cls(corpus, infos, means)

    @property
    def app(self) -> App:
        return self.corpus.app

    def prepare_question(self, question: Question) -> Asked:
        """A document that is not there keeps its own name, and is never found."""
        read = build_readings(normalize_text(question.question), question.history)
        gold = {
            doc: grade
            for name, grade in question.grades.items()
            for doc in sorted(self.means.get(name, {name}))
        }
        return Asked(question, read, gold)

    def find_language_pair(self, asked: Asked) -> str:
        """`zh` where question and a gold document are Chinese, `zh→en` where all are English."""
        lang, langs = (
            asked.question.lang,
            {self.infos[doc].lang for doc in asked.gold if doc in self.infos},
        )
        return lang if not langs or lang in langs else f"{lang}→{min(langs)}"

    async def content(self, doc: str) -> Document:
        if doc not in self.contents:
            self.contents[doc] = await self.app.catalog.content(doc)
        return self.contents[doc]

    async def covers(self, doc: str, start: int, end: int) -> set[int]:
        """The pages that a span covers."""
        return {
            page.number
            for page in (await self.content(doc)).pages
            if page.start < end and start < page.end
        }

    async def is_gold_span(self, asked: Asked, doc: str, start: int, end: int) -> bool:
        """Whether a span is of a gold document and, where pages are given, on one of them."""
        if doc not in asked.gold:
            return False
        return not asked.pages or bool(await self.covers(doc, start, end) & asked.pages)


async def search_question(shelf: Shelf, asked: Asked, strategy: str) -> Searched:
    """One search, rated by document and, where gold pages are given, by page."""
    started = time.perf_counter()
    hits, sure = await _find_hits(
        shelf, asked, strategy, Filter(collections=(shelf.corpus.collection,))
    )
    seconds = time.perf_counter() - started
    gold = {(doc, 0): grade for doc, grade in asked.gold.items()}
    places = ranking.build_ranking([frozenset({(hit.doc_id, 0)}) for hit in hits], gold)
    return Searched(
        figures=ranking.measure_ranking(places, gold) if gold else None,
        pages=await _rate_by_page(shelf, asked, hits) if gold and asked.pages else None,
        first=ranking.find_first_place(places[: ranking.DEPTH]),
        held=any(hit.doc_id in asked.gold for hit in hits[:BEST]),
        confidence=sure,
        signals=measure_signals(asked.read.text, hits) if hits else {},
        without=await _search_without_gold(shelf, asked, strategy) if gold else None,
        seconds=seconds,
        found=[await _build_found(shelf, asked, hit) for hit in hits[:SHOWN]],
    )


async def _search_without_gold(
    shelf: Shelf, asked: Asked, strategy: str
) -> dict[str, float] | None:
    """The signals of the search without the gold documents; None where no other is there."""
    rest = tuple(doc for doc in shelf.infos if doc not in asked.gold)
    if not rest:
        return None
    hits, _ = await _find_hits(
        shelf, asked, strategy, Filter(collections=(shelf.corpus.collection,), doc_ids=rest)
    )
    return measure_signals(asked.read.text, hits) if hits else None


async def _find_hits(
    shelf: Shelf, asked: Asked, strategy: str, where: Filter
) -> tuple[list[Hit], float]:
    """The passages found, best first, and how sure the search is of the best."""
    app, read = shelf.app, asked.read
    vector = await app.embedder.query(read.text)
    context = (
        Context(read.context, await app.embedder.query(read.context), read.weight)
        if read.context
        else None
    )
    options, names = SearchOptions(strategy=strategy), extract_search_names(asked.question.question)
    found = await find_hits(app, options, read.text, vector, names, where, HITS, context)
    return found.hits, found.confidence


async def _rate_by_page(shelf: Shelf, asked: Asked, hits: list[Hit]) -> dict[str, float]:
    """The same figures with pages for documents: a passage stands for the pages it covers."""
    gold: dict[Unit, float] = {(doc, page): 1.0 for doc in asked.gold for page in asked.pages}
    units = [
        frozenset((h.doc_id, page) for page in await shelf.covers(h.doc_id, h.start, h.end))
        for h in hits
    ]
    return ranking.measure_ranking(ranking.build_ranking(units, gold), gold)


async def _build_found(shelf: Shelf, asked: Asked, hit: Hit) -> Found:
    return Found(
        doc_id=shelf.corpus.names.get(hit.uri, hit.uri),
        title=hit.title or hit.uri,
        page=hit.page,
        section=" › ".join(hit.heading_path),
        gold=await shelf.is_gold_span(asked, hit.doc_id, hit.start, hit.end),
        score=hit.score,
        text=hit.text[:LONGEST],
    )
