"""Asking end to end over a real store: proof against the stored text, sessions, traces, and what is
refused.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.error_codes import raises_about, raises_code
from tests.service.made import script

from citewell.config import Settings
from citewell.errors import DatabaseAway, InvalidInput, NotFound, StorageError
from citewell.runtime.app import App
from citewell.service.ask.ask import ask, stream_answer
from citewell.service.ask.run import AskRequest
from citewell.service.library.add import add_paths
from citewell.service.library.embedding import embed_pending
from citewell.types import Answer, Message, Step


async def test_an_answer_is_proved_against_the_stored_text(filled: App) -> None:
    """The quote is the document's own characters; section and trace are there."""
    script(filled).enqueue("The lighthouse was built in 1857.")
    answer = await ask(filled, AskRequest(question="When was the lighthouse built?"))
    assert (answer.status, answer.answer) == ("answered", "The lighthouse was built in 1857.[1]")
    citation = answer.citations[0]
    document = await filled.catalog.content(citation.doc_id)
    assert (
        document.text[citation.start : citation.end]
        == citation.quote
        == "The lighthouse was built in 1857."
    )
    assert citation.section == "Lighthouse"
    assert answer.usage.calls == 2
    assert answer.usage.seconds["total"] > 0


async def test_several_collections_are_asked(filled: App, tmp_path: Path) -> None:
    """One that is not there is told; one that is named twice is asked once."""
    (tmp_path / "bell.md").write_text("# Bell\n\nThe bell weighs nine tons.\n", "utf-8")
    await add_paths(filled, [str(tmp_path / "bell.md")], "tower")
    await embed_pending(filled)
    request = AskRequest(question="How much does the bell weigh?")
    script(filled).enqueue("The bell weighs nine tons.")
    several = request.model_copy(update={"options": {"collections": ["tower", "default"]}})
    assert (await ask(filled, several)).citations[0].title == "Bell"
    with pytest.raises(NotFound):
        await ask(filled, request.model_copy(update={"options": {"collections": ["nowhere"]}}))


async def test_of_a_draft_that_was_cut_the_whole_sentences_are_shown(filled: App) -> None:
    """In two calls, and with a warning that the rest is lost."""
    text = "The lighthouse was built in 1857."
    said = json.dumps(
        {"status": "answered", "sentences": [{"text": text, "kind": "fact", "evidence": ["1.2"]}]}
    )
    script(filled).enqueue(said.removesuffix("]}") + ', {"text": "And then' + " and then" * 4_000)
    answer = await ask(filled, AskRequest(question="When was the lighthouse built?"))
    assert (answer.status, answer.answer, answer.usage.calls) == ("answered", f"{text}[1]", 2)
    assert any("longer than its limit of tokens" in warning for warning in answer.warnings)


@pytest.mark.parametrize("kept", [True, False])
async def test_an_answer_waits_for_a_database_that_is_away(
    filled: App, monkeypatch: pytest.MonkeyPatch, kept: bool
) -> None:
    """It is there once, with its trace, also where nobody knew whether it had been kept."""
    write, went = filled.db.write_beside, list[str]()

    async def lose_answer(change: Callable[..., Any], *args: Any) -> Any:
        if change.__name__ != "store" or went:
            return await write(change, *args)
        went.append(change.__name__)
        if kept:
            await write(change, *args)
        raise DatabaseAway("the connection was lost")

    monkeypatch.setattr(filled.db, "write_beside", lose_answer)
    script(filled).enqueue("The lighthouse was built in 1857.")
    answer = await ask(filled, AskRequest(question="When was the lighthouse built?"))
    assert (went, answer.warnings) == (["store"], [])
    assert (await filled.traces.get(answer.trace_id)).answer == answer
    [session] = await filled.sessions.list()
    assert len(await filled.sessions.history(session.session_id)) == 2


async def test_the_trace_keeps_steps_prompts_and_answer(filled: App) -> None:
    """What was shown can be looked up again."""
    script(filled).enqueue("灯塔建于1857年。", '{"verdicts": [{"n": 1, "verdict": "entailed"}]}')
    answer = await ask(filled, AskRequest(question="灯塔是哪年建的？"))
    trace = await filled.traces.get(answer.trace_id)
    assert [s.node for s in trace.steps][:2] == ["InputValidationNode", "QuestionUnderstandingNode"]
    assert [p["job"] for p in trace.prompts] == ["chat", "chat"]
    assert trace.answer == answer
    assert answer.citations[0].quote == "灯塔建于一八五七年。"


async def test_a_session_keeps_the_conversation(filled: App) -> None:
    """The follow-up knows what was asked; the session lists both turns in order."""
    llm = script(filled)
    llm.enqueue("The lighthouse was built in 1857.", "Its lamp is electric.")
    first = await ask(filled, AskRequest(question="When was the lighthouse built?"))
    second = await ask(
        filled, AskRequest(question="And is its lamp electric?", session_id=first.session_id)
    )
    assert second.session_id == first.session_id
    assert second.answer == "Its lamp is electric.[1]"
    assert "user: When was the lighthouse built?" in llm.calls[-2].messages[-1].content
    roles = [m.role for m in await filled.sessions.history(first.session_id)]
    assert roles == ["user", "assistant", "user", "assistant"]


async def test_history_of_the_request_needs_no_session(filled: App) -> None:
    """A stateless channel brings its own history and leaves nothing behind."""
    history = [
        Message(role="user", content="When was the lighthouse built?"),
        Message(role="assistant", content="1857."),
    ]
    script(filled).enqueue("Its lamp is electric.")
    answer = await ask(filled, AskRequest(question="And is its lamp electric?", history=history))
    assert answer.session_id == ""
    assert await filled.sessions.list("local") == []


async def test_steps_come_before_the_answer_and_the_answer_last(filled: App) -> None:
    """A channel can show what happens while it happens."""
    script(filled).enqueue("The lighthouse was built in 1857.")
    kinds = [
        e.kind
        async for e in stream_answer(filled, AskRequest(question="When was the lighthouse built?"))
    ]
    assert kinds[0] == "step"
    assert kinds[-1] == "answer"
    assert {"step", "token", "citation", "answer"} <= set(kinds)


@pytest.mark.parametrize("agent", ["qa", "auto", "dual_loop"])
async def test_the_first_step_tells_the_name_of_the_run(filled: App, agent: str) -> None:
    """So that who loses the line can look for the answer; what is kept of the step is as it was."""
    events = [
        event
        async for event in stream_answer(
            filled, AskRequest(question="When was the lighthouse built?", agent=agent)
        )
    ]
    steps = [event.data for event in events if isinstance(event.data, Step)]
    answer = events[-1].data
    assert isinstance(answer, Answer)
    assert steps[0].detail["trace_id"] == answer.trace_id
    assert not [step for step in steps[1:] if "trace_id" in step.detail]
    if agent != "dual_loop":  # which notes it itself
        assert "trace_id" not in (await filled.traces.get(answer.trace_id)).steps[0].detail


async def test_evidence_is_in_the_retrieval_step(filled: App) -> None:
    """The first evidence is shown before any model is asked."""
    script(filled).enqueue("The lighthouse was built in 1857.")
    events = [
        e.data
        async for e in stream_answer(filled, AskRequest(question="When was the lighthouse built?"))
    ]
    step = next(e for e in events if isinstance(e, Step) and e.node == "DocumentRetrievalNode")
    assert "1857" in step.detail["evidence"][0]["text"]


async def test_what_is_not_there_is_named(app: App) -> None:
    """Unknown collection, session and agent, and an empty question."""
    with pytest.raises(NotFound, match="no collection named nowhere"):
        await ask(app, AskRequest(question="x?", collection="nowhere"))
    await app.collections.create("default")
    with pytest.raises(NotFound):
        await ask(app, AskRequest(question="x?", session_id="ses_0000000000000000"))
    with raises_code(InvalidInput, "unknown_agent"):
        await ask(app, AskRequest(question="x?", agent="magic"))
    with pytest.raises(InvalidInput, match="empty"):
        await ask(app, AskRequest(question="  "))


async def test_an_empty_collection_is_an_honest_no(app: App) -> None:
    """Nothing to answer from: refused, not an error."""
    await app.collections.create("default")
    answer = await ask(app, AskRequest(question="When was the lighthouse built?"))
    assert (answer.status, answer.citations) == ("refused", [])


async def test_chunks_without_vectors_are_found_by_words_and_said_so(
    app: App, library: Path
) -> None:
    """A document can be asked about as soon as it is added."""
    await add_paths(app, [str(library)], "default")
    script(app).enqueue("The lighthouse was built in 1857.")
    answer = await ask(app, AskRequest(question="When was the lighthouse built?"))
    assert answer.status == "answered"
    assert "still being embedded" in answer.warnings[0]


async def test_tier_none_answers_with_the_documents_own_words(
    settings: Settings, library: Path
) -> None:
    """No chat model at all: extractive, proved."""
    async with App(settings.model_copy(update={"llm": "none"})) as app:
        await add_paths(app, [str(library)], "default")
        await embed_pending(app)
        answer = await ask(app, AskRequest(question="When was the lighthouse built?"))
    assert "The lighthouse was built in 1857." in answer.answer
    assert answer.usage.calls == 0


async def test_twenty_questions_at_once_do_not_mix(filled: App) -> None:
    """Each answer has its own trace, session and citations."""
    requests = [
        AskRequest(question=q) for q in ("When was the lighthouse built?", "灯塔是哪年建的？") * 10
    ]
    answers = await asyncio.gather(*(ask(filled, r) for r in requests))
    assert len({a.trace_id for a in answers}) == len({a.session_id for a in answers}) == 20
    for request, answer in zip(requests, answers, strict=True):
        assert isinstance(answer, Answer)
        assert (await filled.traces.get(answer.trace_id)).question == request.question


async def test_an_answer_that_cannot_be_kept_is_still_given(
    filled: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A full disk loses the trace, not the answer; a warning says so."""

    def full(*_: object) -> None:
        raise StorageError("the disk is full")

    monkeypatch.setattr(filled.traces, "put_in", full)
    script(filled).enqueue("The lighthouse was built in 1857.")
    answer = await ask(filled, AskRequest(question="When was the lighthouse built?"))
    assert answer.answer == "The lighthouse was built in 1857.[1]"
    assert (answer.trace_id, answer.session_id) == ("", "")
    assert "the disk is full" in answer.warnings[-1]


async def test_unknown_options_are_refused(filled: App) -> None:
    """A misspelt option never passes silently."""
    with raises_about(InvalidInput, unknown="nonsense"):
        await ask(filled, AskRequest(question="x?", options={"nonsense": 1}))
