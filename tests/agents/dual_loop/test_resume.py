"""A run that ends in the middle goes on from its last finished node, from JSON, without asking the
model again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from pydantic import TypeAdapter
from tests.agents.replies import draft, untold, verdicts

from citewell.agents.dual_loop.dual_loop import GRAPH
from citewell.agents.dual_loop.dual_loop_state import DualLoopState
from citewell.graph import END, get_node_name

if TYPE_CHECKING:
    from tests.agents.dual_loop.conftest import Desk

STATE = TypeAdapter(DualLoopState)
QUESTION = "Within how many days may international orders be returned?"
WORDED = "You have 30 days to send one back from abroad."
NODES = [get_node_name(node) for node in GRAPH.table]


@pytest.mark.parametrize(
    "last", [node for node in NODES if node not in {"direct_response", "consolidate_memory"}]
)
async def test_goes_on_after_any_node(loops: Desk, last: str) -> None:
    """The same answer, the same two calls in all, whichever node was the last to finish."""
    loops.finds("direct_chunk_search", loops.text)
    loops.script.enqueue(draft(WORDED), verdicts("entailed"))
    loops.die_after = last
    state = DualLoopState(QUESTION)
    with pytest.raises(loops.killed):
        await loops.go_on(state)
    kept = STATE.dump_json(state)
    node, after = loops.saved[-1]
    assert (node, after != END) == (last, True)
    loops.die_after = ""
    done = await loops.go_on(STATE.validate_json(kept), start=after, n=len(loops.saved))
    assert (done.status, done.final_answer) == ("answered", WORDED + "[1]")
    assert done.model_calls == len(loops.script.calls) == 2
    assert len(loops.kept) == 1


async def test_a_state_in_the_middle_of_a_correction_survives_json(loops: Desk) -> None:
    """Draft, attempts, evidence and the queries asked before are all there again."""
    loops.finds("direct_chunk_search", loops.text, loops.other)
    loops.script.enqueue(
        untold("Nothing.", search_for="other words"),
        draft(WORDED),
        verdicts("not_stated", reason="wrong"),
    )
    loops.die_after = "grade_relevance"
    state = DualLoopState(QUESTION)
    with pytest.raises(loops.killed):
        await loops.go_on(state)
    again = STATE.validate_json(STATE.dump_json(state))
    assert again == state
    assert (again.search_for, len(again.attempts), again.queries) == ("other words", 1, [QUESTION])
    loops.die_after = ""
    done = await loops.go_on(again, start=loops.saved[-1][1], n=len(loops.saved))
    assert (done.queries, len(done.attempts)) == ([QUESTION, "other words"], 2)
    assert STATE.validate_json(STATE.dump_json(done)) == done
