"""Fusing, reranking, deduplicating and being sure are pure functions of hits."""

from __future__ import annotations

from dataclasses import replace

import pytest

from citewell.retrieve.confidence import compute_confidence
from citewell.retrieve.rank import (
    append_ranking,
    compute_coverage,
    compute_entity_share,
    deduplicate,
    fuse_rankings,
    interleave_rankings,
    rerank_hits,
)
from citewell.types import Hit


def hit(
    chunk_id: int,
    text: str,
    *,
    doc: str = "d",
    start: int = 0,
    cosine: float = 0.8,
    bm25: float = 1.0,
) -> Hit:
    lang = "en" if text.isascii() else "zh"
    signals = {"cosine": cosine, "bm25": bm25}
    return Hit(
        chunk_id,
        doc,
        "c",
        "Title",
        "uri",
        (),
        None,
        start,
        start + len(text),
        text,
        lang,
        signals=signals,
    )


def test_fuse_prefers_what_both_rankings_hold() -> None:
    """Second in both beats first in one."""
    assert fuse_rankings([1, 2, 3], [4, 2, 5])[0] == 2
    assert fuse_rankings([], []) == []


def test_coverage_weighs_rare_terms_more() -> None:
    """A text with the rare term covers more than one with the common term; unrelated text covers
    nothing.
    """
    texts = ["warranty of the pump", "warranty of the filter", "warranty of the tap", "gardening"]
    shares = compute_coverage("warranty pump", texts)
    assert shares[0] == pytest.approx(1.0)
    assert 0 < shares[1] < 0.5
    assert shares[3] == 0


def test_coverage_finds_two_character_words() -> None:
    """A Chinese word that a dictionary cuts otherwise still counts."""
    assert compute_coverage("量子", ["研究人员用量子计算模拟分子", "天气"]) == [
        pytest.approx(1.0),
        0.0,
    ]


def test_rerank_joins_meaning_words_and_entities() -> None:
    """The hit that is good by all signals comes first; its signals are kept."""
    found = rerank_hits(
        "How long is the warranty of the A-100?",
        [
            hit(1, "The garden is open.", cosine=0.86, bm25=0.0),
            hit(2, "The warranty of the A-100 is two years.", cosine=0.85, bm25=5.0),
        ],
        ["a-100"],
    )
    assert [h.chunk_id for h in found] == [2, 1]
    assert found[0].signals["entities"] == 1.0
    assert rerank_hits("anything", []) == []


def test_deduplicate_drops_equal_and_overlapping_chunks() -> None:
    """The first of equal texts stays; chunks of one document that overlap by more than half are
    one.
    """
    first = hit(1, "a b c d e f g h")
    assert deduplicate(
        [first, replace(first, chunk_id=2, doc_id="e"), hit(3, "d e f g h i", start=6)]
    ) == [first]
    far = hit(4, "h i j k l m n o", start=14)
    assert deduplicate([first, far]) == [first, far]


def test_entity_share() -> None:
    """Letter case aside; nothing asked is nothing shared."""
    assert compute_entity_share(["A-100", "pump"], "the a-100 valve") == 0.5
    assert compute_entity_share([], "x") == 0


def test_confidence_is_a_probability_that_grows_with_the_evidence() -> None:
    """No hits: none. Matching words and meaning: more than neither."""
    good = rerank_hits(
        "warranty of the pump", [hit(1, "The warranty of the pump is two years.", cosine=0.92)]
    )
    bad = rerank_hits("warranty of the pump", [hit(1, "Opening hours on Sunday", cosine=0.75)])
    assert compute_confidence("x", []) == 0.0
    assert (
        0
        <= compute_confidence("warranty of the pump", bad)
        < compute_confidence("warranty of the pump", good)
        <= 1
    )


def test_interleave_takes_two_rankings_in_turn() -> None:
    """The second's hits carry the first's scores, so that nothing later prunes them by scale."""
    first = [replace(hit(1, "a"), score=9.0), replace(hit(2, "b"), score=5.0)]
    second = [hit(3, "c"), hit(4, "d"), hit(5, "e")]
    assert [(h.chunk_id, h.score) for h in interleave_rankings(first, second)] == [
        (1, 9.0),
        (3, 9.0),
        (2, 5.0),
        (4, 5.0),
        (5, 5.0),
    ]
    assert [h.chunk_id for h in interleave_rankings([], second)] == [3, 4, 5]


def test_append_keeps_scores_falling() -> None:
    """A ranking that comes last scores no more than what stands before it."""
    first, second = (
        [replace(hit(1, "a"), score=9.0), replace(hit(2, "b"), score=5.0)],
        [replace(hit(3, "c"), score=7.0)],
    )
    assert [(h.chunk_id, h.score) for h in append_ranking(first, second)] == [
        (1, 9.0),
        (2, 5.0),
        (3, 5.0),
    ]
    assert [(h.chunk_id, h.score) for h in append_ranking([], second)] == [(3, 0.0)]


def test_a_passage_without_a_vector_is_neither_near_nor_far() -> None:
    """Its words decide; the others are compared by meaning as if it were not there."""
    hits = [
        hit(1, "roses", cosine=0.80),
        hit(2, "lilies", cosine=0.82),
        hit(3, "warranty of the pump", cosine=0.0, bm25=9.0),
    ]
    assert [h.chunk_id for h in rerank_hits("warranty of the pump", hits)] == [3, 2, 1]


def test_a_hair_of_meaning_does_not_beat_words_in_a_small_pool() -> None:
    """Of two passages the differences are what they are, not stretched to a standard deviation."""
    near = [
        hit(1, "The garden is open.", cosine=0.861, bm25=0.0),
        hit(2, "The warranty is two years.", cosine=0.860, bm25=0.5),
    ]
    assert [h.chunk_id for h in rerank_hits("warranty", near)] == [2, 1]
