"""Conversations with a server, many at once, in a process of their own so that they do not take the
server's time.

    echo '{"url": "http://127.0.0.1:8420", "conversations": [["When?"]], "at_once": 1}' |
        python evals/serve_client.py

The one rule: while streams are open nothing is looked into, only kept with the moment at which it
came; what it says is read when all is over. Written on bare sockets for the same reason.
"""

from __future__ import annotations

import asyncio
import json
import re
import sys
import time
from dataclasses import asdict, dataclass, field
from typing import Any
from urllib.parse import urlsplit

LAST = b"0\r\n\r\n"  # the end of a chunked reply
SECONDS = 300.0
_CHUNK = re.compile(rb"([0-9a-fA-F]+)\r\n")


@dataclass(slots=True)
class Turn:
    """A question and what came of it: events, and seconds until the first of them, the first token,
    the answer. `lost`: the line broke before its end.
    """

    question: str
    status: int = 0
    events: list[tuple[str, Any]] = field(default_factory=list)
    first: float = 0.0
    token: float = 0.0
    answered: float = 0.0
    lost: bool = False


@dataclass(slots=True)
class Line:
    """An open connection."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter


@dataclass(frozen=True, slots=True)
class Plan:
    """`conversations`: their questions in order. `path`, `key`: another way to ask, with no events,
    as of a search.
    """

    url: str
    conversations: list[list[str]]
    at_once: int
    agent: str = "qa"
    path: str = "/api/ask"
    key: str = "question"


async def drive(plan: Plan) -> list[list[Turn]]:
    """Every conversation, `at_once` of them at a time."""
    room = asyncio.Semaphore(plan.at_once)

    async def one(questions: list[str]) -> list[Turn]:
        async with room:
            return await converse(plan, questions)

    return await asyncio.gather(*(one(questions) for questions in plan.conversations))


async def converse(plan: Plan, questions: list[str]) -> list[Turn]:
    """The turns of one conversation on one connection, each when the one before is answered; fewer
    where the line breaks.
    """
    turns: list[Turn] = []
    session_id = None
    try:
        line = await connect(plan.url)
    except OSError:
        return turns
    for question in questions:
        body: dict[str, Any] = {plan.key: question}
        if plan.key == "question":
            body |= {"agent": plan.agent, "session_id": session_id}
        turn = await ask(line, plan.path, body)
        turns.append(turn)
        if turn.lost or turn.status != 200:
            break
        session_id = next(
            (data["session_id"] for name, data in turn.events if name == "answer"), session_id
        )
    line.writer.close()
    return turns


async def connect(url: str) -> Line:
    where = urlsplit(url)
    return Line(*await asyncio.open_connection(where.hostname, where.port))


async def ask(line: Line, path: str, body: dict[str, Any]) -> Turn:
    turn = Turn(next(iter(body.values())))
    began = time.perf_counter()
    try:
        line.writer.write(request(path, body))
        head = (await line.reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
        turn.status = int(head.split(" ", 2)[1])
        if "transfer-encoding: chunked" in head:
            await _stream(line, turn, began)
        else:
            length = int(re.search(r"content-length: (\d+)", head)[1])  # type: ignore[index]
            turn.events = [("reply", json.loads(await line.reader.readexactly(length)))]
            turn.answered = time.perf_counter() - began
    except (OSError, asyncio.IncompleteReadError):
        turn.lost = True
    return turn


def request(path: str, body: dict[str, Any]) -> bytes:
    """A question as it goes over the line, its answer wanted as events."""
    data = json.dumps(body).encode()
    head = (
        f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: text/event-stream\r\nContent-Type: "
        "application/json\r\n"
    )
    return f"{head}Content-Length: {len(data)}\r\n\r\n".encode() + data


async def _stream(line: Line, turn: Turn, began: float) -> None:
    pieces: list[bytes] = []
    came: list[float] = []
    end = b""
    try:
        while not end.endswith(LAST):
            piece = await asyncio.wait_for(line.reader.read(65536), SECONDS)
            if not piece:
                turn.lost = True
                break
            pieces.append(piece)
            came.append(time.perf_counter() - began)
            end = (end + piece)[-len(LAST) :]
    except OSError:
        turn.lost = True
    raw = b"".join(pieces)
    turn.first, turn.token, turn.answered = (
        _when(raw, pieces, came, b"event: " + name) for name in (b"", b"token", b"answer")
    )
    turn.events = events(unchunked(raw))


def _when(raw: bytes, pieces: list[bytes], came: list[float], mark: bytes) -> float:
    """The moment at which an event was there whole; 0 where it never was."""
    start = raw.find(mark)
    at = raw.find(b"\n\n", start)
    if start < 0 or at < 0:
        return 0.0
    read = 0
    for piece, moment in zip(pieces, came, strict=True):
        read += len(piece)
        if read > at:
            return moment
    return 0.0


def unchunked(raw: bytes) -> bytes:
    """What the chunks hold, the last one as far as it came."""
    parts, at = [], 0
    while size := _CHUNK.match(raw, at):
        parts.append(raw[size.end() : size.end() + int(size[1], 16)])
        at = size.end() + int(size[1], 16) + 2
    return b"".join(parts)


def events(body: bytes) -> list[tuple[str, Any]]:
    """(name, data) of those that are whole; comments left out."""
    found = []
    for block in body.decode("utf-8", "replace").split("\n\n")[:-1]:
        lines = dict(
            line.split(": ", 1) for line in block.split("\n") if line and not line.startswith(":")
        )
        if lines:
            found.append((lines["event"], json.loads(lines["data"])))
    return found


def main() -> None:
    plan = Plan(**json.load(sys.stdin))
    began, busy = time.perf_counter(), time.process_time()
    conversations = asyncio.run(drive(plan))
    seconds, busy = time.perf_counter() - began, time.process_time() - busy
    turns = [[asdict(turn) for turn in each] for each in conversations]
    json.dump({"seconds": seconds, "cpu": busy, "conversations": turns}, sys.stdout)


if __name__ == "__main__":
    main()
