"""The chunkers side by side: what all of them keep, and what each is for."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pytest

from citewell.config import IngestSettings
from citewell.errors import InvalidInput
from citewell.ingest.chunk.chunkers import CHUNKERS, chunk_document
from citewell.ingest.markup import markdown
from citewell.ingest.markup import plain_text as text
from citewell.models.base import Vector
from citewell.text.language import count_tokens
from citewell.text.sentences import split_sentences
from citewell.types import Chunk, Document, Section

SETTINGS = IngestSettings()
PROSE = (
    "Ships carry grain to the islands. Pilots know the channel well! Does the tide turn at noon? "
)
CHINESE = "灯塔建于一八五七年。塔身为红色，高三十米。守塔人每天点灯。"
UNITS = [
    "word ",
    "很长的句子没有句号，",
    "x",
    "中",
    ".",
    "- i\n",
    "a | b\n",
    "e\u0301",
    "👩\u200d🚀",
    "k: v; \n\n",
    PROSE,
    CHINESE,
]


def topics(texts: Sequence[str]) -> Vector:
    """A vector for each text by the topic that it names; other words turn it a little."""
    rows = []
    for each in texts:
        row = np.full(8, 0.01 * (len(each) % 5), np.float32)
        row[
            next((n for n, name in enumerate(("harbour", "orchard", "engine")) if name in each), 7)
        ] = 1.0
        rows.append(row / np.linalg.norm(row))
    return np.stack(rows)


def cut(document: Document, strategy: str, tokens: int = 60, overlap: int = 15) -> list[Chunk]:
    return chunk_document(document, tokens=tokens, overlap=overlap, strategy=strategy, embed=topics)


@pytest.mark.parametrize("strategy", CHUNKERS)
@pytest.mark.parametrize("unit", UNITS)
def test_every_chunker_keeps_the_text(strategy: str, unit: str) -> None:
    """Chunks are spans of the text, in order, near the budget, and hold every character that is not
    white space.
    """
    document = text.parse((unit * 400).encode(), "x.txt", SETTINGS)
    last = 0
    for piece in cut(document, strategy):
        assert piece.text == document.text[piece.start : piece.end] == piece.text.strip()
        assert piece.tokens == count_tokens(piece.text) <= 1.5 * 60
        assert not document.text[last : piece.start].strip()
        last = max(last, piece.end)
    assert not document.text[last:].strip()


@pytest.mark.parametrize("strategy", ["structure", "sentences", "semantic"])
def test_sentences_are_not_cut(strategy: str) -> None:
    """Whatever fits the budget stands whole in some chunk, in English and Chinese."""
    document = text.parse((PROSE * 20 + "\n\n" + CHINESE * 20).encode(), "x.txt", SETTINGS)
    chunks = cut(document, strategy)
    for start, end in split_sentences(document.text):
        assert any(piece.start <= start and end <= piece.end for piece in chunks)


def test_sentences_heed_no_section() -> None:
    """Small and large sections are filled up alike; the heading above a chunk is that of most of
    it, or what all share.
    """
    parts = "".join(f"\n\n## Part {n}\n\n{PROSE}" for n in range(12))
    document = markdown.parse(f"# Top{parts}".encode(), "x.md", SETTINGS)
    chunks = cut(document, "sentences", tokens=120, overlap=0)
    assert len(chunks) < len(cut(document, "structure", tokens=60, overlap=0))
    assert {piece.heading_path[:1] for piece in chunks} == {("Top",)}
    assert any(piece.heading_path == ("Top",) for piece in chunks)


def test_a_heading_stands_with_what_follows() -> None:
    """No chunk of whole sentences ends with a heading."""
    parts = "".join(f"\n\n## Part {n}\n\n{PROSE * 2}" for n in range(12))
    document = markdown.parse(parts.encode(), "x.md", SETTINGS)
    for strategy in ("sentences", "semantic"):
        ends = [piece.text.rpartition("\n")[2] for piece in cut(document, strategy, overlap=0)]
        assert not [end for end in ends if end.startswith("Part")]


def test_fixed_windows_have_one_size_and_overlap() -> None:
    """All windows but the last are full, each repeats the end of the one before, and no word is
    cut.
    """
    document = text.parse((PROSE * 30).encode(), "x.txt", SETTINGS)
    chunks = cut(document, "fixed")
    assert all(50 <= piece.tokens <= 61 for piece in chunks[:-1])
    for before, piece in pairwise(chunks):
        assert 0 < count_tokens(document.text[piece.start : before.end]) <= 20
        assert document.text[piece.start - 1].isspace()
        assert before.end == len(document.text) or document.text[before.end].isspace()


@pytest.mark.parametrize("unit", ["e\u0301", "👩\u200d🚀", "中\ufe00"])
def test_no_sign_is_cut_in_two(unit: str) -> None:
    """An accent, a variant, an emoji of several parts: never cut from what it belongs to."""
    document = Document("x", "text/plain", "en", unit * 900, (Section((), 0, 900 * len(unit)),))
    for strategy in CHUNKERS:
        for piece in cut(document, strategy):
            assert piece.text.startswith(unit[0]), strategy
            assert unicodedata.combining(piece.text[0]) == 0


def test_rows_stay_whole() -> None:
    """A table's row is cut by no chunker that keeps sentences, even where its cells hold full
    stops.
    """
    rows = [f"Model: T{n}. New. | Load: {n} kg. Heavy. | Price: {n}00" for n in range(40)]
    document = text.parse("\n".join(rows).encode(), "x.txt", SETTINGS)
    for strategy in ("structure", "sentences", "semantic"):
        for piece in cut(document, strategy, overlap=0):
            assert set(piece.text.split("\n")) <= set(rows), strategy


def test_a_row_over_the_budget_is_cut_between_cells() -> None:
    """Where a row cannot stay whole, its cells can."""
    row = " | ".join(f"name {n}: {'value ' * 4}end" for n in range(40))
    document = text.parse(row.encode(), "x.txt", SETTINGS)
    for piece in cut(document, "structure", overlap=0):
        assert piece.text.startswith("name")
        assert piece.text.rstrip(" |").endswith("end")


def test_semantic_breaks_where_the_topic_changes() -> None:
    """Three topics in one text without headings become chunks of one topic each; nothing is
    repeated across a change.
    """
    topic = [
        f"The {name} is busy on day {n}. "
        for name in ("harbour", "orchard", "engine")
        for n in range(5)
    ]
    document = text.parse("".join(topic).encode(), "x.txt", SETTINGS)
    chunks = cut(document, "semantic", tokens=70, overlap=20)
    named = [
        {name for name in ("harbour", "orchard", "engine") if name in piece.text}
        for piece in chunks
    ]
    assert all(len(names) == 1 for names in named)
    flat = [
        {name for name in ("harbour", "orchard", "engine") if name in piece.text}
        for piece in cut(document, "fixed")
    ]
    assert any(len(names) > 1 for names in flat)


def test_semantic_embeds_each_sentence_once() -> None:
    """Equal sentences are not paid for twice, and without an embedder it says what is missing."""
    asked: list[str] = []

    def embed(texts: Sequence[str]) -> Vector:
        asked.extend(texts)
        return topics(texts)

    document = text.parse((PROSE * 50).encode(), "x.txt", SETTINGS)
    chunk_document(document, tokens=60, overlap=10, strategy="semantic", embed=embed)
    assert len(asked) == len(set(asked)) == 3
    with pytest.raises(InvalidInput, match="embedder"):
        chunk_document(document, tokens=60, overlap=10, strategy="semantic")


@pytest.mark.parametrize("strategy", CHUNKERS)
def test_kinds(strategy: str) -> None:
    """The only chunk of its section is the whole of it; of several, each is a part."""
    document = markdown.parse(
        f"# Short\n\n{PROSE}\n\n# Long\n\n{PROSE * 12}".encode(), "x.md", SETTINGS
    )
    chunks = cut(document, strategy, overlap=0)
    of_section = {
        piece.section: [other.kind for other in chunks if other.section == piece.section]
        for piece in chunks
    }
    for kinds in of_section.values():
        assert kinds == ["whole"] if len(kinds) == 1 else set(kinds) == {"text"}
    assert any(len(kinds) > 1 for kinds in of_section.values())


def test_lines_of_code_stay_whole() -> None:
    """Source code is cut between lines, however long a function is."""
    lines = [f"    total_{n} = compute(value={n})  # Sums it up. Then goes on." for n in range(80)]
    body = "def run():\n" + "\n".join(lines)
    document = Document("x", "text/x-python", "en", body, (Section(("run",), 0, len(body)),))
    whole = {line.strip() for line in body.split("\n")}
    for strategy in ("structure", "sentences", "semantic"):
        chunks = cut(document, strategy, overlap=0)
        assert len(chunks) > 5
        assert {line.strip() for piece in chunks for line in piece.text.split("\n")} <= whole
