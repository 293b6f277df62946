"""What filters let through, for every adapter: kinds, types, days, priorities, spans; alone,
together, and as they change.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from citewell.store.index import filter_conditions, postgres_vectors
from citewell.store.index import keyword_index as words_sqlite
from citewell.store.index.adapters import INDEXES
from citewell.store.index.protocol import Filter
from citewell.types import Chunk, Document, Section

if TYPE_CHECKING:
    from tests.store.conftest import Shelf


@pytest.fixture(params=sorted(INDEXES))
def database_url(request: pytest.FixtureRequest) -> str:
    """Every adapter, each on its own kind of database."""
    return "" if request.param == "sqlite" else str(request.getfixturevalue("home_url"))


DAY = 86_400.0
PDF = "application/pdf"
BOTH = ("worded", "nearest")


@pytest.fixture(params=["by marks", "chunk by chunk"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """The two ways in which SQLite filters words, and PostgreSQL vectors."""
    few = 0 if request.param == "chunk by chunk" else 10**6
    monkeypatch.setattr(words_sqlite, "FEW", few)
    monkeypatch.setattr(postgres_vectors, "FEW", few)
    monkeypatch.setattr(filter_conditions, "FEW_DOCUMENTS", few)
    return str(request.param)


async def library(shelf: Shelf) -> dict[str, str]:
    """Four documents of one word in common; their ids by address."""
    facts: dict[str, dict[str, Any]] = {
        "old.pdf": {"media_type": PDF, "dated": 100 * DAY, "priority": 0},
        "new.pdf": {"media_type": PDF, "dated": 200 * DAY, "priority": 5},
        "new.md": {"media_type": "text/markdown", "dated": 200 * DAY + 1, "collection": "two"},
        "undated.md": {"media_type": "text/markdown", "priority": 9},
    }
    infos = [
        await shelf.put(uri, f"shared {uri}", f"second shared {uri}", **each)
        for uri, each in facts.items()
    ]
    return {info.uri: info.doc_id for info in infos}


async def uris(shelf: Shelf, how: str, where: Filter) -> set[str]:
    texts: list[str] = await getattr(shelf, how)("shared", 100, where)
    return {text.split()[-1] for text in texts}


@pytest.mark.parametrize("how", BOTH)
@pytest.mark.usefixtures("way")
async def test_facts_of_documents(shelf: Shelf, how: str) -> None:
    """Media type, days (both ends included; an undated document counts by when it was added),
    priority; and all at once.
    """
    await library(shelf)
    pdfs, notes = {"old.pdf", "new.pdf"}, {"new.md", "undated.md"}
    cases: dict[Filter, set[str]] = {
        Filter(): pdfs | notes,
        Filter(media_types=(PDF,)): pdfs,
        Filter(media_types=(PDF, "text/markdown")): pdfs | notes,
        Filter(media_types=("image/png",)): set(),
        Filter(since=200 * DAY): {"new.pdf", "new.md", "undated.md"},
        Filter(until=200 * DAY): pdfs,
        Filter(since=150 * DAY, until=250 * DAY): {"new.pdf", "new.md"},
        Filter(since=250 * DAY): {"undated.md"},
        Filter(until=0.0): set(),
        Filter(least_priority=0): pdfs | notes,
        Filter(least_priority=5): {"new.pdf", "undated.md"},
        Filter(least_priority=10): set(),
        Filter(collections=("two",), since=200 * DAY): {"new.md"},
        Filter(collections=("default",), media_types=("text/markdown",), least_priority=1): {
            "undated.md"
        },
        Filter(collections=("two",), media_types=(PDF,)): set(),
    }
    for where, expected in cases.items():
        assert await uris(shelf, how, where) == expected, where


@pytest.mark.parametrize("how", BOTH)
@pytest.mark.usefixtures("way")
async def test_a_filter_of_documents_and_of_their_facts(shelf: Shelf, how: str) -> None:
    """Both have to hold."""
    ids = await library(shelf)
    where = Filter(doc_ids=(ids["old.pdf"], ids["new.md"]), media_types=(PDF,))
    assert await uris(shelf, how, where) == {"old.pdf"}
    assert await uris(shelf, how, Filter(doc_ids=(ids["old.pdf"],), since=150 * DAY)) == set()


@pytest.mark.parametrize("how", BOTH)
@pytest.mark.usefixtures("way")
async def test_a_priority_that_changes(shelf: Shelf, how: str) -> None:
    """The next search goes by it, and so do hits; a new version of the document keeps it."""
    ids = await library(shelf)
    high = Filter(least_priority=7)
    assert await uris(shelf, how, high) == {"undated.md"}
    assert (await shelf.catalog.set_priority(ids["old.pdf"], 8)).priority == 8
    await shelf.catalog.set_priority(ids["undated.md"], 0)
    assert await uris(shelf, how, high) == {"old.pdf"}
    await shelf.put("old.pdf", "shared other text of old.pdf")
    assert await uris(shelf, how, high) == {"old.pdf"}
    found = await shelf.index.search_words("shared", 1, high)
    assert [(hit.priority, hit.uri) for hit in await shelf.index.hits([found[0][0]])] == [
        (8, "old.pdf")
    ]


@pytest.mark.parametrize("how", BOTH)
@pytest.mark.usefixtures("way")
async def test_summaries_are_found_where_they_are_asked_for(shelf: Shelf, how: str) -> None:
    """By default passages only; kinds choose, an empty tuple takes all; counts are of passages."""
    info = await shelf.put("a", "shared part", "shared rest", summary="shared summary")
    await shelf.put("b", "shared other", collection="two")
    assert (info.chunks, info.embedded) == (2, 2)
    passages = {"part", "rest", "other"}
    cases: dict[Filter, set[str]] = {
        Filter(): passages,
        Filter(kinds=("summary",)): {"summary"},
        Filter(kinds=("summary", "whole")): {"summary"},
        Filter(kinds=("text",)): passages,
        Filter(kinds=("text", "summary")): passages | {"summary"},
        Filter(kinds=("whole",)): set(),
        Filter(kinds=()): passages | {"summary"},
        Filter(kinds=("summary",), collections=("two",)): set(),
        Filter(kinds=("summary",), langs=("en",), doc_ids=(info.doc_id,)): {"summary"},
    }
    for where, expected in cases.items():
        assert await uris(shelf, how, where) == expected, where


@pytest.mark.parametrize("how", BOTH)
@pytest.mark.usefixtures("way")
async def test_spans(shelf: Shelf, how: str) -> None:
    """Chunks that lie within a span of their own document, whole; several spans, across documents;
    and other filters too.
    """
    one, two = [await put_in_sections(shelf, name) for name in ("one", "two")]
    a, b, c = [
        (section.start, section.end) for section in (await shelf.catalog.content(one)).sections
    ]
    assert await uris(shelf, how, Filter(spans=((one, *a),))) == {"one-0"}
    assert await uris(shelf, how, Filter(spans=((one, a[0], b[1]),))) == {"one-0", "one-1"}
    assert await uris(shelf, how, Filter(spans=((one, *c), (two, *b)))) == {"one-2", "two-1"}
    assert await uris(shelf, how, Filter(spans=((one, *c), (two, *b)), doc_ids=(two,))) == {"two-1"}
    assert await uris(shelf, how, Filter(spans=((one, *c),), doc_ids=(two,))) == set()
    assert await uris(shelf, how, Filter(spans=((one, a[0] + 1, a[1]),))) == set()
    assert await uris(shelf, how, Filter(spans=(("doc_none", 0, 99), (one, 500, 900)))) == set()


async def put_in_sections(shelf: Shelf, name: str, chunks: int = 1) -> str:
    """A document of three sections, each of `chunks` chunks, and a summary of the whole; its id."""
    text, cut, sections = "", [], []
    for number in range(3):
        first = len(text)
        for n in range(chunks):
            body = f"shared {n} {name}-{number}"
            cut.append(Chunk(body, len(text), len(text) + len(body), number, ("T",), None, 3))
            text += body + "\n\n"
        sections.append(Section(("T",), first, len(text)))
    cut.append(Chunk("about it", 0, len(text), 0, ("T",), None, 2, kind="summary"))
    info = await shelf.catalog.put(
        "default",
        name,
        text.encode(),
        Document("T", "text/plain", "en", text, tuple(sections)),
        cut,
    )
    await shelf.embed()
    return info.doc_id


async def test_what_stands_beside(shelf: Shelf) -> None:
    """Passages of the same section around a chunk, in the order of the text, summaries left out."""
    doc = await put_in_sections(shelf, "one", chunks=4)
    ids = {c.ordinal: c.chunk_id for c in await shelf.index.hits(range(1, 14))}
    assert len(ids) == 13
    found = await shelf.index.get_neighbours([ids[1], ids[7], ids[12], 999], 1, 2)
    assert {chunk: [hit.ordinal for hit in beside] for chunk, beside in found.items()} == {
        ids[1]: [0, 1, 2, 3],
        ids[7]: [6, 7],
    }
    assert {hit.doc_id for hit in found[ids[1]]} == {doc}


async def test_the_words_of_spans(shelf: Shelf) -> None:
    """By character, NUL and characters beyond 16 bits included; None for a document that is
    gone.
    """
    text = "一二\x003😀4 five"
    nul = "\x00" if shelf.db.dialect == "sqlite" else "\ufffd"  # PostgreSQL's text holds none
    info = await shelf.put("a", text)
    assert await shelf.index.texts([(info.doc_id, 0, 3), (info.doc_id, 4, 6), ("doc_x", 0, 1)]) == [
        "一二" + nul,
        "😀4",
        None,
    ]
    assert await shelf.index.texts([]) == []
