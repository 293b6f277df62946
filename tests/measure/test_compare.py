"""Two reports over the same questions."""

from __future__ import annotations

from tests.measure.conftest import item, replied, reported, searched

from citewell.measure.compare import compare_reports


def test_only_shared_questions_are_compared() -> None:
    """What one report has alone is counted."""
    found = compare_reports(
        reported([item("a"), item("b")]), reported([item("b"), item("c"), item("d")])
    )
    assert (found.both, found.only_old, found.only_new) == (1, 1, 2)


def test_a_sure_gain_is_marked_and_a_small_one_is_not() -> None:
    """30 of 40 that become first are more than chance; 1 of 40 is not. Less Brier is better."""
    old = reported([item(f"{n}", search=searched(5)) for n in range(40)])
    much = reported([item(f"{n}", search=searched(1 if n < 30 else 5)) for n in range(40)])
    little = reported([item(f"{n}", search=searched(1 if n < 1 else 5)) for n in range(40)])
    gains = {one.name: one for one in compare_reports(old, much).differences}
    assert gains["retrieval.hit@1"].change.value == 0.75
    assert gains["retrieval.hit@1"].better is True
    assert gains["confidence.brier_search"].better is True
    assert gains["retrieval.recall@10"].better is None
    back = {one.name: one for one in compare_reports(much, old).differences}
    assert back["retrieval.mrr@10"].better is False
    few = {one.name: one for one in compare_reports(old, little).differences}
    assert few["retrieval.hit@1"].better is None


def test_questions_that_changed() -> None:
    """An answer that turned wrong comes before searches; what stayed is left out."""
    old = reported([item("a", answer=replied()), item("b", search=searched(2)), item("c")])
    new = reported([item("a", answer=replied(right=False)), item("b"), item("c")])
    changed = compare_reports(old, new).changed
    assert [(one.what, one.new.id) for one in changed] == [("answer", "a"), ("search", "b")]
    assert changed[0].gain == -1
    assert changed[1].gain > 0


def test_a_few_questions_are_no_proof() -> None:
    """Five that all get better may be chance, six may not."""
    for n, sure in ((1, None), (5, None), (6, True)):
        old = reported([item(f"{i}", search=searched(5)) for i in range(n)])
        new = reported([item(f"{i}") for i in range(n)])
        assert {one.name: one for one in compare_reports(old, new).differences}[
            "retrieval.hit@1"
        ].better is sure


def test_refusing_what_went_wrong_is_no_better_citing() -> None:
    """Figures of answers given are compared over the answers that both reports give."""
    old = reported([item(f"{n}", answer=replied(right=n < 10)) for n in range(20)])
    new = reported([item(f"{n}", answer=replied(refused=n >= 10)) for n in range(20)])
    cited = {one.name: one for one in compare_reports(old, new).differences}["citations.precision"]
    assert (cited.old, cited.new, cited.change.n, cited.better) == (1.0, 1.0, 10, None)
