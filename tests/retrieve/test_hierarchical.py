"""Sections first, then chunks; the baselines; and what is done to hits at the end, over a real
store with scripted vectors.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import replace

import pytest

from citewell.config import Settings
from citewell.errors import TransientError
from citewell.retrieve import strategies
from citewell.retrieve.query import Found, Query
from citewell.retrieve.strategies import STRATEGIES
from citewell.runtime.app import App
from citewell.service.library.embedding import embed_pending
from citewell.store.index.protocol import Filter, Index
from citewell.types import Chunk, Document, Hit, Section

WARRANTY = ["The pump is guaranteed for two years.", "The guarantee ends where the seal is broken."]
PRICES = ["The pump costs 520 yuan.", "The seal costs 12 yuan, guarantee or not."]


async def put(
    app: App,
    uri: str,
    parts: Mapping[str, Sequence[str]],
    *,
    summaries: bool = True,
    dated: float = 0.0,
) -> str:
    """A document of sections under headings, each with a summary of its first sentence."""
    text, chunks, sections = "", [], []
    for number, (heading, bodies) in enumerate(parts.items()):
        first = len(text)
        for body in bodies:
            chunks.append(
                Chunk(body, len(text), len(text) + len(body), number, (heading,), None, 8)
            )
            text += body + "\n\n"
        sections.append(Section((heading,), first, len(text)))
    for number, section in enumerate(sections if summaries else []):
        about = f"{section.heading_path[0]}: {text[section.start : section.end].split('.')[0]}"
        chunks.append(
            Chunk(
                about,
                section.start,
                section.end,
                number,
                section.heading_path,
                None,
                9,
                kind="summary",
            )
        )
    document = Document(uri, "text/plain", "en", text, tuple(sections), dated=dated)
    return (await app.catalog.put("default", uri, text.encode(), document, chunks)).doc_id


@pytest.fixture
async def app(settings: Settings) -> AsyncIterator[App]:
    async with App(settings) as opened:
        for n in range(12):  # more than the sections that are looked into
            other = {f"Topic {n}": [f"Other thing {n} about seals.", f"More of thing {n}."]}
            await put(opened, f"other{n}", other)
        await put(opened, "pump", {"Warranty": WARRANTY, "Prices": PRICES})
        await embed_pending(opened)
        yield opened


async def find(app: App, strategy: str, text: str, **options: object) -> Found:
    query = Query(text, await app.embedder.query(text))
    return await STRATEGIES[strategy](app.index, replace(query, **options))  # type: ignore[arg-type]  # names of its fields


async def test_chunks_of_the_best_sections_are_found(app: App) -> None:
    """The section is found by its heading and summary; what comes back are passages, never
    summaries.
    """
    found = await find(
        app, "hierarchical_search", "warranty of the pump: where does the guarantee end?"
    )
    assert found.hits[0].text == WARRANTY[1]
    assert {hit.kind for hit in found.hits} == {"text"}


async def test_what_is_outside_the_best_sections_is_left_out(
    app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the search is sure of what is inside them; a direct search shows other sections too."""
    monkeypatch.setattr(strategies, "SECTIONS", 1)
    monkeypatch.setattr(strategies, "SURE", 0.0)
    text = "warranty of the pump: where does the guarantee end?"
    assert {hit.heading_path for hit in (await find(app, "hierarchical_search", text)).hits} == {
        ("Warranty",)
    }
    assert (
        len({hit.heading_path for hit in (await find(app, "direct_chunk_search", text)).hits}) > 1
    )


async def test_the_wrong_sections_are_made_up_for(
    app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where their chunks are surely not what was asked for, the direct search is what counts."""
    [(summary, _)] = await app.index.search_words("Topic 7", 1, Filter(kinds=("summary",)))
    wrong = await app.index.hits([summary])

    async def astray(index: Index, query: Query) -> list[Hit]:
        return wrong

    monkeypatch.setattr(strategies, "_find_sections", astray)
    found = await find(app, "hierarchical_search", "The guarantee ends where the seal is broken")
    assert found.hits[0].text == WARRANTY[1]


async def test_without_summaries_the_search_is_direct(app: App) -> None:
    """In a collection that has none, and for documents that have none."""
    doc = await put(
        app, "plain", {"Cellar": ["Wine is kept in the cellar.", "So is beer."]}, summaries=False
    )
    await embed_pending(app)
    where = Filter(doc_ids=(doc,))
    direct = await find(app, "direct_chunk_search", "wine in the cellar", where=where)
    assert (
        await find(app, "hierarchical_search", "wine in the cellar", where=where)
    ).hits == direct.hits
    assert direct.hits[0].text == "Wine is kept in the cellar."


async def test_filters_hold_for_sections_and_for_chunks(app: App) -> None:
    """Nothing from outside, whatever the sections say."""
    pump = next(
        info.doc_id for info in await app.catalog.documents("default") if info.uri == "pump"
    )
    found = await find(app, "hierarchical_search", "seals", where=Filter(doc_ids=(pump,)))
    assert {hit.doc_id for hit in found.hits} == {pump}
    assert (
        await find(app, "hierarchical_search", "seals", where=Filter(collections=("none",)))
    ).hits == []


@pytest.mark.parametrize(
    ("strategy", "signal"), [("words_only", "bm25"), ("vectors_only", "cosine"), ("rrf", "rrf")]
)
async def test_baselines(app: App, strategy: str, signal: str) -> None:
    """Plain rankings: scores fall, as many as asked for, and nothing but their own figure."""
    found = await find(app, strategy, "seal of the pump", k=3)
    scores = [hit.score for hit in found.hits]
    assert len(scores) == 3
    assert scores == sorted(scores, reverse=True)
    assert {tuple(hit.signals) for hit in found.hits} == {(signal,)}


async def test_vectors_only_without_a_vector(app: App) -> None:
    assert (await find(app, "vectors_only", "seal", vector=None)).hits == []


async def test_the_newer_of_two_equals(app: App) -> None:
    """Where newness counts; its half-life is the query's."""
    day = 86_400.0
    for uri, days in (("old", 100), ("new", 900)):
        await put(app, uri, {"News": [f"The ferry sails at nine, says {uri}."]}, dated=days * day)
    await embed_pending(app)
    hits = (
        await find(
            app,
            "direct_chunk_search",
            "ferry sails",
            recency=3.0,
            half_life_days=100.0,
            now=1000 * day,
        )
    ).hits
    assert hits[0].uri == "new"
    assert hits[0].signals["recency"] == pytest.approx(0.5)
    assert "recency" not in (await find(app, "direct_chunk_search", "ferry sails")).hits[0].signals


async def test_diverse_hits_are_of_several_documents(app: App) -> None:
    """The best one, and then rather another document than more of the same."""
    plain = (await find(app, "direct_chunk_search", "seal guarantee pump", k=3)).hits
    diverse = (
        await find(app, "direct_chunk_search", "seal guarantee pump", k=3, diversity=0.9)
    ).hits
    assert len({hit.doc_id for hit in plain}) < len({hit.doc_id for hit in diverse}) == 3
    assert plain[0].chunk_id == diverse[0].chunk_id


class Judge:
    """Likes the passage that holds a word."""

    name, passage_tokens, weight, reach = "judge", 100, 1.0, 100.0

    def __init__(self, likes: str = "", error: bool = False) -> None:
        self.likes, self.error = likes, error

    async def scores(self, question: str, texts: Sequence[str]) -> list[float | None]:
        if self.error:
            raise TransientError("it is down")
        return [5.0 if self.likes in text else -5.0 for text in texts]

    async def close(self) -> None: ...


async def test_a_reranker_looks_again(app: App) -> None:
    """What it likes is first; where it fails, the order stays and a warning says so."""
    plain = await find(app, "direct_chunk_search", "seal guarantee", k=4)
    liked = plain.hits[2].text
    again = await find(
        app, "direct_chunk_search", "seal guarantee", k=4, reranker=Judge(liked), rerank_top=4
    )
    assert again.hits[0].text == liked
    assert again.warnings == ()
    down = await find(app, "direct_chunk_search", "seal guarantee", k=4, reranker=Judge(error=True))
    assert [hit.chunk_id for hit in down.hits] == [hit.chunk_id for hit in plain.hits]
    assert "it is down" in down.warnings[0]
