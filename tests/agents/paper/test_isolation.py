"""Who is sent what: the conversation reaches the controller alone, a section agent reads its own
part, the audit the draft.
"""

from __future__ import annotations

from dataclasses import fields

import pytest
from tests.agents.paper.conftest import Desk, routed, verdicts

from citewell.agents.paper.paper_state import AuditPackage, RoutePackage, SectionPackage
from citewell.models.scripted import ScriptedLLM

HISTORY = [
    ("user", "How many layers does the network of RESCAST have? SECRET-OF-THE-TALK"),
    ("assistant", "Three layers. MARK-OF-THE-ANSWER"),
]


def test_the_packages_are_those_of_the_spec() -> None:
    assert [f.name for f in fields(SectionPackage)] == ["document_chunk", "clarified_question"]
    assert [f.name for f in fields(AuditPackage)] == ["question", "draft", "passages"]
    assert "chat_history" in [f.name for f in fields(RoutePackage)]


ASKED = "And how long does its training take?"
CLARIFIED = "How long does the training of RESCAST take?"
DRAFT = "RESCAST trains for 40 epochs with the optimiser Adam."


@pytest.fixture
async def asked(desk: Desk) -> Desk:
    """A follow-up whose first draft fails the audit and is revised."""
    desk.llm = ScriptedLLM(
        routed(CLARIFIED, "methods"), DRAFT, verdicts("not_stated"), "Training takes 40 epochs."
    )
    state = await desk.ask(ASKED, HISTORY)
    assert (state.clarified_question, state.revised, state.status) == (CLARIFIED, True, "answered")
    return desk


def test_only_the_controller_sees_the_conversation(asked: Desk) -> None:
    assert "SECRET-OF-THE-TALK" in asked.sent("control_route")
    others = [step.node for step in asked.steps if step.node != "control_route"]
    assert others == ["section_methods", "control_audit", "control_revise", "control_answer"]
    for node in others:
        assert "SECRET-OF-THE-TALK" not in asked.sent(node)
        assert "MARK-OF-THE-ANSWER" not in asked.sent(node)


def test_a_section_agent_reads_its_own_part_and_the_clarified_question(asked: Desk) -> None:
    sent = asked.sent("section_methods")
    assert CLARIFIED in sent
    assert ASKED not in sent
    assert "Training takes 40 epochs" in sent
    for elsewhere in ("Winter data", "linear baseline", "Existing planners", "Olsen"):
        assert elsewhere not in sent


@pytest.mark.parametrize("node", ["control_audit", "control_revise"])
def test_the_audit_reads_the_question_as_it_was_asked(asked: Desk, node: str) -> None:
    """With the draft and the passages, and nothing else of the paper; who revises it likewise."""
    sent = asked.sent(node)
    assert ASKED in sent
    assert CLARIFIED not in sent
    assert DRAFT in sent
    assert "Training takes 40 epochs" in sent
    assert "Winter data" not in sent


def test_the_trace_keeps_what_each_was_sent(asked: Desk) -> None:
    assert set(asked.step("section_methods").detail["received"]) == {
        "clarified_question",
        "document_chunk",
    }
    assert set(asked.step("control_audit").detail["received"]) == {"question", "draft", "passages"}
    assert set(asked.step("control_route").detail["received"]) == {
        "question",
        "chat_history",
        "outline",
    }


@pytest.mark.parametrize(
    "edit", ["[route] added: 2.2 Learning from trip records", "[路线] 已加入：2.2 方法"]
)
async def test_an_edit_of_the_route_is_no_question_to_lean_on(desk: Desk, edit: str) -> None:
    state = await desk.ask("And what does this mean?", [("user", edit)])
    assert edit[8:] not in state.clarified_question


async def test_a_connected_model_is_sent_the_whole_conversation_as_controller(desk: Desk) -> None:
    desk.llm = ScriptedLLM(routed(CLARIFIED, "methods"), "Training takes 40 epochs.")
    long_ago = [("user", f"Question number {n} of the talk?") for n in range(12)]
    state = await desk.ask(ASKED, [*long_ago, *HISTORY])
    sent = desk.sent("control_route")
    assert "Question number 0 of the talk?" in sent
    assert "2 Method (methods)" in sent
    assert state.agents == ["methods"]
    assert "Question number" not in desk.sent("section_methods")


async def test_a_connected_model_that_names_no_section_is_no_obstacle(desk: Desk) -> None:
    desk.llm = ScriptedLLM(routed("How long is training?", "nonsense"), "Training takes 40 epochs.")
    state = await desk.ask("How long does training take?")
    assert state.agents[0] == "methods"
    assert state.status == "answered"
