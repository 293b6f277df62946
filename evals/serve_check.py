"""What came out of conversations, looked into: every stream whole, every answer its own
conversation's, all of it kept.

The one rule: a problem names its question, and what was looked for.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from itertools import pairwise
from typing import Any

from serve_client import Turn
from serve_library import Asking, Subject
from serve_server import Server

Conversation = list[Turn]
# the second where the search was not sure, as with vectors that know no Chinese
GIVEN = ("answered", "fallback")
NAMED = 12  # problems that are told; more are counted


def answer_of(turn: Turn) -> dict[str, Any] | None:
    """The Answer that a client received; None where its line broke before."""
    return next((data for name, data in turn.events if name == "answer"), None)


def of_streams(
    server: Server, conversations: Sequence[Conversation], subjects: Sequence[Subject]
) -> Iterator[str]:
    """Problems of what clients received."""

    @cache
    def text(doc_id: str) -> str:
        return str(server.get(f"/api/documents/{doc_id}/content")[0]["text"])

    for conversation, subject in zip(conversations, subjects, strict=True):
        if len(conversation) < len(subject.asks):
            yield f"{subject.file}: {len(conversation)} of {len(subject.asks)} questions were asked"
        for turn, asking in zip(conversation, subject.asks, strict=False):
            yield from (f"{turn.question}: {what}" for what in _of_turn(turn, asking, subject))
            for citation in (answer_of(turn) or {}).get("citations", []):
                if (
                    text(citation["doc_id"])[citation["start"] : citation["end"]]
                    != citation["quote"]
                ):
                    yield f"{turn.question}: [{citation['n']}] is not what its document says there"


def _of_turn(turn: Turn, asking: Asking, subject: Subject) -> Iterator[str]:
    names = [name for name, _ in turn.events]
    if turn.status != 200 or turn.lost or names.count("answer") != 1 or names[-1] != "answer":
        yield f"status {turn.status}, {'broken off, ' if turn.lost else ''}events {names[-3:]}"
        return
    answer = turn.events[-1][1]
    steps = [data for name, data in turn.events if name == "step"]
    if [step["n"] for step in steps] != list(range(1, len(steps) + 1)):
        yield f"steps {[step['n'] for step in steps]}"
    if "token" in names[: names.index("step")]:
        yield "a token before the first step"
    draft = "".join(data["text"] for name, data in turn.events if name == "token")
    if draft != next((step["detail"]["draft"] for step in steps if "draft" in step["detail"]), ""):
        yield f"the tokens make {draft!r}, which is not the draft"
    if answer["status"] not in GIVEN or asking.marker not in answer["answer"]:
        yield f"{asking.marker} was looked for, {answer['status']}: {answer['answer']}"
    if any(sentence["text"] not in draft for sentence in answer["sentences"]):
        yield "the answer has a sentence that the draft has not"
    if [data for name, data in turn.events if name == "citation"] not in ([], answer["citations"]):
        yield "citation events are not the answer's"
    numbers = {n for sentence in answer["sentences"] for n in sentence["citations"]}
    if not numbers or numbers != {citation["n"] for citation in answer["citations"]}:
        yield f"sentences cite {sorted(numbers)}"
    if any(not citation["uri"].endswith(subject.file) for citation in answer["citations"]):
        yield f"cites another's document: {[citation['uri'] for citation in answer['citations']]}"


def of_sessions(
    server: Server, conversations: Sequence[Conversation], *, cut: bool = False
) -> Iterator[str]:
    """Problems of what is kept of them: each session its own conversation, in order. `cut`: the
    server was killed, so one more answer may be kept than was received.
    """
    told = [
        [(turn, answer) for turn in each if (answer := answer_of(turn))] for each in conversations
    ]
    told = [each for each in told if each]
    ids = [each[0][1]["session_id"] for each in told]
    if len(set(ids)) != len(ids):
        yield "two conversations share a session"
    kept = server.get(*(f"/api/sessions/{session}" for session in ids))
    answers = server.get(*(f"/api/sessions/{session}/answers" for session in ids))
    for each, session, traces in zip(told, kept, answers, strict=True):
        said = [text for turn, answer in each for text in (turn.question, answer["answer"])]
        history = [message["content"] for message in session["history"]]
        if history[: len(said)] != said or len(history) > len(said) + (2 if cut else 0):
            yield (
                f"{session['session_id']}: {len(said)} messages were said, {len(history)} are "
                "kept or differ"
            )
        exchanges = [exchange["answer"] for exchange in traces["answers"]]
        if (
            exchanges[: len(each)] != [answer for _, answer in each]
            or len(exchanges) != len(history) // 2
        ):
            yield (
                f"{session['session_id']}: traces of {len(exchanges)} answers, {len(each)} were "
                "received"
            )


def of_history(server: Server) -> Iterator[str]:
    """Sessions that hold half a turn, whoever's they are."""
    ids = [session["session_id"] for session in server.get("/api/sessions")[0]["sessions"]]
    for session in server.get(*(f"/api/sessions/{each}" for each in ids)):
        roles = [message["role"] for message in session["history"]]
        if (
            len(roles) % 2
            or roles[::2].count("user") * 2 != len(roles)
            or any(a == b for a, b in pairwise(roles))
        ):
            yield f"{session['session_id']}: {roles}"
