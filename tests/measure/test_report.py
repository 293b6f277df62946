"""Items become figures; each figure was counted by hand."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.measure.conftest import item, replied, reported, searched

from citewell.errors import InvalidInput
from citewell.measure.judgement import judge_item
from citewell.measure.report import Item, read_report


def test_every_figure_by_hand(some: list[Item]) -> None:
    """Three asked of the answerable: one right, one refused. Two refused in all, one of them due.
    One of two was refused.
    """
    found = reported(some)
    assert (found.n, found.of) == (7, 7)
    assert found.retrieval["hit@1"] == 1 / 4
    assert found.retrieval["hit@5"] == 3 / 4
    assert found.retrieval["mrr@10"] == pytest.approx((1 + 1 / 4 + 1 / 2 + 0) / 4)
    assert found.pages == dict.fromkeys(found.retrieval)
    assert found.answer["right"] == pytest.approx(1 / 3)
    assert found.answer["f1"] == 0.5
    assert found.refusal == {"precision": 0.5, "recall": 0.5, "wrongly": pytest.approx(1 / 3)}
    assert found.citations["verbatim"] == 1.0
    assert found.citations["precision"] == 0.5  # of the two answers given to what can be answered
    errors = [(0.9 - 1) ** 2, 0.8**2, 0.2**2, 0.1**2, 0.6**2]
    assert found.confidence["brier"] == pytest.approx(sum(errors) / 5)
    assert found.confidence["brier_answered"] == pytest.approx(
        (errors[0] + errors[1] + errors[4]) / 3
    )
    assert found.counted["refusal.wrongly"] == 3
    assert found.counted["citations.verbatim"] == 3
    assert found.latency_s == {"p50": 2.0, "p95": 2.0, "search_p50": 0.1, "search_p95": 0.1}
    assert found.troubles == ["1 questions could not be asked; failed: the disk is full"]


def test_every_figure_has_its_interval(some: list[Item]) -> None:
    """Low, value and high in order."""
    found = reported(some)
    for full, (low, high) in found.intervals.items():
        group, _, name = full.partition(".")
        value = found.group(group)[name]
        assert value is not None
        assert low <= value + 1e-9, full
        assert value <= high + 1e-9, full
        assert found.counted[full] > 0


def test_slices_by_data_set_and_languages() -> None:
    """Only where there are several."""
    items = [item("a"), item("b", dataset="other", pair="zh→en", search=searched(2))]
    found = {one.name: one for one in reported(items).slices}
    assert list(found) == ["dataset set", "dataset other", "languages en", "languages zh→en"]
    assert found["languages zh→en"].figures["retrieval"]["hit@1"] == 0
    assert reported(items[:1]).slices == []


def test_reliability_is_of_searches_with_and_without_gold() -> None:
    """Two searches and the same two without their gold; one held it."""
    found = reported([item("a", search=searched(1)), item("b", search=searched(9))])
    assert found.reliability["retrieval"].n == 4
    assert found.reliability["retrieval"].positive == 0.25
    assert "answer" not in found.reliability


def test_weights_are_fitted_where_asked() -> None:
    """High signals mean held: the weight is above 0, and the languages are told apart."""
    pairs = ("en", "zh", "zh→en")
    items = [
        item(f"{n}", search=searched(1 if n % 5 else 9, x=0.9 - 0.01 * (n % 7)), pair=pairs[n % 3])
        for n in range(40)
    ]
    assert reported(items).fits == []
    [fit] = reported(items, calibrate=True).fits
    assert (fit.name, fit.whole.n) == ("retrieval", 80)
    assert fit.weights["x"] > 0
    assert set(fit.pairs) == set(pairs)
    assert sum(part.n for part in fit.pairs.values()) == 80


def test_json_is_read_back_whole(some: list[Item], tmp_path: Path) -> None:
    """The same report; another file is refused by name."""
    found = reported(some)
    path = tmp_path / "r.json"
    path.write_text(found.model_dump_json(), "utf-8")
    assert read_report(path) == found
    path.write_text('{"n": 1}', "utf-8")
    with pytest.raises(InvalidInput, match="is no report"):
        read_report(path)
    with pytest.raises(InvalidInput, match="No such file"):
        read_report(tmp_path / "absent.json")


def test_nothing_asked_gives_a_report_without_figures() -> None:
    """Stopped before the first question."""
    found = reported([], of=3)
    assert (found.n, found.of) == (0, 3)
    assert set(found.retrieval.values()) == {None}


def test_judgements(some: list[Item]) -> None:
    """The words people read, and the order: what misleads comes before what is missing."""
    assert [judge_item(one).words for one in some] == [
        "right",
        "wrong",
        "wrongly refused",
        "rightly refused",
        "should refuse",
        "not found",
        "failed",
    ]
    ordered = sorted(some, key=lambda one: -judge_item(one).badness)
    assert [one.id for one in ordered[:3]] == ["failed", "wrong", "made up"]
    assert judge_item(item("x", search=searched(3))).words == "found at 3"
    assert judge_item(item("x", search=None)).words == "not judged"
    assert (
        judge_item(item("x", answers=[], answer=replied(refused=True))).words == "wrongly refused"
    )
