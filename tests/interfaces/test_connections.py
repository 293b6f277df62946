"""Slow clients, and too many: they are cut off in their time, and others are served meanwhile.

The one rule: a real server on the loopback, whose time limits are made short; the attack of many is
one on a process of its own with 1,024 descriptors.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import resource
import socket
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.interfaces.serving import PATIENCE, Server, bench, until

from citewell.config import AccessSettings, Settings
from citewell.interfaces.http.server import timed
from citewell.interfaces.http.server.connections import (
    RESERVE,
    Connections,
    compute_max_connections,
)
from citewell.interfaces.http.server.listener import (
    BACKLOG,
    Listener,
    get_descriptor_limit,
    raise_descriptor_limit,
)

if TYPE_CHECKING:
    from tests.interfaces.conftest import Served

HALF = b"GET /api/health HTTP/1.1\r\nHost: localhost\r\nX-Slow: "
WHOLE = b"GET /api/health HTTP/1.1\r\nHost: localhost\r\n\r\n"
POST = (
    b"POST /api/search HTTP/1.1\r\nHost: localhost\r\nContent-Type: "
    b"application/json\r\nContent-Length: 500000\r\n\r\n"
)
MANY = 1_100
# seconds, as a time limit; the server is in the loop of the test, on a machine that may be busy
SHORT = 0.7
LINUX = pytest.mark.skipif(
    sys.platform != "linux", reason="all of 127.0.0.0/8 and /proc are Linux's"
)


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Time limits of a test's size."""
    for name in ("HEAD", "BODY", "REPLY"):
        monkeypatch.setattr(timed, name, SHORT)


Call = Callable[[], Awaitable[tuple[asyncio.StreamReader, asyncio.StreamWriter]]]


@pytest.fixture
async def call(served: Served) -> AsyncIterator[Call]:
    """Opens connections, and closes them in the end."""
    url, writers = served.client.base_url, []

    async def opened() -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        reader, writer = await asyncio.open_connection(url.host, url.port)
        writers.append(writer)
        return reader, writer

    yield opened
    for writer in writers:
        writer.close()
        with suppress(ConnectionError):
            await writer.wait_closed()


async def told(reader: asyncio.StreamReader) -> tuple[bytes, float]:
    """All that comes until the connection ends, and the seconds it took."""
    at = time.monotonic()
    async with asyncio.timeout(PATIENCE):
        try:
            found = await reader.read()
        except ConnectionError:
            found = b""
    return found, time.monotonic() - at


async def test_a_head_that_does_not_come(call: Call, short: None) -> None:
    """Piece by piece, so that there is always something new; also as the second request of a
    connection.
    """
    for before in (b"", WHOLE):
        reader, writer = await call()
        writer.write(before)
        if before:
            assert b"200 OK" in await reader.readuntil(b"\r\n\r\n")
            assert await reader.readexactly(len(b'{"status":"live"}')) == b'{"status":"live"}'

        async def drip(writer: asyncio.StreamWriter = writer) -> None:
            writer.write(HALF)
            with suppress(ConnectionError):
                while True:
                    await asyncio.sleep(0.02)
                    writer.write(b"x")
                    await writer.drain()

        dripping = asyncio.create_task(drip())
        reply, seconds = await told(reader)
        dripping.cancel()
        assert reply.startswith(b"HTTP/1.1 408 ")
        assert json.loads(reply.partition(b"\r\n\r\n")[2])["error"]["code"] == "request_timeout"
        assert seconds < 20


async def test_half_a_head_as_the_second_request(call: Call, short: None) -> None:
    """In one piece, and then nothing: it has said something, so it is told."""
    reader, writer = await call()
    writer.write(WHOLE)
    assert b"200 OK" in await reader.readuntil(b"\r\n\r\n")
    await reader.readexactly(len(b'{"status":"live"}'))
    writer.write(HALF)
    assert (await told(reader))[0].startswith(b"HTTP/1.1 408 ")


async def test_nothing_at_all(call: Call, short: None) -> None:
    """A connection in advance gets no answer to what it never asked."""
    reader, _ = await call()
    assert (await told(reader))[0] == b""


async def test_a_body_that_does_not_come(call: Call, short: None) -> None:
    """A byte now and then does not help; who sends at a fair pace has the time that takes."""
    reader, writer = await call()
    writer.write(POST + b"{")
    reply, seconds = await told(reader)
    assert reply.startswith(b"HTTP/1.1 408 ")
    assert seconds < 20
    reader, writer = await call()
    writer.write(POST.replace(b"500000", b"40000"))
    for _ in range(10):
        await asyncio.sleep(0.2)  # 2 s in all, nearly three times as long
        writer.write(b" " * 4_000)
    assert (await reader.readline()).startswith(b"HTTP/1.1 4")


@pytest.mark.parametrize("takes", [False, True])
async def test_a_reply_that_nobody_takes(takes: bool, served: Served, short: None) -> None:
    """Also where it was written at once. What is taken slowly is sent on."""
    url, loop, many = served.client.base_url, asyncio.get_running_loop(), 60
    with socket.socket() as caller:
        caller.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
        caller.setblocking(False)
        await loop.sock_connect(caller, (url.host, url.port))
        await loop.sock_sendall(
            caller, b"GET /api/openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n" * many
        )
        size, first = 0, b""
        async with asyncio.timeout(PATIENCE):
            broken = takes
            while not broken:
                await asyncio.sleep(0.1)
                figures = (await served.client.get("/metrics")).text
                broken = 'citewell_connections_closed_total{reason="reply"} 1.0' in figures
            with suppress(ConnectionError):
                while data := await loop.sock_recv(caller, 65_536 if not takes else 4_096):
                    first, size = first or data, size + len(data)
                    if takes and size > 300_000:
                        return
                    await asyncio.sleep(0.005 if takes else 0)
        length = int(first.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])
        assert not takes
        assert size < many * length  # it was broken off


class TestFew:
    """With room for three of an address."""

    @pytest.fixture
    def settings(self, settings: Settings) -> Settings:
        return settings.model_copy(update={"access": AccessSettings(connections=3)})

    async def test_who_waits_makes_room_and_who_is_answered_does_not(
        self, served: Served, call: Call
    ) -> None:
        """The oldest that has said nothing goes first; where all are being answered, the newest is
        told so.
        """
        readers = []
        for _ in range(5):
            reader, writer = await call()
            writer.write(HALF)
            readers.append((reader, writer))
        assert (await told(readers[0][0]))[0] == b""
        assert (await told(readers[1][0]))[0] == b""
        for _, writer in readers[2:]:
            writer.write(
                b"\r\n".join((b"1", b"Content-Length: 2", b"", b"")).replace(b"GET", b"POST")
            )
        await asyncio.sleep(0.2)  # each has its head now, and owes a body
        reader, writer = await call()
        reply, _ = await told(reader)
        assert reply.startswith(b"HTTP/1.1 429 ")
        assert json.loads(reply.partition(b"\r\n\r\n")[2])["error"]["code"] == "too_many_requests"
        for reader, writer in readers[2:]:
            writer.write(b"{}")
            assert (await reader.readline()).startswith(b"HTTP/1.1 200 ")
            writer.close()
        text = (await served.client.get("/metrics")).text
        assert re.search(r'citewell_connections_closed_total{reason="address"} [3-6]\.0', text)


def test_the_book_is_kept() -> None:
    """Proxies stand for many; a /64 is one; what has left counts no more."""

    class One:
        def __init__(self, address: str) -> None:
            self.address, self.gone = address, False

        def give_way(self) -> None:
            self.gone = True

    book = Connections(most=4, most_of_one=2, proxies=["192.0.2.9"])
    proxy = [One("192.0.2.9") for _ in range(3)]
    assert [book.enter(each) for each in proxy] == ["", "", ""]
    for each in proxy:
        book.mark_working(each)
    six = [One("2001:db8::1"), One("2001:db8::2")]
    assert book.enter(six[0]) == ""
    book.mark_working(six[0])
    assert (book.enter(six[1]), book.count) == ("full", 4)
    book.leave(proxy[0])
    assert book.enter(six[1]) == ""
    book.leave(proxy[1])
    third = One("2001:db8::3")
    assert book.enter(third) == ""  # in the place of the second one, which waits
    assert (six[0].gone, six[1].gone, book.count) == (False, True, 3)
    for each in (six[0], third, proxy[2]):
        book.leave(each)
    assert book.count == 0


def test_room_is_kept_for_everything_else() -> None:
    assert [compute_max_connections(n) for n in (64, 1_024, 65_536)] == [
        32,
        1_024 - RESERVE,
        10_000,
    ]
    assert compute_max_connections(1_024) + BACKLOG < 1_024


def test_the_soft_limit_is_raised() -> None:
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(512, before[1]), before[1]))
        raise_descriptor_limit()
        assert get_descriptor_limit() == min(65_536, before[1])
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("server")
    settings = Settings(home=folder / "home", cache=folder / "cache")
    with bench(settings, folder).serve([], descriptors=1_024) as running:
        yield running


@contextmanager
def half_sent(server: Server, addresses: int) -> Iterator[list[socket.socket]]:
    """`MANY` connections with half a head each, from so many addresses of this machine."""
    host, port = server.url.removeprefix("http://").split(":")
    with ExitStack() as stack:
        found = []
        for n in range(MANY):
            caller = stack.enter_context(closing(socket.socket()))
            caller.bind((f"127.0.0.{2 + n % addresses}", 0))
            caller.settimeout(PATIENCE)
            with suppress(ConnectionError):
                caller.connect((host, int(port)))
                caller.sendall(HALF)
            found.append(caller)
        yield found


@LINUX
@pytest.mark.parametrize("addresses", [1, 50], ids=["one address", "many"])
def test_half_sent_headers_shut_nobody_out(addresses: int, server: Server) -> None:
    """1,100 of them at 1,024 open files: others are answered at once, and the log stays as it
    is.
    """
    with half_sent(server, addresses):
        for _ in range(20):
            at = time.monotonic()
            assert server.get("/api/health").status_code == 200
            assert time.monotonic() - at < 5
        taken = len(list(Path(f"/proc/{server.process.pid}/fd").iterdir()))
        assert taken < 1_024 - RESERVE + 100
        assert taken > (100 if addresses == 1 else 700)
    assert len(server.told) < 10, server.told[:20]


@LINUX
def test_no_descriptor_left(server: Server) -> None:
    """Whatever took them all: callers are turned away one by one, the log says so in a few lines,
    then all is well again.
    """
    assert server.get("/api/health").status_code == 200
    taken = len(list(Path(f"/proc/{server.process.pid}/fd").iterdir()))
    resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE, (taken + 5, 1_024))
    with half_sent(server, 50) as callers:
        turned_away = 0
        for caller in callers[100:]:
            try:
                turned_away += caller.recv(1) == b""
            except ConnectionError:
                turned_away += 1
        assert (
            turned_away > MANY - 200
        )  # a few had a descriptor, and were told that their heads came too late
    resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE, (1_024, 1_024))
    until(lambda: _answers(server), "an answer")
    assert any("no file descriptor is left" in line for line in server.told)
    assert len("".join(server.told)) < 10_000, server.told[:20]


def test_a_spare_descriptor_that_another_thread_took() -> None:
    """The connection that waits longest makes room, and the spare one is there again."""
    held: list[int] = []
    with Listener() as listener, socket.socket() as first, socket.socket() as second:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        listener.setblocking(False)
        first.connect(listener.getsockname())
        second.connect(listener.getsockname())
        listener.make_room = lambda: os.close(held.pop())
        before = resource.getrlimit(resource.RLIMIT_NOFILE)
        listener._close_spare()
        held += fill_descriptors(before[1])
        try:
            for _ in range(3):
                with pytest.raises((ConnectionAbortedError, BlockingIOError)):
                    listener.accept()
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, before)
            for each in held:
                os.close(each)
        assert listener._spare >= 0
        assert (first.recv(1), second.recv(1)) == (b"", b"")


def fill_descriptors(hard: int) -> list[int]:
    """All that this process may have: the limit is lowered to what is open and a few more, and
    those are opened.
    """
    held = [os.open(os.devnull, os.O_RDONLY)]
    resource.setrlimit(resource.RLIMIT_NOFILE, (held[0] + 5, hard))
    with suppress(OSError):
        while True:
            held.append(os.open(os.devnull, os.O_RDONLY))
    return held


def _answers(server: Server) -> bool:
    with suppress(OSError):
        return server.get("/api/health").status_code == 200
    return False
