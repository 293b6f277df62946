"""Rankings rated by hand."""

from __future__ import annotations

import math
from math import log2

import pytest

from citewell.measure import ranking
from citewell.measure.ranking import (
    build_ranking,
    compute_hit,
    compute_ndcg,
    compute_recall,
    compute_reciprocal_rank,
    find_first_place,
    measure_ranking,
)


def units(*names: str) -> list[frozenset[str]]:
    return [frozenset({name}) for name in names]


GOLD = {"a": 3.0, "b": 2.0, "c": 1.0}


def test_passages_of_one_document_are_one_place() -> None:
    """x, x, b, a, b: the places are x, b, a."""
    assert build_ranking(units("x", "x", "b", "a", "b"), GOLD) == [frozenset(), {"b"}, {"a"}]


def test_figures_by_hand() -> None:
    """b second, a third: hit@1 0, hit@3 1, recall 2/3, reciprocal rank 1/2, and the gain over the
    ideal order a, b, c.
    """
    found = build_ranking(units("x", "b", "a"), GOLD)
    assert (compute_hit(found, 1), compute_hit(found, 3)) == (0, 1)
    assert find_first_place(found) == 2
    assert compute_recall(found, GOLD) == pytest.approx(2 / 3)
    assert compute_reciprocal_rank(found) == 0.5
    gained, ideal = 2 / log2(3) + 3 / log2(4), 3 / log2(2) + 2 / log2(3) + 1 / log2(4)
    assert compute_ndcg(found, GOLD) == pytest.approx(gained / ideal)
    assert set(measure_ranking(found, GOLD)) == set(ranking.FIGURES)


def test_beyond_ten_places_nothing_counts() -> None:
    """The eleventh document is too late."""
    found = build_ranking(units(*(f"x{n}" for n in range(10)), "a"), GOLD)
    assert (
        compute_recall(found, GOLD),
        compute_reciprocal_rank(found),
        compute_ndcg(found, GOLD),
    ) == (0, 0, 0)
    assert find_first_place(found) == 11
    assert find_first_place([]) is None


def test_a_passage_may_cover_two_pages() -> None:
    """Pages 3 and 4 by one passage: both gold pages are found, in one place."""
    gold = {("d", 4): 1.0, ("d", 9): 1.0}
    found = build_ranking(
        [frozenset({("d", 3), ("d", 4)}), frozenset({("d", 4)}), frozenset({("d", 9)})], gold
    )
    assert found == [{("d", 4)}, {("d", 9)}]
    assert compute_recall(found, gold) == 1
    assert compute_ndcg(found, gold) == pytest.approx(1)


def test_one_passage_with_two_gold_pages_is_the_best_there_is() -> None:
    """It counts as two places, so nothing can be better."""
    gold = {("d", 1): 1.0, ("d", 2): 1.0}
    found = build_ranking([frozenset({("d", 1), ("d", 2)})], gold)
    assert compute_ndcg(found, gold) == pytest.approx(1)
    late = build_ranking([frozenset({("d", 7)}), frozenset({("d", 1), ("d", 2)})], gold)
    assert compute_ndcg(late, gold) == pytest.approx(
        (1 / math.log2(3) + 1 / math.log2(4)) / (1 + 1 / math.log2(3))
    )
