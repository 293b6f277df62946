"""The search as a whole, over a real store with scripted vectors."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from citewell.config import Settings
from citewell.retrieve.query import Found, Query
from citewell.retrieve.strategies import STRATEGIES
from citewell.runtime.app import App
from citewell.service.library.embedding import embed_pending
from citewell.service.library.intake import add_data
from citewell.store.index.protocol import Filter

NOTES = {
    "pump.md": "# Pump\n\nThe warranty of the A-100 pump is two years.\n",
    "tap.md": "# Tap\n\nThe warranty of the tap is one year.\n",
    "garden.md": "# Garden\n\nRoses need sun and water.\n",
    "水泵.md": "# 水泵\n\n水泵的保修期是两年。\n",
}


@pytest.fixture
async def app(settings: Settings) -> AsyncIterator[App]:
    async with App(settings) as opened:
        for name, text in NOTES.items():
            await add_data(opened, text.encode(), name, name, "default")
        await embed_pending(opened)
        yield opened


async def found(
    app: App, text: str, *, by_meaning: bool = True, where: Filter | None = None
) -> Found:
    vector = await app.embedder.query(text) if by_meaning else None
    return await STRATEGIES["direct_chunk_search"](
        app.index, Query(text, vector, where=where or Filter())
    )


async def test_words_and_meaning_together_find_the_passage(app: App) -> None:
    """The right one first, with the figures of each ranker kept."""
    hits = (await found(app, "How long is the warranty of the A-100 pump?")).hits
    assert hits[0].uri == "pump.md"
    assert {"cosine", "bm25", "coverage"} <= set(hits[0].signals)


async def test_without_vectors_words_alone_find_it(app: App) -> None:
    """An embedder that fails does not end the search."""
    assert (await found(app, "warranty of the tap", by_meaning=False)).hits[0].uri == "tap.md"


async def test_what_is_in_the_other_language_only_comes_along(app: App) -> None:
    """A question without evidence in its own language sees the nearest passages of the other."""
    result = await found(app, "How long is the guarantee for ponds?")
    assert "水泵.md" in {h.uri for h in result.hits}


async def test_the_other_language_keeps_its_last_places(app: App) -> None:
    """Where the question's own language fills all the places and is sure, too: a reader judges."""
    for number in range(20):
        text = f"# Pump {number}\n\nThe warranty of the A-{number} pump is two years.\n"
        await add_data(app, text.encode(), f"{number}.md", f"{number}.md", "default")
    await embed_pending(app)
    text = "How long is the warranty of the A-100 pump?"
    query = Query(text, await app.embedder.query(text), k=8)
    hits = (await STRATEGIES["direct_chunk_search"](app.index, query)).hits
    assert [hit.lang for hit in hits] == [*["en"] * 6, "zh", "en"]
    assert (hits[0].uri, hits[6].uri) == ("pump.md", "水泵.md")
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)


async def test_filters_hold_for_every_part_of_the_search(app: App) -> None:
    """Nothing outside the filter comes back, whatever the language."""
    result = await found(app, "How long is the guarantee for ponds?", where=Filter(langs=("en",)))
    assert {h.lang for h in result.hits} <= {"en"}
    assert (await found(app, "warranty", where=Filter(collections=("other",)))).hits == []


async def test_what_the_other_language_holds_of_a_code_is_found(app: App) -> None:
    """By its words, though it has no vector yet, and before what is only near."""
    await add_data(
        app, b"XK-7700: change the oil every 300 hours.", "oil.txt", "oil.txt", "default"
    )
    query = "XK-7700 多久换一次油？"
    vector = await app.embedder.query(query)
    result = await STRATEGIES["direct_chunk_search"](app.index, Query(query, vector, ["xk-7700"]))
    english = [hit.uri for hit in result.hits if hit.lang == "en"]
    assert english[0] == "oil.txt"


async def test_how_many_are_asked_for_changes_nothing_else(app: App) -> None:
    """The same passages in the same order, with the same confidence."""
    text = "warranty of the tap"
    vector = await app.embedder.query(text)
    few, many = [
        await STRATEGIES["direct_chunk_search"](app.index, Query(text, vector, k=k))
        for k in (3, 20)
    ]
    assert few.hits == many.hits[:3]
    assert few.confidence == many.confidence
