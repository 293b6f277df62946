"""Extractive summaries of sections."""

from __future__ import annotations

from citewell.config import IngestSettings
from citewell.ingest.chunk.chunkers import chunk_document
from citewell.ingest.chunk.section_summaries import (
    MOST_CHUNKS,
    SUMMARY_TOKENS,
    add_summaries,
)
from citewell.ingest.markup import markdown
from citewell.ingest.markup import plain_text as text
from citewell.types import Chunk, Document

SETTINGS = IngestSettings()
FILLER = (
    "Visitors come in the morning. Some of them stay for lunch. It is often windy there. The "
    "road is narrow and old. "
)
CORE = (
    "The lighthouse lamp was replaced by an electric lamp in 1931. The lamp of the lighthouse "
    "is visible for 18 miles. "
)
CHINESE = (
    "星桥相机的保修期为两年。电池的保修期为六个月。游客常在早上到来。道路狭窄。"
    "保修期内可以免费维修相机。人为损坏不在保修期内。"
)


def summaries(document: Document, tokens: int = 60) -> tuple[list[Chunk], list[Chunk]]:
    chunks = chunk_document(document, tokens=tokens, overlap=10)
    everything = add_summaries(document, chunks)
    assert everything[: len(chunks)] == chunks
    return chunks, everything[len(chunks) :]


def test_one_for_each_section_of_several_chunks() -> None:
    """A section cut into parts gets a summary with its span, section and headings; one that is
    whole needs none.
    """
    document = markdown.parse(
        f"# Lamp\n\n{FILLER}{CORE}{FILLER}\n\n# Note\n\nShort.".encode(), "x.md", SETTINGS
    )
    chunks, (summary,) = summaries(document)
    parts = [piece for piece in chunks if piece.kind == "text"]
    assert (summary.kind, summary.heading_path, summary.section) == (
        "summary",
        ("Lamp",),
        parts[0].section,
    )
    assert (summary.start, summary.end) == (parts[0].start, parts[-1].end)
    assert 0 < summary.tokens <= SUMMARY_TOKENS + 2


def test_the_centre_is_taken() -> None:
    """What the section keeps coming back to is in its summary, in the section's own words."""
    body = (
        FILLER
        + CORE
        + "The lamp and the lighthouse are kept by two people. "
        + FILLER.replace("the", "a")
    )
    _, (summary,) = summaries(text.parse(body.encode(), "x.txt", SETTINGS))
    taken = summary.text
    assert "lighthouse" in taken
    assert all(sentence.strip(".") in body for sentence in taken.split(". "))


def test_chinese() -> None:
    """Chinese is summarised by its pairs of characters, without spaces between sentences."""
    document = text.parse((CHINESE + "今天天气晴朗，适合出游。" * 12).encode(), "x.txt", SETTINGS)
    _, (summary,) = summaries(document, tokens=40)
    assert "保修期" in summary.text
    assert " " not in summary.text
    assert all(sentence in document.text for sentence in summary.text.split("。"))


def test_long_sections_have_several() -> None:
    """One summary stands for a dozen chunks at most, so that a book without headings is more than
    90 words.
    """
    body = "".join(
        f"Ship number {n} carried {n} tons of grain to port {n % 7}. " for n in range(400)
    )
    chunks, found = summaries(text.parse(body.encode(), "x.txt", SETTINGS))
    assert len(found) >= len(chunks) / MOST_CHUNKS
    assert all(
        sum(s.start <= c.start and c.end <= s.end for c in chunks) <= MOST_CHUNKS + 1 for s in found
    )
    assert len({summary.text for summary in found}) == len(found)


def test_what_has_no_sentences_is_summarised_too() -> None:
    """Headings and fragments give way to sentences; where there is nothing else they serve, cut to
    the size of a summary.
    """
    for body in ("word " * 4000, "中" * 4000, "a | b | c\n" * 400, "x" * 9000):
        _, found = summaries(text.parse(body.encode(), "x.txt", SETTINGS))
        assert found
        assert all(0 < summary.tokens <= SUMMARY_TOKENS + 25 for summary in found)
    body = "Fragment without end\n\n" + FILLER + CORE
    _, found = summaries(text.parse(body.encode(), "x.txt", SETTINGS), tokens=40)
    assert found
    assert all("Fragment" not in summary.text for summary in found)
