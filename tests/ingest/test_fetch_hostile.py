"""Sites that mean harm, or are broken as if they did: what must not be reached, bodies that grow,
replies that never end.
"""

from __future__ import annotations

import asyncio
import gzip
import importlib
import ipaddress
import json
import re
import socket
import time
import tracemalloc
import zlib
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from tests.ingest.test_fetch import HTML, Site, means, serving

from citewell.config import Settings
from citewell.errors import InvalidInput, PermanentError, TransientError, UnreadableFile
from citewell.fetch.fetcher import ATTEMPTS, Fetcher
from citewell.fetch.public_addresses import Address

brotli: Any = importlib.import_module("brotli")  # it has no types


@pytest.fixture
async def site() -> AsyncIterator[Site]:
    made = Site()
    async with serving(made) as port:
        made.url = f"http://127.0.0.1:{port}"
        yield made


@pytest.fixture
async def fetcher() -> AsyncIterator[Fetcher]:
    async with Fetcher(Settings(allow_private_hosts=("127.0.0.1",)), max_bytes=1_000_000) as opened:
        yield opened


@pytest.fixture
def connected(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """Where a socket of this process tried to connect to; nowhere at all is allowed."""
    tried: list[object] = []

    def connect(_: socket.socket, address: object) -> None:
        tried.append(address)
        raise ConnectionRefusedError

    monkeypatch.setattr(socket.socket, "connect", connect)
    monkeypatch.setattr(socket.socket, "connect_ex", connect)
    return tried


# ---------------------------------------------------------------- what must not be reached


async def test_urls_of_others_that_must_not_be_fetched(
    shared_data: Path, monkeypatch: pytest.MonkeyPatch, connected: list[object]
) -> None:
    """Every line of the list, by the fetcher as it is, for pages and for sitemaps: refused, and no
    socket connects anywhere.
    """
    path = shared_data / "robustness" / "ssrf_urls.jsonl"
    if not path.is_file():
        pytest.skip("the list is not beside this checkout")
    urls = [json.loads(line)["url"] for line in path.read_text("utf-8").splitlines()]

    async def resolve(host: str, port: int) -> list[Address]:
        inside = re.search(
            r"\d+\.\d+\.\d+\.\d+(?=\.(nip|xip)\.io$)", host
        )  # what these names mean in the DNS
        return [ipaddress.ip_address(inside[0] if inside else host)]

    monkeypatch.setattr("citewell.fetch.addresses.resolve", resolve)
    async with Fetcher(Settings(), max_bytes=1000) as fetcher:
        for url in urls:
            with pytest.raises(InvalidInput) as caught:
                await fetcher.page(url, seconds=5, attempts=ATTEMPTS)
            assert caught.value.code in {"bad_url", "address_refused"}
            if caught.value.code == "address_refused":
                assert await fetcher.sitemaps(url) == []
    assert len(urls) == 18
    assert connected == []


@pytest.mark.parametrize(
    "there",
    ["http://169.254.169.254/latest/meta-data/", "http://[fd00:ec2::254]/", "http://meta.example/"],
)
@pytest.mark.parametrize("path", ["/a", "/robots.txt"])
async def test_redirect_to_metadata(
    site: Site, fetcher: Fetcher, monkeypatch: pytest.MonkeyPatch, there: str, path: str
) -> None:
    """A page cannot lead there, nor a robots.txt, by its address or by a name; attempts change
    nothing.
    """
    asked = means(monkeypatch, {"meta.example": [["169.254.169.254"]]})
    site.leads(path, there)
    with pytest.raises(InvalidInput) as caught:
        await fetcher.page(f"{site.url}/a", seconds=5, attempts=ATTEMPTS)
    assert caught.value.code == "address_refused"
    assert len(site.requests) == (2 if path == "/a" else 1)
    assert len(asked) == len(site.requests) + 1


async def test_redirects_in_a_circle(site: Site, fetcher: Fetcher) -> None:
    """They end, and are not begun again."""
    site.leads("/a", "/b")
    site.leads("/b", "/a")
    with pytest.raises(PermanentError, match=f"{site.url}/a: more than 5 redirects") as caught:
        await fetcher.page(f"{site.url}/a", seconds=5, attempts=ATTEMPTS)
    assert caught.value.code == "redirect_loop"
    assert len(site.requests) == 7


# ---------------------------------------------------------------- bodies that grow


def packed(how: str, data: bytes) -> bytes:
    small: bytes = {
        "br": lambda each: brotli.compress(each, quality=5),
        "gzip": gzip.compress,
        "deflate": zlib.compress,
    }[how](data)
    return small


@pytest.mark.parametrize("how", ["br", "gzip", "deflate"])
async def test_packed_page(site: Site, fetcher: Fetcher, how: str) -> None:
    """All three are asked for and read, however large they are inside, up to the limit."""
    body = (HTML * 10_000).encode()[:1_000_000]
    site.page("/a", packed(how, body), content_encoding=how)
    assert (await fetcher.page(f"{site.url}/a", seconds=5)).data == body
    assert how in site.requests[-1].lower().partition("accept-encoding: ")[2].partition("\r\n")[
        0
    ].split(", ")


@pytest.mark.parametrize(("how", "longest"), [("br", 300), ("gzip", 100_000), ("deflate", 100_000)])
async def test_bomb(site: Site, fetcher: Fetcher, how: str, longest: int) -> None:
    """100 MB in next to nothing: noticed at the limit, soon, and with little more memory than the
    limit.
    """
    bomb = packed(how, b"\0" * 100_000_000)
    assert len(bomb) < longest
    site.page("/warm", packed(how, b"x"), content_encoding=how)
    await fetcher.page(f"{site.url}/warm", seconds=5)
    site.page("/a", bomb, content_encoding=how)
    tracemalloc.start()
    started = time.monotonic()
    try:
        with pytest.raises(UnreadableFile, match=f"{site.url}/a: larger than 1,000,000 bytes"):
            await fetcher.page(f"{site.url}/a", seconds=10)
        assert tracemalloc.get_traced_memory()[1] < 8_000_000
    finally:
        tracemalloc.stop()
    assert time.monotonic() - started < 3


@pytest.mark.parametrize(
    "body", [b"not packed", brotli.compress(b"a" * 100) + b"more", b"\xff" * 100]
)
async def test_brotli_that_is_broken(site: Site, fetcher: Fetcher, body: bytes) -> None:
    site.page("/a", body, content_encoding="br")
    with pytest.raises(UnreadableFile, match="packed wrongly"):
        await fetcher.page(f"{site.url}/a", seconds=5)


@pytest.mark.parametrize("how", ["zstd", "br, gzip", "compress", "exi"])
async def test_packed_as_nobody_asked(site: Site, fetcher: Fetcher, how: str) -> None:
    """Twice packed is once more than is needed."""
    site.page("/a", b"x", content_encoding=how)
    with pytest.raises(UnreadableFile, match="which was not asked for"):
        await fetcher.page(f"{site.url}/a", seconds=5)


async def test_page_without_end(site: Site, fetcher: Fetcher) -> None:
    """Sent in chunks and packed; cut off at the limit, not tried again."""

    async def endless(writer: asyncio.StreamWriter) -> None:
        writer.write(
            b"HTTP/1.1 200 X\r\ncontent-type: text/html\r\ntransfer-encoding: "
            b"chunked\r\ncontent-encoding: br\r\n\r\n"
        )
        unpacked = brotli.Compressor(quality=1)
        while True:
            data = unpacked.process(b"x" * 100_000) + unpacked.flush()
            writer.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
            await writer.drain()
            await asyncio.sleep(0)

    site.pages["/a"] = endless
    with pytest.raises(UnreadableFile, match="larger than 1,000,000 bytes"):
        await fetcher.page(f"{site.url}/a", seconds=10, attempts=ATTEMPTS)
    assert site.paths.count("/a") == 1


# ---------------------------------------------------------------- replies that never end


@pytest.mark.parametrize(
    "begin",
    [
        b"",
        b"HTTP/1.1 200 X\r\ncontent-type: text/html\r\n",
        b"HTTP/1.1 200 X\r\n\r\n",
        b"HTTP/1.1 503 X\r\n\r\n",
    ],
)
async def test_one_byte_a_second(site: Site, fetcher: Fetcher, begin: bytes) -> None:
    """Before the head, in it, in the body: the page's time is the limit for all of it, attempts
    included.
    """

    async def drip(writer: asyncio.StreamWriter) -> None:
        writer.write(begin)
        for _ in range(20):
            writer.write(b"H")
            await writer.drain()
            await asyncio.sleep(1)

    site.page("/warm")
    await fetcher.page(f"{site.url}/warm", seconds=5)
    site.pages["/a"] = drip
    started = time.monotonic()
    with pytest.raises(
        TransientError, match=f"{site.url}/a: (not there within 1.2 seconds|status 503)"
    ):
        await fetcher.page(f"{site.url}/a", seconds=1.2, attempts=ATTEMPTS)
    assert time.monotonic() - started < 2.5
    assert (await fetcher.page(f"{site.url}/warm", seconds=5)).status == 200


async def test_head_without_end(site: Site, fetcher: Fetcher) -> None:
    """It has a limit of its own."""

    async def endless(writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 X\r\n")
        while True:
            writer.write(b"x-more: " + b"x" * 1000 + b"\r\n")
            await writer.drain()

    site.pages["/a"] = endless
    with pytest.raises(TransientError, match="the connection broke"):
        await fetcher.page(f"{site.url}/a", seconds=5)
