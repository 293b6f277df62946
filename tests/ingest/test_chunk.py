"""Documents cut into chunks."""

from __future__ import annotations

import time
from itertools import pairwise

import pytest

from citewell.config import IngestSettings
from citewell.ingest.chunk.chunkers import chunk_document
from citewell.ingest.markup import markdown
from citewell.ingest.markup import plain_text as text
from citewell.text.language import count_tokens
from citewell.types import Chunk, Document

SETTINGS = IngestSettings()
SENTENCE = "This is a sentence of nine words or so. "
BUDGET, OVERLAP = 60, 15


def cut(document: Document, tokens: int = BUDGET, overlap: int = OVERLAP) -> list[Chunk]:
    chunks = chunk_document(document, tokens=tokens, overlap=overlap)
    check(document, chunks, tokens)
    return chunks


def check(document: Document, chunks: list[Chunk], tokens: int) -> None:
    last = 0
    for piece in chunks:
        assert piece.text == document.text[piece.start : piece.end] == piece.text.strip()
        assert piece.tokens == count_tokens(piece.text) <= 1.5 * tokens
        assert piece.page == document.find_page_at(piece.start)
        assert not document.text[last : piece.start].strip()
        last = max(last, piece.end)
    assert not document.text[last:].strip()


def test_budget_and_overlap() -> None:
    """Chunks keep the budget; each begins with whole sentences of the one before."""
    chunks = cut(text.parse((SENTENCE * 40).encode(), "x.txt", SETTINGS))
    assert len(chunks) > 5
    for before, piece in pairwise(chunks):
        assert piece.start < before.end
        assert piece.text.startswith("This")


def test_chinese_sentences_stay_whole() -> None:
    """A chunk of Chinese text ends where a sentence does."""
    chunks = cut(
        text.parse(
            ("数据库系统用来存储和管理数据，" * 2 + "这很重要。").encode() * 20, "x.txt", SETTINGS
        )
    )
    assert len(chunks) > 5
    assert all(piece.text.endswith("。") for piece in chunks)


def test_no_chunk_ends_with_what_introduces_the_next() -> None:
    """A line that ends with a colon stays with the list that it introduces."""
    for lead in ("You need all of these:", "需要以下材料："):
        whole = SENTENCE * 5 + "\n\n" + lead + "\n\n" + "- " + SENTENCE * 3
        chunks = cut(text.parse(whole.encode(), "x.txt", SETTINGS), overlap=0)
        assert len(chunks) > 1
        assert not any(piece.text.endswith(lead) for piece in chunks)


def test_large_sections_are_not_crossed() -> None:
    """No chunk holds text of two large sections, and nothing is repeated across them."""
    document = markdown.parse(
        f"# A\n\n{SENTENCE * 8}\n\n# B\n\n{SENTENCE * 8}".encode(), "x.md", SETTINGS
    )
    chunks = cut(document)
    assert {piece.heading_path for piece in chunks} == {("A",), ("B",)}
    for piece in chunks:
        section = document.sections[piece.section]
        assert section.start <= piece.start < piece.end <= section.end


def test_small_siblings_share_a_chunk() -> None:
    """Tiny sections under one heading go together, under the path they share; their headings are in
    the text.
    """
    document = markdown.parse(
        b"# Top\n\n## One\n\nshort.\n\n## Two\n\nalso short.\n\n## Three\n\nlast.", "x.md", SETTINGS
    )
    (piece,) = cut(document)
    assert piece.heading_path == ("Top",)
    assert piece.text == document.text


def test_a_bare_heading_goes_with_what_follows() -> None:
    """A heading without text of its own is no chunk: it stands before its first subsection."""
    document = markdown.parse(f"# Top\n\n## Sub\n\n{SENTENCE * 8}".encode(), "x.md", SETTINGS)
    chunks = cut(document)
    assert chunks[0].text.startswith("Top\n\nSub\n\nThis")
    assert chunks[0].heading_path == ("Top", "Sub")


def test_tables_split_between_rows() -> None:
    """A long table is cut between rows, never inside one."""
    rows = "\n".join(f"| name {n} | value number {n} |" for n in range(40))
    chunks = cut(
        markdown.parse(f"| a | b |\n|---|---|\n{rows}".encode(), "x.md", SETTINGS), overlap=0
    )
    assert chunks[0].text.startswith("a | b\na: name 0 | b: value number 0")
    assert all(piece.text.startswith("a: name") for piece in chunks[1:])


@pytest.mark.parametrize(
    "unit",
    [
        "word ",
        "很长的句子没有句号，",
        "x",
        "中",
        ".",
        "a,",
        "http://a.b/",
        "\u200b",
        "。”",
        "- i\n",
        "a | b\n",
    ],
)
def test_anything_is_cut(unit: str) -> None:
    """Text without sentences, clauses or even words still keeps the budget, and nothing is lost."""
    document = text.parse((unit * 3000).encode(), "x.txt", SETTINGS)
    assert len(cut(document)) > 10
    assert len(cut(document, tokens=40, overlap=200)) > 10


def test_speed() -> None:
    """A quarter of a megabyte takes well under two seconds, even on a busy machine."""
    document = text.parse((SENTENCE * 6000).encode(), "x.txt", SETTINGS)
    started = time.process_time()
    chunk_document(document, tokens=220, overlap=40)
    assert time.process_time() - started < 2
