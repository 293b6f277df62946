"""The bench of the server on a few conversations: a real `citewell serve`, killed in the middle of
its streams.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from bench_serve import plan
from serve_check import answer_of, of_sessions, of_streams
from serve_client import events, unchunked
from serve_kill import killed
from serve_library import subject, write
from serve_round import measure, modelled
from serve_server import Pace, Server

SUBJECTS = [subject(n) for n in range(6)]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """With a document for each conversation, and a model that takes its time."""
    folder = tmp_path_factory.mktemp("serve")
    serving = Server(folder / "home", Pace(delay=0.02, token=0.002))
    serving.add(write(folder / "library", len(SUBJECTS)))
    try:
        serving.start()
        yield serving
    finally:
        serving.stop()


def test_conversations_at_once_are_whole_and_kept_apart(server: Server) -> None:
    """Six at once: every stream whole, every answer from its own document, every session its own;
    figures are counted.
    """
    done = measure(server, [plan(server, SUBJECTS, len(SUBJECTS))])
    assert [
        *of_streams(server, done.conversations, SUBJECTS),
        *of_sessions(server, done.conversations),
    ] == []
    assert done.asked == 4 * len(SUBJECTS)
    turn = done.conversations[0][0]
    assert modelled(turn, server.pace) >= 2 * server.pace.delay
    assert 0 < turn.first <= turn.token < turn.answered
    assert done.core_ms > 0
    assert done.memory["peak"] >= done.memory["after"] > 10


def test_what_the_checks_are_for(server: Server) -> None:
    """Another conversation's answer, a lost token, a false quote, a turn that is not kept: each is
    found.
    """
    pair = SUBJECTS[:2]
    conversations = measure(server, [plan(server, pair, 2)]).conversations
    assert any("looked for" in each for each in of_streams(server, conversations[::-1], pair))
    names = [name for name, _ in conversations[0][0].events]
    token = conversations[0][0].events.pop(names.index("token"))
    assert any("not the draft" in each for each in of_streams(server, conversations, pair))
    conversations[0][0].events.insert(names.index("token"), token)
    answer = answer_of(conversations[1][0])
    assert answer is not None
    answer["citations"][0]["quote"] += "!"
    assert any(
        "not what its document says" in each for each in of_streams(server, conversations, pair)
    )
    assert any("traces" in each for each in of_sessions(server, conversations))
    del conversations[0][2]
    assert any("are kept or differ" in each for each in of_sessions(server, conversations))


def test_killed_in_the_middle_nothing_is_lost(server: Server) -> None:
    """kill -9 while six conversations stream: answers that were received are kept, the others whole
    or resumable.
    """
    after = killed(server, SUBJECTS)  # in the home of the tests before
    assert after.wrong == []
    assert after.figures["qa_streams_cut"] + after.figures["dual_loop_streams_cut"] > 0
    assert after.figures["answers_kept"] >= after.figures["answers_received"] > 0


def test_a_broken_stream_is_read_as_far_as_it_came() -> None:
    """Chunks are joined; an event that was cut short is none."""
    whole = b'event: step\ndata: {"n": 1}\n\n'
    raw = b"".join(
        b"%x\r\n%s\r\n" % (len(part), part)
        for part in (whole[:7], whole[7:], b'event: answer\ndata: {"a')
    )
    assert events(unchunked(raw)) == [("step", {"n": 1})]
