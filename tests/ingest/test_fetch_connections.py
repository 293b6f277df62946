"""Connections: kept and used again, HTTP/2 where the site speaks it, and never one host's for
another.
"""

from __future__ import annotations

import asyncio
import contextlib
import ssl
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import h2.connection
import h2.events
import h2.exceptions
import httpcore2
import pytest
from h2.config import H2Configuration
from tests.ingest.test_fetch import HTML, Site, make_certificate, means, serving

from citewell.config import Settings
from citewell.errors import InvalidInput, PermanentError, TransientError, UnreadableFile
from citewell.fetch.fetcher import Fetcher

NAMES = ("good.example", "also.example")
INSIDE = Settings(allow_private_hosts=("127.0.0.1", *NAMES))


@pytest.fixture
async def site() -> AsyncIterator[Site]:
    made = Site()
    async with serving(made) as port:
        made.url = f"http://127.0.0.1:{port}"
        made.page("/a")
        yield made


@pytest.fixture
async def fetcher() -> AsyncIterator[Fetcher]:
    async with Fetcher(INSIDE, max_bytes=100_000) as opened:
        yield opened


async def until(condition: Callable[[], bool]) -> None:
    """Other tasks may need a moment."""
    async with asyncio.timeout(120):
        while not condition():  # noqa: ASYNC110  # the condition is another's
            await asyncio.sleep(0.01)


# ---------------------------------------------------------------- kept and used again


async def test_one_connection_for_many_requests(site: Site, fetcher: Fetcher) -> None:
    """Replies that are no pages do not cost a connection either."""
    site.page("/gone", "no" * 1000, 404)
    site.page("/same", "", 304)
    site.leads("/b", "/a")
    for path in "ababa":
        await fetcher.page(f"{site.url}/{path}", seconds=5)
    with pytest.raises(PermanentError):
        await fetcher.page(f"{site.url}/gone", seconds=5)
    assert (await fetcher.page(f"{site.url}/same", etag='"v1"', seconds=5)).not_modified
    assert len(site.requests) == 10
    assert site.connections == 1
    assert "connection: close" not in site.requests[0].lower()


async def test_reply_that_is_no_page_and_never_ends(site: Site, fetcher: Fetcher) -> None:
    """What it is counts at once; its bytes are given up."""

    async def drip(writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 404 X\r\ncontent-length: 1000\r\n\r\n")
        for _ in range(1000):
            writer.write(b"x")
            await writer.drain()
            await asyncio.sleep(0.02)

    site.pages["/gone"] = drip
    started = time.monotonic()
    with pytest.raises(PermanentError, match="status 404"):
        await fetcher.page(f"{site.url}/gone", seconds=10)
    assert time.monotonic() - started < 5


@pytest.mark.parametrize("wait", [0.0, 0.1])
async def test_server_that_closes_idle_connections(
    site: Site, fetcher: Fetcher, wait: float
) -> None:
    """It does so without a word, at once or after a while; nobody notices."""
    for _ in range(3):
        assert (await fetcher.page(f"{site.url}/a", seconds=5)).status == 200
        for writer in site.writers:
            writer.close()
        await asyncio.sleep(wait)


async def test_kept_connection_that_breaks_at_the_next_request(
    site: Site, fetcher: Fetcher
) -> None:
    """A request over a kept connection is made once more over a fresh one, and then no more."""
    site.page("/a")
    await fetcher.page(f"{site.url}/a", seconds=5)
    site.pages["/hangs-up"] = b""
    with pytest.raises(TransientError, match="the connection broke"):
        await fetcher.page(f"{site.url}/hangs-up", seconds=5)
    assert site.paths[2:] == ["/hangs-up"] * 2
    assert site.connections == 2


async def test_idle_connection_is_closed(
    site: Site, fetcher: Fetcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a while without a request, though nothing of the host is asked for again."""
    monkeypatch.setattr("citewell.fetch.ssrf_transport.IDLE", 0.05)
    await fetcher.page(f"{site.url}/a", seconds=5)
    assert len(site.writers) == 1
    await until(lambda: not site.writers)
    await fetcher.page(f"{site.url}/a", seconds=5)
    assert site.connections == 2


async def test_connections_to_many_hosts(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of the hosts used last are kept; closing closes them."""
    monkeypatch.setattr("citewell.fetch.ssrf_transport.MOST_HOSTS", 2)
    means(monkeypatch, {f"{n}.example": [["127.0.0.1"]] for n in range(4)})
    port = site.url.rpartition(":")[2]
    async with Fetcher(INSIDE, max_bytes=1000) as fetcher:
        for n in (0, 1, 0, 2, 0, 3, 0):
            await fetcher.page(f"http://{n}.example:{port}/a", seconds=5)
            await until(lambda: len(site.writers) <= 2)
        assert site.connections == 4
    await until(lambda: not site.writers)


async def test_two_names_at_one_address(
    site: Site, fetcher: Fetcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They share no connection: what a connection was made for is what it carries."""
    means(monkeypatch, {name: [["127.0.0.1"]] for name in NAMES})
    port = site.url.rpartition(":")[2]
    for _ in range(2):
        for name in NAMES:
            await fetcher.page(f"http://{name}:{port}/a", seconds=5)
    assert site.connections == 2
    assert len(site.requests) == 6


# ---------------------------------------------------------------- names that change their meaning


async def test_name_that_changes_its_meaning_on_a_kept_connection(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Refused though a connection to its former address is open; and back there, that connection
    serves again.
    """
    port = site.url.rpartition(":")[2]
    asked = means(
        monkeypatch,
        {
            "rebind.example": [
                ["127.0.0.1"],
                ["127.0.0.1"],
                ["127.0.0.2"],
                ["10.0.0.1"],
                ["127.0.0.1"],
            ]
        },
    )
    async with Fetcher(Settings(allow_private_hosts=("127.0.0.1",)), max_bytes=1000) as fetcher:
        await fetcher.page(f"http://rebind.example:{port}/a", seconds=5)
        for _ in range(2):
            with pytest.raises(InvalidInput) as caught:
                await fetcher.page(f"http://rebind.example:{port}/a", seconds=5)
            assert caught.value.code == "address_refused"
        assert (site.connections, len(site.requests)) == (1, 2)
        await fetcher.page(f"http://rebind.example:{port}/a", seconds=5)
    assert (site.connections, len(site.requests)) == (1, 3)
    assert len(asked) == 5


@pytest.mark.parametrize("kept", [True, False])
async def test_public_name_that_becomes_the_loopback(
    site: Site, monkeypatch: pytest.MonkeyPatch, kept: bool
) -> None:
    """Looked up and checked once a request, and what was checked is connected to, whether or not a
    connection is open.
    """
    port = int(site.url.rpartition(":")[2])
    means(monkeypatch, {"rebind.example": [["93.184.216.34"], ["93.184.216.34"], ["127.0.0.1"]]})
    tried: list[str] = []
    connect = httpcore2.AnyIOBackend.connect_tcp

    async def here(
        backend: httpcore2.AnyIOBackend, host: str, port: int, **more: Any
    ) -> httpcore2.AsyncNetworkStream:
        """The site's public address is this machine."""
        tried.append(host)
        return await connect(backend, "127.0.0.1", port, **more)

    monkeypatch.setattr("httpcore2.AnyIOBackend.connect_tcp", here)
    async with Fetcher(Settings(), max_bytes=1000) as fetcher:
        assert (await fetcher.page(f"http://rebind.example:{port}/a", seconds=5)).status == 200
        if not kept:
            for writer in site.writers:
                writer.close()
            await asyncio.sleep(0.05)
        with pytest.raises(InvalidInput) as caught:
            await fetcher.page(f"http://rebind.example:{port}/a", seconds=5)
    assert caught.value.code == "address_refused"
    assert tried == ["93.184.216.34"]
    assert (site.connections, len(site.requests)) == (1, 2)


async def test_name_with_another_address_gets_another_connection(
    site: Site, fetcher: Fetcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the name means now decides, not what is open."""
    port = int(site.url.rpartition(":")[2])
    means(monkeypatch, {"good.example": [["127.0.0.1"], ["127.0.0.1"], ["127.0.0.2"]]})
    moved = Site()
    moved.page("/a", "moved")
    async with serving(moved, "127.0.0.2", port):
        assert (
            await fetcher.page(f"http://good.example:{port}/a", seconds=5)
        ).data == HTML.encode()
        assert (await fetcher.page(f"http://good.example:{port}/a", seconds=5)).data == b"moved"
    assert (site.connections, moved.connections) == (1, 1)


async def test_addresses_in_another_order(
    site: Site, fetcher: Fetcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As name servers give them; the kept connection is to one of them."""
    port = int(site.url.rpartition(":")[2])
    means(monkeypatch, {"good.example": [["127.0.0.1", "127.0.0.2"], ["127.0.0.2", "127.0.0.1"]]})
    for _ in range(3):
        await fetcher.page(f"http://good.example:{port}/a", seconds=5)
    assert site.connections == 1


# ---------------------------------------------------------------- HTTP/2


class Site2:
    """HTTP/2. `heads` came; `alive`: connections. `/endless` never ends, `/reset` breaks off,
    `/bye` closes after its reply, `/odd` has no status, and `nonsense` is said instead of anything.
    """

    def __init__(self) -> None:
        self.heads: list[dict[str, str]] = []
        self.connections = 0
        self.alive: set[asyncio.StreamWriter] = set()
        self.sent = 0
        self.nonsense = b""

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        self.alive.add(writer)
        state = h2.connection.H2Connection(
            H2Configuration(client_side=False, validate_outbound_headers=False)
        )
        state.initiate_connection()
        with contextlib.suppress(ConnectionError, h2.exceptions.ProtocolError, ssl.SSLError):
            writer.write(self.nonsense or state.data_to_send())
            endless: list[int] = []
            before = len(self.heads)
            while data := await reader.read(65_536):
                for event in state.receive_data(data):
                    if isinstance(event, h2.events.RequestReceived):
                        self.answer(state, event, endless)
                for stream in endless:
                    while size := min(state.local_flow_control_window(stream), 16_000):
                        state.send_data(stream, b"x" * size)
                        self.sent += size
                writer.write(state.data_to_send())
                await writer.drain()
                if any(head[":path"] == "/bye" for head in self.heads[before:]):
                    break
        self.alive.discard(writer)
        writer.close()

    def answer(
        self,
        state: h2.connection.H2Connection,
        event: h2.events.RequestReceived,
        endless: list[int],
    ) -> None:
        head = {name.decode(): value.decode() for name, value in event.headers or []}
        self.heads.append(head)
        assert event.stream_id is not None
        status = {"/robots.txt": "404", "/odd": "odd"}.get(head[":path"], "200")
        if head[":path"] == "/reset":
            state.reset_stream(event.stream_id)
            return
        state.send_headers(event.stream_id, [(":status", status), ("content-type", "text/html")])
        if head[":path"] == "/endless":
            endless.append(event.stream_id)
        else:
            state.send_data(event.stream_id, HTML.encode(), end_stream=True)

    @asynccontextmanager
    async def serving(self, tls: ssl.SSLContext) -> AsyncIterator[int]:
        listener = await asyncio.start_server(self.handle, "127.0.0.1", 0, ssl=tls)
        try:
            yield listener.sockets[0].getsockname()[1]
        finally:
            listener.close()
            for writer in self.alive:
                writer.close()
            await listener.wait_closed()


@pytest.fixture
def tls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ssl.SSLContext:
    """A server's that offers HTTP/2, for both names; this process trusts it."""
    context = make_certificate(tmp_path, monkeypatch, NAMES)
    means(monkeypatch, {name: [["127.0.0.1"]] for name in NAMES})
    context.set_alpn_protocols(["h2"])
    return context


async def test_http_2(tls: ssl.SSLContext, fetcher: Fetcher) -> None:
    """Agreed on while connecting, named by the host and not its address; requests at once share one
    connection.
    """
    site = Site2()
    async with site.serving(tls) as port:
        for n in range(3):
            page = await fetcher.page(f"https://good.example:{port}/{n}", seconds=5)
            assert (page.status, page.data) == (200, HTML.encode())
        await asyncio.gather(
            *(fetcher.page(f"https://good.example:{port}/{n}", seconds=5) for n in range(6))
        )
    assert site.connections == 1
    assert len(site.heads) == 10
    assert {head[":authority"] for head in site.heads} == {f"good.example:{port}"}
    assert "br" in site.heads[0]["accept-encoding"]


async def test_http_2_is_not_shared_between_names(tls: ssl.SSLContext, fetcher: Fetcher) -> None:
    """Though address and certificate fit both, as browsers would."""
    site = Site2()
    async with site.serving(tls) as port:
        for name in NAMES * 2:
            await fetcher.page(f"https://{name}:{port}/a", seconds=5)
    assert site.connections == 2


async def test_http_1_where_the_site_has_no_other(tls: ssl.SSLContext, fetcher: Fetcher) -> None:
    tls.set_alpn_protocols(["http/1.1"])
    site = Site()
    site.page("/a")
    async with serving(site, tls=tls) as port:
        for _ in range(3):
            assert (await fetcher.page(f"https://good.example:{port}/a", seconds=5)).status == 200
    assert site.connections == 1


async def test_endless_reply_over_http_2(tls: ssl.SSLContext, fetcher: Fetcher) -> None:
    """Its connection is closed, for else the rest would come and fill the room for others; the next
    request has its own.
    """
    site = Site2()
    async with site.serving(tls) as port:
        for n in range(1, 3):
            with pytest.raises(UnreadableFile, match="larger than 100,000 bytes"):
                await fetcher.page(f"https://good.example:{port}/endless", seconds=10)
            await until(lambda: not site.alive)
            assert (await fetcher.page(f"https://good.example:{port}/a", seconds=5)).status == 200
            assert site.connections == n + 1


async def test_http_2_connection_that_breaks(tls: ssl.SSLContext, fetcher: Fetcher) -> None:
    """One that the server has left is not noticed by anyone; what breaks on a fresh one too is an
    error that may pass.
    """
    site = Site2()
    async with site.serving(tls) as port:
        for path in ("bye", "a", "bye", "bye"):
            assert (
                await fetcher.page(f"https://good.example:{port}/{path}", seconds=5)
            ).status == 200
        for path in ("reset", "odd"):
            with pytest.raises(TransientError, match=f"/{path}: the connection broke"):
                await fetcher.page(f"https://good.example:{port}/{path}", seconds=5)
        site.nonsense = b"\0\0\1\7" + b"\xff" * 300
        for writer in site.alive:
            writer.close()
        with pytest.raises(TransientError, match="the connection broke"):
            await fetcher.page(f"https://good.example:{port}/a", seconds=5)
