"""kill -9 in the middle of many streams, a new start on the same home, and what is left.

The one rule: what a client was told is the answer is there afterwards, in its session and in its
trace; nothing is there by half.
"""

from __future__ import annotations

import signal
import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any

from serve_check import Conversation, answer_of, of_history, of_sessions
from serve_client import Plan, Turn
from serve_library import Subject
from serve_round import begun, conversation_of, finished
from serve_server import Server

RESUMED = 10  # runs that are gone on with afterwards
LONGEST = 120.0  # seconds without another answer


@dataclass(slots=True)
class After:
    """What was counted, and what was wrong."""

    figures: dict[str, Any] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)


def killed(server: Server, subjects: Sequence[Subject]) -> After:
    """Half of the conversations ask `qa`, half `dual_loop`, whose runs are kept. Killed when a
    quarter of the answers are stored: `qa` is quicker, and is to be in the middle too.
    """
    halves = {"qa": list(subjects[::2]), "dual_loop": list(subjects[1::2])}
    plans = [
        Plan(
            server.url,
            [[asking.question for asking in each.asks] for each in some],
            len(some),
            agent,
        )
        for agent, some in halves.items()
    ]
    before = _count(server, "traces")
    clients = [begun(plan) for plan in plans]
    _wait(server, before + sum(len(each.asks) for each in subjects) // 4)
    server.stop(signal.SIGKILL)
    qa, loops = (
        [conversation_of(each) for each in result["conversations"]] for result in finished(clients)
    )
    server.start()
    after = After()
    turns = [turn for each in (*qa, *loops) for turn in each]
    after.figures = {
        "qa_streams_cut": sum(turn.lost for each in qa for turn in each),
        "dual_loop_streams_cut": sum(turn.lost for each in loops for turn in each),
        "answers_received": sum(answer_of(turn) is not None for turn in turns),
        "answers_kept": _count(server, "traces") - before,
        "first_reply_after_restart_s": round(server.started, 2),
    }
    after.wrong += [f"integrity: {row}" for row in _integrity(server)]
    after.wrong += [*of_sessions(server, [*qa, *loops], cut=True), *of_history(server)]
    after.wrong += _resumable(server, loops, after.figures)
    after.wrong += _asked_again(server, qa, halves["qa"])
    return after


def _wait(server: Server, enough: int) -> None:
    """Until so many answers are stored."""
    last, since = -1, time.monotonic()
    while (kept := _count(server, "traces")) < enough:
        if kept > last:
            last, since = kept, time.monotonic()
        if time.monotonic() > since + LONGEST:
            raise RuntimeError(f"{kept} of {enough} answers, and no more for {LONGEST:.0f} s")
        time.sleep(0.02)


def _count(server: Server, table: str) -> int:
    return int(_rows(server, f"SELECT count(*) FROM {table}")[0][0])  # noqa: S608 - a name of ours


def _rows(server: Server, query: str) -> list[tuple[Any, ...]]:
    path = f"file:{server.home / 'citewell.db'}?mode=ro"
    with closing(sqlite3.connect(path, uri=True, timeout=10)) as connection:
        return list(connection.execute(query))


def _integrity(server: Server) -> list[str]:
    found = [str(row[0]) for row in _rows(server, "PRAGMA integrity_check") if row[0] != "ok"]
    return found + [str(row) for row in _rows(server, "PRAGMA foreign_key_check")]


def _resumable(
    server: Server, loops: Sequence[Conversation], figures: dict[str, Any]
) -> Iterator[str]:
    """A `dual_loop` question whose first step a client had heard of is either answered or can be
    gone on with.
    """
    runs = server.get("/api/runs")[0]["runs"]
    waiting = {run["question"]: run for run in runs}
    answered = {
        row[0] for row in _rows(server, "SELECT json_extract(trace, '$.question') FROM traces")
    }
    cut = [turn.question for each in loops for turn in each if turn.lost and _begun(turn)]
    yield from (
        f"{question}: neither answered nor resumable"
        for question in cut
        if question not in waiting.keys() | answered
    )
    figures["runs_to_go_on_with"] = len(runs)
    done = 0
    for run in runs[:RESUMED]:
        answer = server.post("/api/ask", {"resume": run["trace_id"]})
        if answer["trace_id"] != run["trace_id"] or answer["status"] != "answered":
            yield f"{run['question']}: gone on with, it came to {answer['status']}"
        done += 1
    figures["gone_on_with"] = done


def _begun(turn: Turn) -> bool:
    return any(name == "step" for name, _ in turn.events)


def _asked_again(
    server: Server, conversations: Sequence[Conversation], subjects: Sequence[Subject]
) -> Iterator[str]:
    """A `qa` question that was cut is asked again in its session, and answered."""
    cut = [
        (each, subject)
        for each, subject in zip(conversations, subjects, strict=True)
        if each and each[-1].lost
    ]
    for conversation, subject in cut[:RESUMED]:
        asking = subject.asks[len(conversation) - 1]
        said = [answer for turn in conversation if (answer := answer_of(turn))]
        session = said[-1]["session_id"] if said else None
        answer = server.post("/api/ask", {"question": asking.question, "session_id": session})
        if asking.marker not in answer["answer"]:
            yield f"{asking.question}: asked again, {answer['answer']}"
