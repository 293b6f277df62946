"""A run that ends in the middle goes on from its last finished node, from JSON, without asking the model again."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from pydantic import TypeAdapter

from citewell.agents.dual_loop import GRAPH
from citewell.agents.dual_loop_state import DualLoopState
from citewell.flow import END, name_of

if TYPE_CHECKING:
    from tests.agents.dual_loop.conftest import Desk

STATE = TypeAdapter(DualLoopState)
QUESTION = "Within how many days may international orders be returned?"
ANSWER = "International orders may be returned within 30 days."
NODES = [name_of(node) for node in GRAPH.table]


@pytest.mark.parametrize("last", [node for node in NODES if node not in {"direct_response", "consolidate_memory"}])
async def test_goes_on_after_any_node(loops: Desk, last: str) -> None:
    """The same answer, the same three calls in all, whichever node was the last to finish."""
    loops.finds("direct_chunk_search", loops.text)
    loops.script.enqueue(ANSWER)
    loops.die_after = last
    state = DualLoopState(QUESTION)
    with pytest.raises(loops.killed):
        await loops.go_on(state)
    kept = STATE.dump_json(state)
    node, after = loops.saved[-1]
    assert (node, after != END) == (last, True)
    before = len(loops.script.calls)
    loops.die_after = ""
    done = await loops.go_on(STATE.validate_json(kept), start=after, n=len(loops.saved))
    assert (done.status, done.final_answer) == ("answered", ANSWER + "[1]")
    assert len(loops.script.calls) == 3
    assert before + sum(1 for name in loops.nodes if name in {"grade_documents", "generate_response", "grade_relevance"}) >= 3
    assert len(loops.kept) == 1


async def test_a_state_in_the_middle_of_a_correction_survives_json(loops: Desk) -> None:
    """Attempts, evidence, rejected passages and the queries asked before are all there again."""
    loops.finds("direct_chunk_search", loops.text, loops.other)
    loops.script.enqueue("Return shipping is not paid by us.", "other words", "I don't know.", "more words", "I don't know.")
    loops.script.enqueue_yes_no(2.0, -1.0, 2.0)
    state = await loops.run(QUESTION)
    again = STATE.validate_json(STATE.dump_json(state))
    assert again == state
    assert again.attempts
    assert again.queries == [QUESTION, "other words"] or len(again.queries) >= 2
