"""Search for passages, without an answer: what is found, where it stands, and how sure the search
is. The agents and this search ask through the same query, so what is seen here is what an answer is
made of.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import Field

from citewell.errors import CitewellError, InvalidInput
from citewell.messages import AnyText, Text
from citewell.models.base import Embedder, Vector
from citewell.retrieve.cross_lingual import remove_language_mean
from citewell.retrieve.query import Context, Found, Query
from citewell.retrieve.snippet import extract_snippet
from citewell.retrieve.strategies import STRATEGIES
from citewell.runtime.app import App
from citewell.service.ask.options import SearchOptions, build_filter, get_strategy, parse_options
from citewell.store.index.protocol import Filter
from citewell.text.entities import extract_search_names
from citewell.text.normalize import normalize_text
from citewell.text.sentences import detect_language
from citewell.types import Hit, Shown

LONGEST = 2_000  # characters of a query
MOST = 100  # passages


class SearchRequest(SearchOptions):
    """`collection` None and `collections` empty: the default one."""

    query: str
    collection: str | None = None
    collections: list[str] = Field(default=[], max_length=100)
    k: int = Field(10, ge=1, le=MOST)


class Passage(Shown):
    """A passage found. `marks` are (start, end) of the question's words within `snippet`;
    `start` and `end` are of the whole passage within its document's text. `dated`: its document's
    day, or when it was added, in seconds since the epoch.
    """

    n: int
    doc_id: str
    title: str
    uri: str
    collection: str
    page: int | None
    section: str
    start: int
    end: int
    text: str
    snippet: str
    marks: list[tuple[int, int]]
    score: float
    signals: dict[str, float]
    lang: str
    media_type: str
    dated: float
    priority: int


class SearchResult(Shown):
    """`confidence`: how likely the first three passages hold what was asked for, 0 to 1."""

    query: str
    collections: list[str]
    strategy: str
    hits: list[Passage]
    confidence: float
    seconds: float
    warnings: list[AnyText] = Field(default=[])


def parse_search_request(query: str, given: Mapping[str, Any]) -> SearchRequest:
    """A request of what people typed. Raises InvalidInput naming the option that is wrong."""
    of_request = set(SearchRequest.model_fields) - set(SearchOptions.model_fields)
    options = parse_options(
        {name: value for name, value in given.items() if name not in of_request}, SearchOptions
    )
    return SearchRequest(
        query=query,
        **(options.model_dump() | {name: given[name] for name in of_request if name in given}),
    )


async def search(app: App, request: SearchRequest) -> SearchResult:
    """Raises InvalidInput, NotFound for an unknown collection or document, StorageError."""
    started = time.perf_counter()
    text = normalize_text(request.query)
    if not text:
        raise InvalidInput(Text("the query is empty"), hint=Text("search for something in words"))
    if len(text) > LONGEST:
        raise InvalidInput(
            Text(
                "the query has {text} characters, {longest} are allowed",
                text=len(text),
                longest=LONGEST,
            ),
            hint=Text("search for less at once"),
        )
    names = list(
        dict.fromkeys([*([request.collection] if request.collection else []), *request.collections])
    )
    infos = [await app.collections.get(name) for name in names or [app.settings.collection]]
    searched = [info.name for info in infos]
    strategy = get_strategy(request, app)
    where = await build_filter(app, request, searched)
    warnings = warn_of_waiting([(info.chunks, info.embedded) for info in infos])
    vector, troubles = await embed_query(app.embedder, text)
    found = await STRATEGIES[strategy](
        app.index,
        build_query(app, request, text, vector, extract_search_names(text), where, request.k),
    )
    return SearchResult(
        query=text,
        collections=searched,
        strategy=strategy,
        hits=[_build_passage(n, text, hit) for n, hit in enumerate(found.hits, start=1)],
        confidence=found.confidence,
        seconds=round(time.perf_counter() - started, 4),
        warnings=[*warnings, *troubles, *found.warnings],
    )


def build_query(
    app: App,
    options: SearchOptions,
    text: str,
    vector: Vector | None,
    entities: Sequence[str],
    where: Filter,
    k: int,
    context: Context | None = None,
) -> Query:
    """What the settings and the options say about a search, as one query."""
    settings = app.settings.search
    return Query(
        text,
        vector,
        entities,
        where,
        k,
        context=context,
        foreign=None
        if vector is None
        else remove_language_mean(vector, detect_language(text), app.embedder.name),
        calibration=app.calibration.retrieval,
        recency=settings.recency if options.recency is None else options.recency,
        half_life_days=settings.half_life_days,
        diversity=settings.diversity if options.diversity is None else options.diversity,
        reranker=app.reranker,
        rerank_top=app.settings.rerank_top,
    )


async def find_hits(
    app: App,
    options: SearchOptions,
    text: str,
    vector: Vector | None,
    entities: Sequence[str],
    where: Filter,
    k: int,
    context: Context | None = None,
) -> Found:
    """One search as the options say."""
    query = build_query(app, options, text, vector, entities, where, k, context)
    return await STRATEGIES[get_strategy(options, app)](app.index, query)


def warn_of_waiting(counts: Sequence[tuple[int, int]]) -> list[str]:
    """A warning where passages still wait for vectors: (passages, embedded) by collection."""
    total, embedded = sum(chunks for chunks, _ in counts), sum(done for _, done in counts)
    if embedded >= total:
        return []
    return [
        Text(
            "{total} of {total2} chunks are searched by words only: still being embedded",
            total=total - embedded,
            total2=total,
        )
    ]


async def embed_query(embedder: Embedder, text: str) -> tuple[Vector | None, list[str]]:
    """The query's vector; None with a warning where the embedder fails: words alone still find."""
    try:
        return await embedder.query(text), []
    except asyncio.CancelledError:
        raise
    except CitewellError as error:
        return None, [Text("searched by words only: {message}", message=error.message)]


def _build_passage(n: int, question: str, hit: Hit) -> Passage:
    part = extract_snippet(question, hit.text)
    return Passage.of(
        hit,
        n=n,
        section=" › ".join(hit.heading_path),
        snippet=part.text,
        marks=list(part.marks),
        signals={name: round(value, 4) for name, value in hit.signals.items()},
    )
