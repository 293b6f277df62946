"""What comes after ranking: days and priorities, diversity, snippets, and hits widened by what
stands around them.
"""

from __future__ import annotations

import numpy as np
import pytest

from citewell.retrieve.boosts import DAY, apply_boosts, compute_freshness
from citewell.retrieve.diversify import diversify_hits
from citewell.retrieve.snippet import extract_snippet
from citewell.types import Hit

NOW = 1_000 * DAY


def hit(n: int, score: float, *, doc: str = "d", days: float = 0, priority: int = 0) -> Hit:
    return Hit(
        n,
        doc,
        "c",
        "T",
        "u",
        (),
        None,
        0,
        1,
        str(n),
        "en",
        dated=NOW - days * DAY,
        priority=priority,
        score=score,
    )


def order(hits: list[Hit]) -> list[int]:
    return [each.chunk_id for each in hits]


def test_recency_halves() -> None:
    """1 today and for days to come, a half after a half-life, a quarter after two."""
    assert [compute_freshness(NOW - days * DAY, 100, NOW) for days in (-5, 0, 100, 200)] == [
        1,
        1,
        0.5,
        0.25,
    ]


def test_recency_moves_what_is_about_as_good() -> None:
    """Off it moves nothing; on, the newer of two near hits is first, and a far better old one stays
    first.
    """
    hits = [hit(1, 1.0, days=1000), hit(2, 0.8, days=1), hit(3, -2.0, days=0)]
    assert apply_boosts(hits, recency=0, half_life_days=30, now=NOW) == hits
    moved = apply_boosts(hits, recency=1, half_life_days=30, now=NOW)
    assert order(moved) == [2, 1, 3]
    assert moved[0].signals["recency"] == pytest.approx(0.977, abs=0.001)
    assert order(
        apply_boosts([hit(1, 5.0, days=1000), hit(2, 0.8)], recency=1, half_life_days=30, now=NOW)
    ) == [1, 2]


def test_priority_is_a_small_bonus() -> None:
    """It decides between near hits only, and is shown as a signal."""
    near = apply_boosts(
        [hit(1, 1.0), hit(2, 0.5, priority=10)], recency=0, half_life_days=1, now=NOW
    )
    assert order(near) == [2, 1]
    assert near[0].signals == {"priority": 1.0}
    assert order(
        apply_boosts([hit(1, 2.0), hit(2, 0.5, priority=10)], recency=0, half_life_days=1, now=NOW)
    ) == [1, 2]


def test_diversity_takes_what_is_unlike() -> None:
    """The best stays first; a copy of it comes after what is worse but says something else; 0 keeps
    the order.
    """
    hits = [hit(1, 1.0, doc="a"), hit(2, 0.95, doc="b"), hit(3, 0.6, doc="c"), hit(4, 0.0, doc="d")]
    vectors = np.eye(4, dtype=np.float32)
    vectors[1] = vectors[0]
    assert order(diversify_hits(hits, vectors, 3, 0.0)) == [1, 2, 3]
    assert order(diversify_hits(hits, vectors, 3, 0.5)) == [1, 3, 4]
    assert order(diversify_hits(hits, vectors, 4, 0.5)) == [1, 3, 4, 2]


def test_diversity_between_documents() -> None:
    """Passages of one document count as half alike, whatever they say."""
    hits = [hit(1, 1.0, doc="a"), hit(2, 0.9, doc="a"), hit(3, 0.85, doc="b"), hit(4, 0.0, doc="c")]
    assert order(diversify_hits(hits, np.eye(4, dtype=np.float32), 2, 0.5)) == [1, 3]
    assert order(diversify_hits(hits[:1], np.eye(1, dtype=np.float32), 2, 0.5)) == [1]


@pytest.mark.parametrize(
    ("question", "text", "marked"),
    [
        ("How long is the warranty?", "Blue. It has warranties for pumps.", ["warranties"]),
        (
            "price of A-100",
            "The A-100 costs 5; its price, in A100 money.",
            ["A-100", "price", "A100"],
        ),
        ("水泵的保修期多长", "水泵的保修期是两年。", ["水泵", "保修期"]),
        ("T300 的载重", "型号：T300，载重：120 kg", ["T300", "载重"]),
        ("nothing", "Of all this.", []),
        ("anything", "", []),
    ],
)
def test_a_snippet_marks_the_words_of_the_question(
    question: str, text: str, marked: list[str]
) -> None:
    """By their stem in English, as they are in Chinese; the snippet is the passage's own text."""
    shown = extract_snippet(question, text)
    assert [shown.text[a:b] for a, b in shown.marks] == marked
    assert text[shown.start : shown.start + len(shown.text)] == shown.text


def test_a_snippet_of_a_long_passage() -> None:
    """It is about the sentence that has the words, and of a sentence without end the stretch that
    has them.
    """
    text = "Nothing of it. " * 40 + "The needle is here. " + "Nothing again. " * 40
    shown = extract_snippet("needle", text)
    assert "The needle is here." in shown.text
    assert len(shown.text) <= 240
    endless = extract_snippet("needle", "hay " * 500 + "a needle " + "hay " * 500)
    assert [endless.text[a:b] for a, b in endless.marks] == ["needle"]
    assert len(endless.text) <= 240
