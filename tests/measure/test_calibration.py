"""Fitting and rating probabilities, against values worked out by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from tests.measure.conftest import item, replied

from citewell.measure.calibration import Sample, compute_auc, fit, measure_reliability
from citewell.measure.report import Candidate
from citewell.measure.samples import (
    LOST,
    choose_threshold,
    fit_weights,
    label_picks,
    make_answer_labeller,
)


def drawn(n: int, *, seed: int = 3, groups: int = 100) -> list[Sample]:
    """Labels drawn with the chance 1 / (1 + exp(-(-2 + 6 x))), and a signal that says nothing."""
    random = np.random.default_rng(seed)
    found = []
    for at in range(n):
        x, noise = random.random(2)
        label = random.random() < 1 / (1 + math.exp(2 - 6 * x))
        found.append(
            Sample(
                {"x": x, "noise": noise, "still": 1.0}, bool(label), f"g{at % groups}", "en", "set"
            )
        )
    return found


def test_fit_finds_the_weights_that_labels_were_drawn_with() -> None:
    """Bias -2 and weight 6 within what 4,000 items allow; the signal that never moves weighs
    nothing.
    """
    samples = drawn(4000)
    found = fit(samples)
    assert found is not None
    assert found.weights["x"] == pytest.approx(6, abs=0.6)
    assert found.weights["noise"] == pytest.approx(0, abs=0.4)
    assert found.weights["still"] == 0
    assert found.bias == pytest.approx(-2, abs=0.4)
    rated = measure_reliability(found.chances, [s.label for s in samples])
    assert rated is not None
    assert rated.brier < 0.8 * rated.brier_of_the_mean
    assert rated.ece < 0.04


def test_what_cannot_be_learned_is_said() -> None:
    """Labels that are all the same, or fewer groups than folds."""
    assert fit([s for s in drawn(200) if s.label]) is None
    assert fit(drawn(200, groups=3)) is None


def test_a_group_never_stands_on_both_sides() -> None:
    """A signal that names the group foretells nothing when the group is held out, though within a
    fold it would be perfect.
    """
    random = np.random.default_rng(0)
    samples = []
    for group in range(40):
        label = bool(random.random() < 0.5)
        marks = {f"is_{n}": float(n == group) for n in range(40)}
        samples += [Sample(marks, label, f"g{group}", "en", "set")] * 5
    found = fit(samples)
    assert found is not None
    rated = measure_reliability(found.chances, [s.label for s in samples])
    assert rated is not None
    assert rated.auc is not None
    assert rated.brier >= 0.9 * rated.brier_of_the_mean


def test_reliability_by_hand() -> None:
    """0.9 and 0.7 right, 0.8 and 0.2 wrong: Brier (0.01 + 0.09 + 0.64 + 0.04) / 4; 3 of 4 pairs in
    order.
    """
    rated = measure_reliability([0.9, 0.7, 0.8, 0.2], [True, True, False, False])
    assert rated is not None
    assert rated.brier == pytest.approx(0.195)
    assert rated.brier_of_the_mean == 0.25
    assert rated.auc == pytest.approx(0.75)
    assert rated.ece == pytest.approx((0.1 + 0.3 + 0.8 + 0.2) / 4)
    assert [(b.low, b.n) for b in rated.bins] == [(0.2, 1), (0.7, 1), (0.8, 1), (0.9, 1)]
    assert measure_reliability([], []) is None


def test_auc_counts_ties_half() -> None:
    """One pair above, one tied: 0.75. Labels of one kind have none."""
    assert compute_auc(np.array([0.5, 0.5, 0.1]), np.array([1.0, 0.0, 0.0])) == 0.75
    assert compute_auc(np.array([0.5]), np.array([1.0])) is None


def test_certainty_falls_into_the_last_bin() -> None:
    """A confidence of exactly 1 is no eleventh bin."""
    rated = measure_reliability([1.0, 0.0], [True, False])
    assert rated is not None
    assert [(b.low, b.high) for b in rated.bins] == [(0.0, 0.1), (0.9, 1.0)]


def test_a_threshold_refuses_few_right_answers() -> None:
    """At most `LOST` of the right ones lie below it, whatever the wrong ones do; without right ones
    it is a half.
    """
    chances = [0.5 + n / 1999 for n in range(100)] + [0.9] * 50
    labels = [True] * 100 + [False] * 50
    threshold = choose_threshold(chances, labels)
    assert sum(chance < threshold for chance in chances[:100]) == LOST * 100
    assert choose_threshold([0.7], [False]) == 0.5


def test_a_new_pick_moves_what_the_decision_is_fitted_on() -> None:
    """Of two candidates the right one is surer by `span`, which the old pick did not look at."""
    candidates = [
        Candidate(signals={"span": 1.0, "score": 0.9}, right=False),
        Candidate(signals={"span": 3.0, "score": 0.1}, right=True),
    ]
    items = [
        item(
            f"q{n}",
            answer=replied(
                candidates=candidates, signals={"retrieval": 0.5, "span": 1.0}, tier="reader"
            ),
        )
        for n in range(10)
    ]
    pick = fit_weights("answer:pick", items, label_picks)
    assert pick is not None
    assert pick.weights["span"] > 0 > pick.weights["score"]
    assert make_answer_labeller("reader", pick)(items[0]) == [
        ({"retrieval": 0.5, "span": 3.0, "score": 0.1}, True)
    ]
    assert label_picks(item("q", answerable=False, answer=items[0].answer)) == []
