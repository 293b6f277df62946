"""Clients that behave badly: some leave in the middle, some ask and do not read.

The one rule: what they do costs themselves, not the others.
"""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing
from urllib.parse import urlsplit

from serve_client import Plan, request
from serve_library import Subject
from serve_round import measure
from serve_server import Server

LEAVE = 100
SLOW = 100
OTHERS = 20  # conversations beside them
SETTLES = 2.0  # seconds


def leaving(server: Server, subjects: Sequence[Subject]) -> Iterator[tuple[str, str]]:
    """Ask, and hang up as soon as the reply begins."""
    some = subjects[:LEAVE]
    before = server.get("/api/sessions")[0]["sessions"]
    for each in some:
        with closing(_ask(server, each.asks[0].question)) as line:
            line.recv(1)
    time.sleep(SETTLES)
    cpu = server.cpu()
    time.sleep(SETTLES)
    kept = len(server.get("/api/sessions")[0]["sessions"]) - len(before)
    busy = (server.cpu() - cpu) / SETTLES
    yield (
        f"{len(some)} clients leave",
        f"{kept} of their answers were finished and kept; {busy:.0%} of a core afterwards",
    )


def slow(server: Server, subjects: Sequence[Subject]) -> Iterator[tuple[str, str]]:
    """Ask with a small window and read nothing, while others converse."""
    others = [[asking.question for asking in each.asks] for each in subjects[:OTHERS]]
    plan = Plan(server.url, others, len(others))
    alone = measure(server, [plan])
    before = server.memory()[0]
    with ExitStack() as stack:
        lines = [
            stack.enter_context(closing(_ask(server, each.asks[1].question, 2048)))
            for each in subjects[:SLOW]
        ]
        time.sleep(SETTLES)
        for _ in range(30):  # until they are all as far as they get
            cpu = server.cpu()
            time.sleep(SETTLES / 10)
            if server.cpu() - cpu < SETTLES / 100:
                break
        beside = measure(server, [plan])
        grown = server.memory()[0] - before
    yield (
        f"{len(lines)} clients read nothing",
        (
            f"others {beside.answered['p50'] / alone.answered['p50']:.2f} x as long in the "
            f"median, {grown:+.0f} MiB"
        ),
    )


def _ask(server: Server, question: str, window: int = 0) -> socket.socket:
    where = urlsplit(server.url)
    line = socket.socket()
    if window:
        line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, window)
    line.connect((where.hostname, where.port))
    line.sendall(request("/api/ask", {"question": question}))
    return line
