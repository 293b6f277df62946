"""Intervals: known values, and what they must do."""

from __future__ import annotations

import numpy as np
import pytest

from citewell.measure.intervals import (
    Resampled,
    compute_difference,
    compute_figure,
    compute_percentile,
    compute_wilson,
)


def test_wilson_by_hand() -> None:
    """17 of 20: 0.640 to 0.948; all of 20 is no certainty."""
    assert compute_wilson(0.85, 20) == pytest.approx((0.6396, 0.9476), abs=1e-3)
    low, high = compute_wilson(1.0, 20)
    assert low == pytest.approx(0.8389, abs=1e-3)
    assert high == 1.0


def test_share_of_the_items_that_count() -> None:
    """Items with nothing below the line are left out of n; none at all is no figure."""
    found = compute_figure([1, 0, 0, 1], [1, 1, 0, 1], Resampled(4))
    assert found is not None
    assert found.value == pytest.approx(2 / 3)
    assert found.n == 3
    assert compute_figure([0, 0], [0, 0], Resampled(2)) is None
    assert compute_figure([], [], Resampled(0)) is None


def test_bootstrap_holds_the_value_and_narrows() -> None:
    """Four times the items: about half as wide, and the same each time."""
    values = np.random.default_rng(0).random(400)
    wide = compute_figure(values[:100], np.ones(100), Resampled(100))
    narrow = compute_figure(values, np.ones(400), Resampled(400))
    assert wide is not None
    assert narrow is not None
    assert wide.low < wide.value < wide.high
    assert 1.5 < (wide.high - wide.low) / (narrow.high - narrow.low) < 2.7
    assert compute_figure(values, np.ones(400), Resampled(400)) == narrow


def test_differences_are_paired() -> None:
    """Every item a little better is a sure gain, however much the items differ among themselves."""
    old = np.random.default_rng(1).random(60)
    ones = np.ones(60)
    change = compute_difference((old, ones), (old + 0.01, ones), Resampled(60))
    assert change is not None
    assert change.value == pytest.approx(0.01)
    assert 0.0099 < change.low <= change.high < 0.0101
    assert compute_difference((old, ones * 0), (old, ones), Resampled(60)) is None


def test_percentile() -> None:
    """Between the two nearest; of nothing there is none."""
    assert compute_percentile([1, 2, 3, 4], 0.5) == 2.5
    assert compute_percentile([], 0.5) is None


def test_items_that_are_all_alike_are_no_certainty() -> None:
    """Several quotes an item, all of them right, and one item with half a point: Wilson's interval
    over the items.
    """
    quotes = compute_figure([3.0, 2.0] * 10, [3.0, 2.0] * 10, Resampled(20))
    assert quotes is not None
    assert (quotes.n, quotes.high) == (50, 1.0)
    assert quotes.low == pytest.approx(compute_wilson(1.0, 20)[0])
    half = compute_figure([0.5], [1.0], Resampled(1))
    assert half is not None
    assert half.high - half.low > 0.8
