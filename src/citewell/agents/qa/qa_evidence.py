"""What an answer of `qa` is drafted from."""

from __future__ import annotations

from citewell.agents.qa.qa_state import Deps, QAState
from citewell.errors import CitewellError
from citewell.messages import Text
from citewell.skills.evidence.confirmed_evidence import (
    add_confirmed_evidence,
)
from citewell.skills.evidence.passages import Passage, select_passages


async def collect_evidence(state: QAState, deps: Deps) -> list[Passage]:
    """What is read for the answer, and what people confirmed of such questions in front of it."""
    question = state.standalone_question
    passages = await select_passages(
        question, state.retrieved_documents, deps.llm, deps.search.widen
    )
    if not state.vouched:
        return passages
    try:
        passages, against = await add_confirmed_evidence(
            question, state.vouched, passages, deps.judge
        )
    except CitewellError as error:
        against = [
            Text("what people confirmed was not looked at: {message}", message=error.message)
        ]
    state.warnings += [warning for warning in against if warning not in state.warnings]
    return passages
