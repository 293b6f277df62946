"""Who is sent what: the conversation reaches the controller alone, a section agent reads its own part, the audit the draft."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING

import pytest

from citewell.agents.paper_state import AuditPackage, RoutePackage, SectionPackage
from citewell.models.scripted import ScriptedLLM

if TYPE_CHECKING:
    from tests.agents.paper.conftest import Desk

HISTORY = [
    ("user", "How many layers does the network of RESCAST have? SECRET-OF-THE-TALK"),
    ("assistant", "Three layers. MARK-OF-THE-ANSWER"),
]


def test_the_packages_are_those_of_the_spec() -> None:
    assert [f.name for f in fields(SectionPackage)] == ["document_chunk", "clarified_question"]
    assert [f.name for f in fields(AuditPackage)] == ["question", "draft", "passages"]
    assert "chat_history" in [f.name for f in fields(RoutePackage)]


async def test_only_the_controller_sees_the_conversation(desk: Desk) -> None:
    llm = ScriptedLLM(
        "How long does the training of RESCAST take?", "Training takes 40 epochs with the Adam optimiser, they say."
    )
    desk.llm = llm
    state = await desk.ask("And how long does its training take?", HISTORY)
    assert "SECRET-OF-THE-TALK" in desk.sent("control_route")
    assert state.clarified_question == "How long does the training of RESCAST take?"
    others = [step.node for step in desk.steps if step.node != "control_route"]
    assert {"section_methods", "control_audit"} <= set(others)
    for node in others:
        assert "SECRET-OF-THE-TALK" not in desk.sent(node)
        assert "MARK-OF-THE-ANSWER" not in desk.sent(node)


async def test_a_section_agent_reads_its_own_part_and_the_clarified_question(desk: Desk) -> None:
    llm = ScriptedLLM("How long does the training of RESCAST take?", "Training takes 40 epochs.")
    desk.llm = llm
    await desk.ask("And how long does its training take?", HISTORY)
    sent = desk.sent("section_methods")
    assert "How long does the training of RESCAST take?" in sent
    assert "And how long does its training take?" not in sent
    assert "Training takes 40 epochs" in sent
    for elsewhere in ("Winter data", "linear baseline", "Existing planners", "Olsen"):
        assert elsewhere not in sent


async def test_the_audit_reads_the_question_as_it_was_asked(desk: Desk) -> None:
    """A model with room is asked of each claim; a small one is not: the rules alone read the same package."""
    routed = '{"clarified_question": "How long does the training of RESCAST take?", "sections": ["methods"]}'
    llm = ScriptedLLM(routed, "RESCAST trains for 40 epochs with the optimiser Adam.")
    llm.evidence_tokens = 6_000
    desk.llm = llm
    await desk.ask("And how long does its training take?", HISTORY)
    sent = desk.sent("control_audit")
    assert "And how long does its training take?" in sent
    assert "How long does the training of RESCAST take?" not in sent
    assert "RESCAST trains for 40 epochs with the optimiser Adam." in sent


async def test_the_trace_keeps_what_each_was_sent(desk: Desk) -> None:
    llm = ScriptedLLM("How long does the training of RESCAST take?", "Training takes 40 epochs.")
    desk.llm = llm
    await desk.ask("And how long does its training take?", HISTORY)
    assert set(desk.step("section_methods").detail["received"]) == {"clarified_question", "document_chunk"}
    assert set(desk.step("control_audit").detail["received"]) == {"question", "draft", "passages"}
    assert set(desk.step("control_route").detail["received"]) == {"question", "chat_history", "outline"}


@pytest.mark.parametrize("edit", ["[route] added: 2.2 Learning from trip records", "[路线] 已加入：2.2 方法"])
async def test_an_edit_of_the_route_is_no_question_to_lean_on(desk: Desk, edit: str) -> None:
    state = await desk.ask("And what does this mean?", [("user", edit)])
    assert edit[8:] not in state.clarified_question


async def test_a_connected_model_is_sent_the_whole_conversation_as_controller(desk: Desk) -> None:
    llm = ScriptedLLM(
        '{"clarified_question": "How long does the training of RESCAST take?", "sections": ["methods"]}',
        "Training takes 40 epochs.",
    )
    llm.evidence_tokens = 6_000
    desk.llm = llm
    long_ago = [("user", f"Question number {n} of the talk?") for n in range(12)]
    state = await desk.ask("And how long does its training take?", [*long_ago, *HISTORY])
    sent = desk.sent("control_route")
    assert "Question number 0 of the talk?" in sent
    assert "2 Method (methods)" in sent
    assert state.agents == ["methods"]
    assert "Question number" not in desk.sent("section_methods")


async def test_a_connected_model_that_names_no_section_is_no_obstacle(desk: Desk) -> None:
    llm = ScriptedLLM('{"clarified_question": "How long is training?", "sections": ["nonsense"]}', "Training takes 40 epochs.")
    llm.evidence_tokens = 6_000
    desk.llm = llm
    state = await desk.ask("How long does training take?")
    assert state.agents[0] == "methods"
    assert state.status == "answered"
