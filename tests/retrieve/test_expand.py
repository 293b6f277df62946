"""Hits widened by what stands around them, over a real store."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from citewell.config import Settings
from citewell.retrieve.expand import expand_hits
from citewell.runtime.app import App
from citewell.text.language import count_tokens
from citewell.types import Chunk, Document, Hit, Section

PARTS = [f"Sentence number {n} of the section." for n in range(6)]


@pytest.fixture
async def app(settings: Settings) -> AsyncIterator[App]:
    """One document: two sections of three parts each, with blank lines between."""
    async with App(settings) as opened:
        text, chunks = "", []
        for n, part in enumerate(PARTS):
            chunks.append(
                Chunk(part, len(text), len(text) + len(part), n // 3, (f"H{n // 3}",), n + 1, 8)
            )
            text += part + "\n\n"
        middle = chunks[3].start
        sections = (Section(("H0",), 0, middle), Section(("H1",), middle, len(text)))
        await opened.catalog.put(
            "default", "a", text.encode(), Document("T", "text/plain", "en", text, sections), chunks
        )
        yield opened


async def widened(
    app: App, ordinals: list[int], before: int, after: int, budget: int = 1000
) -> list[Hit]:
    by_ordinal = {hit.ordinal: hit for hit in await app.index.hits(range(1, 7))}
    hits = await expand_hits(app.index, [by_ordinal[n] for n in ordinals], before, after, budget)
    text = (await app.catalog.content(hits[0].doc_id)).text
    assert all(text[hit.start : hit.end] == hit.text for hit in hits)
    return hits


async def test_neighbours_come_along_within_the_section(app: App) -> None:
    """Before and after, but not across the heading; the text is the document's own, and the page
    that of its start.
    """
    [first, second] = await widened(app, [1, 3], 1, 1)
    assert first.text == "\n\n".join(PARTS[:3])
    assert first.page == 1
    assert second.text == "\n\n".join(PARTS[3:5])
    [alone] = await widened(app, [2], 0, 2)
    assert alone.text == PARTS[2]


async def test_hits_that_meet_become_one(app: App) -> None:
    """In the place of the better one, with its figures; sections stay apart."""
    hits = await widened(app, [2, 4, 0], 1, 1)
    assert [hit.text for hit in hits] == ["\n\n".join(PARTS[:3]), "\n\n".join(PARTS[3:])]
    assert [hit.ordinal for hit in hits] == [2, 4]


async def test_the_budget_goes_to_the_best_first(app: App) -> None:
    """What no longer fits stays as it was found."""
    budget = count_tokens("\n\n".join(PARTS[:3])) + count_tokens(PARTS[4])
    hits = await widened(app, [1, 4], 1, 1, budget=budget)
    assert [hit.text for hit in hits] == ["\n\n".join(PARTS[:3]), PARTS[4]]
    assert await expand_hits(app.index, [], 1, 1, 100) == []


async def test_what_is_gone_or_not_wanted_stays_as_it_is(app: App) -> None:
    """A document deleted meanwhile, and neighbours switched off."""
    hits = await app.index.hits([1, 2])
    assert await expand_hits(app.index, hits, 0, 0, 1000) == hits
    await app.catalog.delete(hits[0].doc_id)
    assert await expand_hits(app.index, hits, 1, 1, 1000) == hits
