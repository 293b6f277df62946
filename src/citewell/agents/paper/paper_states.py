"""The life of a reading session: spec 003's three states and what leads from one to another, as one
table. What is not in the table does not happen. A transition is committed together with what it
brought.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal

from citewell.errors import Conflict
from citewell.messages import Text

State = Literal["GUIDE_PENDING_REPORT", "GUIDE_PENDING_PLAN", "CONTROL_ROUTING"]
Happening = Literal["report_made", "plan_made", "question_answered", "plan_changed", "compared"]

FIRST: Final[State] = "GUIDE_PENDING_REPORT"
PENDING_PLAN: Final[State] = "GUIDE_PENDING_PLAN"
ROUTING: Final[State] = "CONTROL_ROUTING"
TRANSITIONS: Final[Mapping[tuple[State, Happening], State]] = {
    (FIRST, "report_made"): PENDING_PLAN,
    (PENDING_PLAN, "plan_made"): ROUTING,
    (ROUTING, "question_answered"): ROUTING,
    (ROUTING, "plan_changed"): ROUTING,
    # a cell of a comparison is asked of the paper alone: its session stays as it is
    **{(state, "compared"): state for state in (FIRST, PENDING_PLAN, ROUTING)},
}
NEXT: Final[Mapping[State, str]] = {
    FIRST: "its report is being made; open the session again when it is there",
    PENDING_PLAN: "say what interests you in the paper first; an empty interest gives the "
    "route through all of it",
    ROUTING: "the report and the first route are there; ask, or change the route",
}


def get_next_state(state: str, happening: Happening) -> State:
    """The state that follows. Raises Conflict for what may not happen in this one."""
    for (before, what), then in TRANSITIONS.items():
        if before == state and what == happening:
            return then
    words = happening.replace("_", " ")
    hint = next(
        (hint for known, hint in NEXT.items() if known == state),
        "this session is not one of a paper",
    )
    raise Conflict(
        Text("{words}: not in state {state}", words=words, state=state),
        hint=hint,
        code="illegal_event",
    )


def render_mermaid() -> str:
    """The table as Mermaid text; docs/papers.md shows it and a test compares."""
    lines = ["stateDiagram-v2", f"    [*] --> {FIRST}"]
    return "\n".join(
        [*lines, *(f"    {a} --> {b}: {what}" for (a, what), b in TRANSITIONS.items())]
    )
