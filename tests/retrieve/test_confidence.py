"""The search confidence: its signals, its weights from a file, and where they were fitted."""

from __future__ import annotations

import pytest

from citewell.retrieve.confidence import (
    SIGNALS,
    UNKNOWN_COSINE,
    Logistic,
    compute_confidence,
    load_shipped,
    measure_signals,
)
from citewell.types import Hit


def hit(text: str, **signals: float) -> Hit:
    lang = "en" if text.isascii() else "zh"
    return Hit(1, "d", "c", "Title", "uri", (), None, 0, len(text), text, lang, signals=signals)


def test_the_best_three_count() -> None:
    """The highest of each signal; a fourth hit says nothing."""
    hits = [
        hit("a", cosine=0.8, coverage=0.1),
        hit("b", cosine=0.9),
        hit("c", coverage=0.5),
        hit("d", cosine=0.99, coverage=1),
    ]
    signals = measure_signals("What is it?", hits)
    assert (signals["own"], signals["cosine"], signals["coverage"], signals["foreign"]) == (
        1.0,
        0.9,
        0.5,
        0.0,
    )


def test_passages_of_another_language_have_signals_of_their_own() -> None:
    """Their figures are not mixed with those of the question's language."""
    hits = [
        hit("灯塔", cosine=0.8, coverage=0.4, foreign_cosine=0.6),
        hit("it", cosine=0.7, coverage=0.1),
    ]
    signals = measure_signals("What is it?", hits)
    assert (signals["own"], signals["cosine"], signals["coverage"]) == (1.0, 0.7, 0.1)
    assert (signals["foreign"], signals["foreign_cosine"], signals["foreign_coverage"]) == (
        1.0,
        0.6,
        0.4,
    )


def test_chunks_that_wait_for_their_vector() -> None:
    """A likeness of meaning that is not known yet is taken as middling."""
    assert measure_signals("What is it?", [hit("it", coverage=1.0)])["cosine"] == UNKNOWN_COSINE


def test_own_weights_are_used_where_given() -> None:
    """By hand: 1 / (1 + e^-(1 - 2 * 0.5)) = 0.5; nothing found is no confidence at all."""
    model = Logistic(bias=1.0, weights={"coverage": -2.0})
    hits = [hit("it", cosine=0.8, coverage=0.5)]
    assert compute_confidence("What is it?", hits, model) == pytest.approx(0.5)
    assert compute_confidence("What is it?", hits) != pytest.approx(0.5)
    assert compute_confidence("What is it?", [], model) == 0.0


def test_shipped_weights_know_their_signals_and_their_origin() -> None:
    """Every weight has its signal, and the file says on what it was fitted."""
    model = load_shipped().retrieval
    assert model is not None
    assert set(model.weights) <= set(SIGNALS)
    assert model.fitted is not None
    assert model.fitted.items > 100
    assert model.fitted.brier < model.fitted.brier_of_the_mean
    assert load_shipped().answer is not None
