"""Search without an answer: filters in people's words, strategies, what is refused, and the same
options for `ask`.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Any

import pytest

from citewell.config import SearchSettings, Settings
from citewell.errors import InvalidInput, ModelUnavailable, NotFound
from citewell.retrieve.strategies import STRATEGIES
from citewell.runtime.app import App
from citewell.service.ask.ask import stream_answer
from citewell.service.ask.options import parse_moment
from citewell.service.ask.run import AskRequest
from citewell.service.ask.search import SearchRequest, SearchResult, parse_search_request, search
from citewell.service.library.embedding import embed_pending
from citewell.service.library.media_types import resolve_media_types
from citewell.text.language import detect_language
from citewell.types import Chunk, Document, Section


def day(text: str) -> float:
    return datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()


async def put(
    app: App,
    uri: str,
    text: str,
    collection: str = "default",
    media_type: str = "text/plain",
    dated: str = "2024-06-15T12:00",
    priority: int | None = None,
) -> None:
    document = Document(
        uri,
        media_type,
        detect_language(text),
        text,
        (Section(("Pumps",), 0, len(text)),),
        dated=day(dated),
    )
    chunk = Chunk(text, 0, len(text), 0, ("Pumps",), 7, 12)
    await app.catalog.put(collection, uri, text.encode(), document, [chunk], priority=priority)


@pytest.fixture
async def app(settings: Settings) -> AsyncIterator[App]:
    async with App(settings) as opened:
        await put(
            opened, "a.pdf", "The warranty of the pump is two years.", media_type="application/pdf"
        )
        await put(
            opened,
            "b.md",
            "The warranty of the tap is one year.",
            media_type="text/markdown",
            priority=5,
        )
        await put(opened, "老.txt", "水泵的保修期是两年。", dated="2020-01-01")
        await put(opened, "c.txt", "The warranty of the lamp.", collection="two")
        await embed_pending(opened)
        yield opened


async def found(app: App, query: str = "warranty 保修期", **options: Any) -> set[str]:
    return {hit.uri for hit in (await search(app, parse_search_request(query, options))).hits}


async def test_a_passage_says_where_it_stands(app: App) -> None:
    """Title, page, section, span, the words that matched, how sure the search is; and the whole is
    one object.
    """
    result = await search(app, SearchRequest(query="How long is the pump's warranty?"))
    hit = result.hits[0]
    assert (hit.n, hit.uri, hit.title, hit.page, hit.section, hit.media_type) == (
        1, "a.pdf", "a.pdf", 7, "Pumps", "application/pdf"
    )  # fmt: skip
    assert hit.text[hit.start : hit.end] == hit.snippet
    assert [hit.snippet[a:b] for a, b in hit.marks] == ["warranty", "pump"]
    assert (result.strategy, result.collections, result.warnings) == (
        "direct_chunk_search",
        ["default"],
        [],
    )
    assert 0 < result.confidence <= 1
    assert SearchResult.model_validate_json(result.model_dump_json()) == result


async def test_filters_in_the_words_of_people(app: App) -> None:
    """Documents by id, address; types by name; languages; days; priorities; collections."""
    [pdf] = [info for info in await app.catalog.documents("default") if info.uri == "a.pdf"]
    cases: list[tuple[dict[str, Any], set[str]]] = [
        ({}, {"a.pdf", "b.md", "老.txt"}),
        ({"doc_ids": [pdf.doc_id]}, {"a.pdf"}),
        ({"doc_ids": ["b.md", pdf.doc_id]}, {"a.pdf", "b.md"}),
        ({"types": ["pdf"]}, {"a.pdf"}),
        ({"types": [".MD", "text/plain"]}, {"b.md", "老.txt"}),
        ({"langs": ["zh"]}, {"老.txt"}),
        ({"since": "2024"}, {"a.pdf", "b.md"}),
        ({"since": "2024-06-15", "until": "2024-06-15"}, {"a.pdf", "b.md"}),
        ({"until": "2024-05"}, {"老.txt"}),
        ({"least_priority": 1}, {"b.md"}),
        ({"collection": "two"}, {"c.txt"}),
        ({"collections": ["two", "default"]}, {"a.pdf", "b.md", "老.txt", "c.txt"}),
        ({"types": ["pdf"], "langs": ["zh"]}, set()),
    ]
    for options, uris in cases:
        assert await found(app, **options) == uris, options


async def test_a_chinese_query(app: App) -> None:
    """Found by its words, which are marked."""
    hit = (await search(app, SearchRequest(query="水泵的保修期多长？"))).hits[0]
    assert hit.uri == "老.txt"
    assert [hit.snippet[a:b] for a, b in hit.marks] == ["水泵", "保修期"]


@pytest.mark.parametrize(
    ("options", "message", "hint"),
    [
        ({"strategy": "best"}, "unknown strategy: best", "hierarchical_search"),
        ({"since": "yesterday"}, "since: 'yesterday' is not a date", "2024-05-01"),
        ({"until": "2024-13-01"}, "until: '2024-13-01' is not a date", "2024-05-01"),
        ({"since": "2025", "until": "2024"}, "since 2025 is later than until 2024", ""),
        ({"types": ["floppy"]}, "unknown type: floppy", "pdf, docx"),
        ({"langs": ["fr"]}, "unknown language: fr", "en, zh"),
        ({"least_priority": 11}, "option least_priority", ""),
        ({"diversity": 2}, "option diversity", ""),
        ({"colour": "red"}, "unknown options: colour", "doc_ids"),
        ({"doc_ids": ["c.txt"]}, "c.txt is in collection two", "collection two"),
    ],
)
async def test_wrong_values_are_named(
    app: App, options: dict[str, Any], message: str, hint: str
) -> None:
    """With what would be right; the same for a search and for the options of a question."""
    with pytest.raises(InvalidInput) as caught:
        await search(app, parse_search_request("warranty", options))
    assert message in caught.value.message
    assert hint in caught.value.hint
    with pytest.raises(InvalidInput, match=caught.value.message.split(":")[0]):
        async for _ in stream_answer(
            app, AskRequest(question="How long is the warranty?", options=options)
        ):
            pass


async def test_what_is_not_there_is_named(app: App) -> None:
    """Collections and documents; and a query of nothing."""
    with pytest.raises(NotFound, match="no collection named none"):
        await found(app, collection="none")
    with pytest.raises(NotFound, match="doc_none"):
        await found(app, doc_ids=["doc_none"])
    with pytest.raises(NotFound, match=r"gone\.txt"):
        await found(app, doc_ids=["gone.txt"])
    with pytest.raises(InvalidInput, match="empty"):
        await search(app, SearchRequest(query=" \u200b "))


@pytest.mark.parametrize("strategy", sorted(STRATEGIES))
async def test_every_strategy_searches(app: App, strategy: str) -> None:
    result = await search(app, SearchRequest(query="warranty of the pump", strategy=strategy, k=1))
    assert [hit.uri for hit in result.hits] == ["a.pdf"]
    assert result.strategy == strategy


async def test_an_embedder_that_is_down(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    """Words alone still find, and a warning says so."""

    async def down(text: str) -> None:
        raise ModelUnavailable("no embeddings today")

    monkeypatch.setattr(app.embedder, "query", down)
    result = await search(app, SearchRequest(query="warranty pump"))
    assert result.hits[0].uri == "a.pdf"
    assert result.warnings == ["searched by words only: no embeddings today"]


async def test_chunks_that_wait_are_told(app: App) -> None:
    await put(app, "new.txt", "Something new about warranties.")
    result = await search(app, SearchRequest(query="warranties"))
    assert result.warnings == ["1 of 4 chunks are searched by words only: still being embedded"]


async def test_a_question_goes_by_its_options(app: App) -> None:
    """Filters and strategy reach the search of the agent; the route says which strategy it was."""
    options = {"types": ["md"], "strategy": "words_only"}
    request = AskRequest(question="How long is the warranty?", options=options)
    events = [event async for event in stream_answer(app, request)]
    answer: Any = events[-1].data
    assert answer.route == "words_only"
    shown = [
        event.data for event in events if getattr(event.data, "node", "") == "DocumentRetrievalNode"
    ]
    [step] = shown
    evidence: Any = getattr(step, "detail")["evidence"]  # noqa: B009 - data of events is of many kinds
    assert {each["title"] for each in evidence} == {"b.md"}


async def test_the_settings_are_the_default(settings: Settings) -> None:
    """Strategy, recency and diversity of the settings file, unless a request says otherwise."""
    own = settings.model_copy(update={"search": SearchSettings(strategy="rrf", recency=1.0)})
    async with App(own) as app:
        await put(app, "a.txt", "warranty")
        assert (await search(app, SearchRequest(query="warranty"))).strategy == "rrf"
        direct = await search(app, SearchRequest(query="warranty", strategy="direct_chunk_search"))
        assert "recency" in direct.hits[0].signals
        off = await search(
            app, SearchRequest(query="warranty", strategy="direct_chunk_search", recency=0)
        )
        assert "recency" not in off.hits[0].signals


def test_dates() -> None:
    """A day, month or year begins and ends; a moment is itself; white space and nothing mean
    nothing.
    """
    assert parse_moment("2024-02", "since") == day("2024-02-01")
    assert parse_moment("2024-02", "until", end=True) == pytest.approx(day("2024-03-01"), abs=0.01)
    assert parse_moment("2024", "until", end=True) == pytest.approx(day("2025-01-01"), abs=0.01)
    assert parse_moment("2024-12-31", "until", end=True) == pytest.approx(
        day("2025-01-01"), abs=0.01
    )
    assert parse_moment("2024-02-01T12:00+08:00", "since") == day("2024-02-01T04:00")
    assert parse_moment("20240229", "until", end=True) == pytest.approx(day("2024-03-01"), abs=0.01)
    assert parse_moment("9999", "until", end=True) == pytest.approx(
        datetime.max.replace(tzinfo=UTC).timestamp(), abs=0.01
    )
    assert parse_moment(" ", "since") is parse_moment(None, "since") is None
    for wrong in ("10000", "0000", "2024-02-30", "１２"):
        with pytest.raises(InvalidInput):
            parse_moment(wrong, "until", end=True)


def test_types() -> None:
    """Suffixes, groups, media types; each once."""
    assert resolve_media_types(["pdf", ".PDF", "application/pdf"]) == ("application/pdf",)
    assert "text/csv" in resolve_media_types(["table"])
    assert resolve_media_types([]) == ()
