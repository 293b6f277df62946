"""What counts as a difference between two traces: rows and statements exactly, grades to a
hundredth.
"""

from __future__ import annotations

from typing import Any

import pytest

from citewell.service.sessions.compare_traces import find_differences
from citewell.types import Answer, Step, Trace


def trace(
    detail: dict[str, Any] | None = None,
    data: dict[str, Any] | None = None,
    confidence: float = 0.9,
) -> Trace:
    steps = [Step(n=1, node="Execute", action="refine", seconds=0.1, detail=detail or {})]
    answer = Answer(
        answer="a",
        status="answered",
        confidence=confidence,
        agent="data",
        trace_id="tr_1",
        data=data,
    )
    return Trace(
        trace_id="tr_1",
        agent="data",
        question="q",
        collection="",
        session_id="",
        created_at=0.0,
        steps=steps,
        prompts=[],
        answer=answer,
    )


def told(one: Trace, other: Trace) -> list[str]:
    return [f"{each.where}: {each.what}" for each in find_differences(one, other)]


@pytest.mark.parametrize("name", ["confidence", "log_odds", "probability"])
def test_grades_may_move_by_a_hundredth(name: str) -> None:
    assert told(trace({name: 0.5}), trace({name: 0.51})) == []
    assert told(trace({name: 0.5}), trace({name: 0.52})) == [f"1 Execute: {name}"]


def test_grades_within_lists() -> None:
    def known(similarity: float) -> Trace:
        return trace({"known": [{"item_id": "x", "similarity": similarity}]})

    assert told(known(0.95), known(0.951)) == []
    assert told(known(0.95), known(0.97)) == ["1 Execute: known[0].similarity"]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (0.5, 0.501),
        (1, 1.005),
        (100.25, 100.26),
        (1, True),
        (0, False),
        (None, ""),
        (None, 0),
        ("", "0"),
        (1.5, "1.5"),
    ],
)
def test_rows_are_compared_exactly(one: Any, other: Any) -> None:
    before, now = (
        trace(data={"rows": [["IT", value]], "sql": "SELECT 1"}) for value in (one, other)
    )
    assert told(before, now) == ["answer: rows[0][1]"]
    assert told(before, before) == []


def test_other_noted_figures_are_compared_exactly() -> None:
    assert told(trace({"share": 0.5}), trace({"share": 0.505})) == ["1 Execute: share"]
    assert told(trace({"summed": ["Rome", 110.5]}), trace({"summed": ["Rome", 110.51]})) == [
        "1 Execute: summed[1]"
    ]


def test_statements_are_compared_exactly() -> None:
    before, now = (trace(data={"sql": f"SELECT {n} FROM t"}) for n in ("1.0", "1.001"))
    assert told(before, now) == ["answer: sql"]


def test_an_answer_that_is_as_sure() -> None:
    assert told(trace(confidence=0.9), trace(confidence=0.908)) == []
    assert told(trace(confidence=0.9), trace(confidence=0.95)) == ["answer: confidence"]


def test_nothing_is_as_good_as_an_empty_note() -> None:
    assert told(trace({"missing": []}), trace({})) == []
    assert told(trace({"missing": ""}), trace({"missing": ["x"]})) == ["1 Execute: missing"]
