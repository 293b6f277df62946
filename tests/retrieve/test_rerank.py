"""The second look at the best hits: what moves, what stays, and what a failure costs."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from citewell.errors import CitewellError, ModelUnavailable, PermanentError, TransientError
from citewell.retrieve.excerpt import extract_excerpt
from citewell.retrieve.rerank import MOST, rerank_with_model
from citewell.text.sentences import count_tokens
from citewell.types import Hit


class Scripted:
    """A reranker that gives the figures it was made with, and remembers the texts."""

    name = "scripted"
    passage_tokens = 12
    weight = 0.5
    reach = 6.0

    def __init__(self, *figures: float | None, error: CitewellError | None = None) -> None:
        self.figures = figures
        self.error = error
        self.texts: list[str] = []

    async def scores(self, question: str, texts: Sequence[str]) -> list[float | None]:
        self.texts += texts
        if self.error:
            raise self.error
        return list(self.figures)

    async def close(self) -> None:
        """Nothing is held."""


def hit(number: int, score: float, text: str = "Words.") -> Hit:
    return Hit(
        number,
        "d",
        "c",
        "Title",
        "u",
        ("One", "Title"),
        None,
        0,
        1,
        text,
        "en",
        score=score,
        signals={"bm25": 1.0},
    )


HITS = [hit(n, 5.0 - n) for n in range(6)]


def order(hits: Sequence[Hit]) -> list[int]:
    return [each.chunk_id for each in hits]


async def test_judged_hits_change_places() -> None:
    """Score and log-odds count together: +4 against -2 lifts the second over the first; the rest
    stays behind in order.
    """
    found = await rerank_with_model(Scripted(-2.0, 4.0, 0.0, -4.0), "q", HITS, 4)
    assert order(found.hits) == [1, 0, 2, 3, 4, 5]
    assert found.warnings == []
    assert found.hits[0].signals == {"bm25": 1.0, "rerank": 4.0}
    assert "rerank" not in found.hits[4].signals


async def test_scores_stay_in_order_and_in_scale() -> None:
    """The best hit keeps the best score, none behind it scores more than one before it."""
    hits = (await rerank_with_model(Scripted(-6.0, -6.0, 6.0, -6.0), "q", HITS, 4)).hits
    scores = [each.score for each in hits]
    assert scores[0] == 5.0
    assert scores == sorted(scores, reverse=True)


async def test_what_was_not_judged_is_undecided() -> None:
    """None counts as 0: below a yes, above a no; it leaves no signal."""
    hits = (await rerank_with_model(Scripted(-5.0, 1.0, None, None), "q", HITS, 4)).hits
    assert order(hits) == [1, 2, 0, 3, 4, 5]
    assert "rerank" not in hits[1].signals


async def test_figures_beyond_belief_are_cut() -> None:
    """An endpoint's raw 40 weighs no more than MOST."""
    near = [hit(0, 5.0), hit(1, 4.9)]
    hits = (await rerank_with_model(Scripted(-40.0, 40.0), "q", near, 2)).hits
    assert hits[0].score - hits[1].score == pytest.approx(MOST * 2 * 0.5 - 0.1)


async def test_hits_out_of_reach_are_not_looked_at() -> None:
    """A hit too far behind costs nothing; with only the first in reach nobody is asked."""
    far = [hit(0, 5.0), hit(1, 4.0), hit(2, -20.0)]
    reranker = Scripted(1.0, 1.0)
    assert order((await rerank_with_model(reranker, "q", far, 3)).hits) == [0, 1, 2]
    assert len(reranker.texts) == 2
    nobody = Scripted()
    assert (await rerank_with_model(nobody, "q", [far[0], far[2]], 2)).hits == [far[0], far[2]]
    assert nobody.texts == []


@pytest.mark.parametrize(
    "error", [TransientError("busy"), PermanentError("odd reply"), ModelUnavailable("no file")]
)
async def test_reranker_that_is_down(error: CitewellError) -> None:
    """The order stays, and a warning says why."""
    found = await rerank_with_model(Scripted(error=error), "q", HITS, 4)
    assert found.hits == HITS
    [warning] = found.warnings
    assert error.message in warning


async def test_without_a_reranker() -> None:
    """All stays as it is."""
    assert (await rerank_with_model(None, "q", HITS, 4)).hits == HITS
    assert (await rerank_with_model(Scripted(), "q", [], 4)).hits == []


async def test_what_it_is_shown() -> None:
    """The first hit whole, as it is likely sent next; of the others what serves the question, under
    title and headings.
    """
    text = (
        "Rain falls in autumn here. The warranty covers the frame for ten years. Deliveries "
        "arrive on weekdays only."
    )
    reranker = Scripted(1.0, 1.0)
    await rerank_with_model(
        reranker,
        "How long does the warranty cover the frame?",
        [hit(0, 2.0, text), hit(1, 1.0, text)],
        2,
    )
    assert reranker.texts == [
        f"Title › One\n{text}",
        "Title › One\nThe warranty covers the frame for ten years.",
    ]


def test_excerpts() -> None:
    """Sentences of the text in their order, with those beside the best, a gap marked; one long
    sentence stays whole.
    """
    text = "The frame is steel. Rain falls. Snow melts. The frame has ten years of warranty."
    assert extract_excerpt("steel warranty years", text, 100) == text
    short = extract_excerpt("steel warranty years", text, 18)
    assert short == "The frame is steel. … Snow melts. The frame has ten years of warranty."
    assert count_tokens(short) <= 22
    assert (
        extract_excerpt("frame", "One sentence that is too long for it.", 3)
        == "One sentence that is too long for it."
    )
    assert extract_excerpt("保修", "车架保修十年。电池两年。" * 30, 10).startswith("车架保修十年。")
