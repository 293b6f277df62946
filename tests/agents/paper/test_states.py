"""Spec 003's states: every way on, every way that is none."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import get_args

import pytest

from citewell.agents.paper.paper_states import (
    FIRST,
    NEXT,
    TRANSITIONS,
    Happening,
    State,
    get_next_state,
    render_mermaid,
)
from citewell.errors import Conflict

EVERY = list(product(get_args(State), get_args(Happening)))


@pytest.mark.parametrize(("state", "happening"), EVERY)
def test_each_pair_is_a_way_or_refused(state: State, happening: Happening) -> None:
    if (state, happening) in TRANSITIONS:
        assert get_next_state(state, happening) == TRANSITIONS[state, happening]
        return
    with pytest.raises(Conflict, match=f"not in state {state}") as refused:
        get_next_state(state, happening)
    assert refused.value.code == "illegal_event"
    assert refused.value.hint == NEXT[state]


def test_the_table_is_that_of_the_spec() -> None:
    assert FIRST == "GUIDE_PENDING_REPORT"
    assert get_next_state(FIRST, "report_made") == "GUIDE_PENDING_PLAN"
    assert get_next_state("GUIDE_PENDING_PLAN", "plan_made") == "CONTROL_ROUTING"
    assert get_next_state("CONTROL_ROUTING", "question_answered") == "CONTROL_ROUTING"


def test_a_session_of_another_agent_has_no_way() -> None:
    with pytest.raises(Conflict, match="not in state OPEN"):
        get_next_state("OPEN", "question_answered")


def test_the_docs_show_the_table() -> None:
    docs = Path(__file__).parents[3] / "docs" / "papers.md"
    assert render_mermaid() in docs.read_text(encoding="utf-8")
