"""A trace is run again: the same comes out the same; what changed in the documents, the model or
the code is shown.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.error_codes import raises_code
from tests.service.made import PAPER, script

from citewell.errors import InvalidInput, NotFound
from citewell.models.script_reply import UNKNOWN
from citewell.runtime.app import App
from citewell.service.ask.ask import ask
from citewell.service.ask.run import AskRequest
from citewell.service.library.add import add_paths
from citewell.service.library.documents import delete_document
from citewell.service.library.embedding import embed_pending
from citewell.service.papers import reading_sessions as papers
from citewell.service.sessions.replay import Replay, replay_trace
from citewell.service.tables.sources import add_source

COSTS = "Function,Service,Cost_EUR\nIT,Hosting,120000\nIT,Laptops,60000\nHR,Training,25000\n"
SQL = "SELECT Function, sum(Cost_EUR) AS total FROM costs GROUP BY Function ORDER BY total DESC"
QUESTION = "When was the lighthouse built?"
DRAFT = "The lighthouse was built in 1857."
UNITS = "LampNet is a recurrent network with 64 hidden units."


def write(path: Path, words: str) -> None:
    path.write_text(words, "utf-8")


async def changed(app: App, library: Path) -> None:
    """The document says another year now."""
    (library / "lighthouse.md").write_text(
        "# Lighthouse\n\nThe lighthouse was built in 1862. Its lamp is electric.\n", "utf-8"
    )
    await add_paths(app, [str(library)], "default")
    await embed_pending(app)


def told(found: Replay) -> dict[str, tuple[Any, Any]]:
    """What differs, by where and what."""
    return {f"{each.where}: {each.what}": (each.before, each.now) for each in found.differences}


@pytest.mark.parametrize("agent", ["qa", "dual_loop"])
@pytest.mark.parametrize("recorded", [False, True])
async def test_the_same_comes_out_the_same(filled: App, agent: str, recorded: bool) -> None:
    """Step by step; nothing is kept of a replay: no session, no memory, no trace."""
    llm = script(filled)
    llm.reply_with(lambda _: DRAFT)
    answer = await ask(filled, AskRequest(question=QUESTION, agent=agent))
    before = (
        await filled.sessions.list("local"),
        await filled.memories.list("local"),
        await filled.traces.list(),
    )
    asked = len(llm.calls)
    found = await replay_trace(filled, answer.trace_id, "local", recorded=recorded)
    assert (found.same, found.differences, found.unknown_prompts, found.notes) == (True, [], [], [])
    assert found.replayed.answer.answer == answer.answer
    assert (len(llm.calls) == asked) is recorded, "a recorded replay asks no model"
    assert (
        await filled.sessions.list("local"),
        await filled.memories.list("local"),
        await filled.traces.list(),
    ) == before


@pytest.mark.parametrize("agent", ["qa", "dual_loop"])
async def test_a_changed_document_is_shown(filled: App, library: Path, agent: str) -> None:
    """In the evidence and in what the answer cites; with recorded replies the new prompts are
    told.
    """
    script(filled).reply_with(lambda _: DRAFT)
    answer = await ask(filled, AskRequest(question=QUESTION, agent=agent))
    await changed(filled, library)
    script(filled).reply_with(
        lambda messages: DRAFT.replace("1857", "1862") if "1862" in str(messages) else DRAFT
    )
    found = await replay_trace(filled, answer.trace_id, "local", recorded=True)
    assert not found.same
    assert found.unknown_prompts, "the evidence stands in the prompt"
    assert answer.answer.startswith(DRAFT)
    assert told(found)["answer: answer"] == (answer.answer, DRAFT.replace("1857", "1862") + "[1]")
    assert any("1862" in str(now) and ".text" in what for what, (_, now) in told(found).items())


async def test_a_changed_reply_is_shown(filled: App) -> None:
    """Of a live replay; a recorded one is not moved by it."""
    script(filled).reply_with(lambda _: DRAFT)
    answer = await ask(filled, AskRequest(question=QUESTION))
    script(filled).reply_with(lambda _: "It was built in 1857, and its lamp is electric.")
    live = await replay_trace(filled, answer.trace_id, "local")
    assert told(live)["5 AnswerGenerationNode: draft"] == (
        DRAFT,
        "It was built in 1857, and its lamp is electric.",
    )
    assert "answer: answer" in told(live)
    assert (await replay_trace(filled, answer.trace_id, "local", recorded=True)).same


async def test_a_changed_draft_is_another_way(filled: App) -> None:
    """Another status, another way through the graph; a removed document leads there too."""
    script(filled).reply_with(lambda _: DRAFT)
    answer = await ask(filled, AskRequest(question=QUESTION))
    script(filled).reply_with(lambda _: UNKNOWN)
    found = told(await replay_trace(filled, answer.trace_id, "local"))
    assert found["answer: status"] == ("answered", "refused")
    assert found["5 AnswerGenerationNode: draft_status"] == ("answered", "not_told")
    (citation,) = answer.citations
    await delete_document(filled, citation.doc_id)
    gone = told(await replay_trace(filled, answer.trace_id, "local"))
    assert gone["answer: citation"] == (f"Lighthouse: {DRAFT}", None)


async def test_a_follow_up_hears_the_same_conversation(filled: App) -> None:
    """What its session has said since does not count."""
    script(filled).reply_with(lambda _: DRAFT)
    first = await ask(filled, AskRequest(question=QUESTION))
    second = await ask(
        filled, AskRequest(question="Is its lamp electric?", session_id=first.session_id)
    )
    await ask(filled, AskRequest(question="And what about the tower?", session_id=first.session_id))
    assert (await replay_trace(filled, first.trace_id, "local")).same
    found = await replay_trace(filled, second.trace_id, "local")
    assert (found.same, found.differences) == (True, [])


async def test_what_was_remembered_later_does_not_count(filled: App) -> None:
    """The dual loop saw no memory of its own answer, and sees none in the replay; what it did see,
    it sees again.
    """
    script(filled).reply_with(lambda _: DRAFT)
    first = await ask(filled, AskRequest(question=QUESTION, agent="dual_loop"))
    assert len(await filled.memories.list("local")) == 1
    assert (await replay_trace(filled, first.trace_id, "local")).same
    second = await ask(filled, AskRequest(question=QUESTION, agent="dual_loop"))
    again = await replay_trace(filled, second.trace_id, "local")
    assert again.replayed.steps[0].detail["memories"] != []
    assert [each for each in again.differences if each.what == "action"] == []


async def test_what_auto_chose_is_not_chosen_anew(filled: App) -> None:
    script(filled).reply_with(lambda _: DRAFT)
    answer = await ask(filled, AskRequest(question=QUESTION, agent="auto"))
    found = await replay_trace(filled, answer.trace_id, "local")
    assert (found.same, found.differences) == (True, [])
    assert found.replayed.steps[0].node == "choose_agent"


async def test_a_paper_is_read_again(app: App) -> None:
    """Report, route and question, each from the state its session was in then; the session stays as
    it is.
    """
    session = await papers.begin_paper_session(app, data=PAPER.encode(), name="lamp.md")
    script(app).reply_with(lambda _: UNITS)
    traces = []
    for event, question in (
        ("report", ""),
        ("plan", ""),
        ("ask", "How many hidden units has LampNet?"),
    ):
        options = {"event": event, "message_id": f"m-{event}"}
        request = AskRequest(
            question=question, agent="paper", session_id=session.session_id, options=options
        )
        traces.append((await ask(app, request)).trace_id)
    before = await papers.read_paper_session(app, session.session_id)
    for trace_id in traces:
        found = await replay_trace(app, trace_id, "local", recorded=True)
        assert (found.same, found.differences) == (True, []), trace_id
    assert await papers.read_paper_session(app, session.session_id) == before
    script(app).reply_with(lambda _: "LampNet is a network with 64 hidden units.")
    live = await replay_trace(app, traces[2], "local")
    assert "answer: answer" in told(live)


async def test_a_paper_that_was_removed(app: App) -> None:
    session = await papers.begin_paper_session(app, data=PAPER.encode(), name="lamp.md")
    request = AskRequest(
        question="", agent="paper", session_id=session.session_id, options={"event": "report"}
    )
    answer = await ask(app, request)
    await delete_document(app, session.paper.doc_id)
    with pytest.raises(NotFound, match="cannot be replayed: the paper of this session was removed"):
        await replay_trace(app, answer.trace_id, "local")


async def test_what_cannot_be_replayed(filled: App) -> None:
    """Another user's trace, an unknown one, one that does not say what was asked."""
    answer = await ask(filled, AskRequest(question=QUESTION))
    with pytest.raises(NotFound):
        await replay_trace(filled, answer.trace_id, "bob")
    with pytest.raises(NotFound):
        await replay_trace(filled, "tr_none", "local")
    trace = await filled.traces.get(answer.trace_id)
    await filled.traces.put(trace.model_copy(update={"request": {}}))
    with raises_code(InvalidInput, "no_request"):
        await replay_trace(filled, answer.trace_id, "local")


async def test_tables_are_asked_again(app: App, tmp_path: Path) -> None:
    """The same statement on the same rows is the same; another row is shown, another statement too;
    nothing is kept.
    """
    path = tmp_path / "costs.csv"
    write(path, COSTS)
    await add_source(app, str(path))
    script(app).reply_with(lambda _: json.dumps({"sql": SQL}))
    answer = await ask(app, AskRequest(question="What did each function cost?", agent="data"))
    assert answer.status == "answered", answer
    same = await replay_trace(app, answer.trace_id, "local", recorded=True)
    assert (same.same, same.differences, same.unknown_prompts) == (True, [], [])
    write(path, COSTS.replace("25000", "26000"))
    found = told(await replay_trace(app, answer.trace_id, "local", recorded=True))
    assert found["answer: rows[1][1]"] == (25000, 26000)
    script(app).reply_with(lambda _: json.dumps({"sql": SQL.replace("DESC", "ASC")}))
    assert "answer: sql" in told(await replay_trace(app, answer.trace_id, "local"))
    assert [trace.trace_id for trace in await app.traces.list()] == [answer.trace_id]
