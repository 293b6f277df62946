"""What sites do to crawlers, by mistake or not: the run ends within its limits, other pages are
used, and it is told.
"""

from __future__ import annotations

import asyncio
import gzip
import time
from collections.abc import Callable
from dataclasses import replace
from itertools import count
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.website.conftest import Desk, Page, Web

    from citewell.types import Answer

QUESTION = "Within how many days may domestic orders be returned?"
FACT = "Domestic orders may be returned within 14 days of delivery."
# the words of the question, so that the trap is entered
LURE = "Within how many days domestic orders may be returned"
CHUNK = b"<p>" + b"Sand and more sand. " * 3_000 + b"</p>"


@pytest.fixture
def trap(shop: Web, make_page: Callable[..., bytes]) -> Callable[..., None]:
    """The shop with links to traps among those of its first page; what leads on to the answer there
    is called `help_`.
    """

    def lay(*paths: str, words: str = LURE, help_: str = LURE) -> None:
        links = dict.fromkeys(paths, words) | {"/help": help_}
        shop.page("/", make_page("/", "Lantern and Tide", ["We make lamps."], links))

    return lay


async def answered(desk: Desk, *problems: str, within: float = 8.0, **options: Any) -> Answer:
    """The shop's page answers; each of `problems` is in one of the warnings."""
    desk.knows(FACT)
    started = time.monotonic()
    answer = await desk.ask(QUESTION, **options)
    assert time.monotonic() - started < within
    assert (answer.status, answer.answer) == ("answered", FACT + "[1]")
    assert answer.citations[0].uri == desk.web.at("/help/returns")
    assert len(desk.web.paths()) <= 30
    for problem in problems:
        assert any(problem in warning for warning in answer.warnings), answer.warnings
    return answer


# ---------------------------------------------------------------- pages without end


async def test_a_loop_of_links(desk: Desk, shop: Web, trap: Callable[..., None]) -> None:
    """Pages that link each other, and themselves, are read once each."""
    trap("/loop/a", "/loop/b")
    for one, other in (("a", "b"), ("b", "a")):
        links = "".join(
            f'<p><a href="{href}">{LURE}</a></p>'
            for href in (f"/loop/{other}", f"/loop/{one}#x", f"/loop/{other}/")
        )
        shop.page(f"/loop/{one}", f"<p>Round and round.</p>{links}")
    await answered(desk)
    assert [path.rstrip("/") for path in shop.paths()].count("/loop/a") == 1
    assert len(shop.paths()) == len(set(shop.paths()))


@pytest.mark.parametrize("day", ["/cal?day={}", "/cal/2024/{}"])
@pytest.mark.parametrize("words", [LURE, "next day"])
async def test_a_calendar_that_never_ends(
    desk: Desk, shop: Web, trap: Callable[..., None], day: str, words: str
) -> None:
    """Each day leads to the next thirty; a few are looked at, and the shop's page is found."""
    trap(*[day.format(n) for n in range(3)], words=words)

    def calendar(path: str) -> Page | None:
        if not path.startswith("/cal"):
            return None
        today = int(path.replace("=", "/").rpartition("/")[2])
        days = "".join(
            f'<td><a href="{day.format(today + n)}">{words} {today + n}</a></td>'
            for n in range(1, 31)
        )
        return shop.made(f"<p>Nothing on day {today}.</p><table><tr>{days}</tr></table>")

    shop.otherwise = calendar
    if words != LURE:
        await answered(desk)
    else:
        # every day is as near to the question as a page can be: half of a round is for others, and
        # the end is plain
        answer = await desk.ask(QUESTION)
        assert answer.status == "refused"
        assert {"/", "/help"} <= set(shop.paths())
    assert sum(path.startswith("/cal") for path in shop.paths()) <= 10


async def test_session_ids_in_every_link(desk: Desk, shop: Web) -> None:
    """Every link of every page is new: the answer is found, and the run ends."""
    number = count(1)

    def with_ids(path: str) -> Page | None:
        plain, _, query = path.partition("?")
        if plain not in shop.pages or not query:
            return None
        return replace(
            shop.stored(plain),
            body=shop.stored(plain).body.replace(b'">', f'?sid={next(number):08x}">'.encode()),
        )

    shop.stored("/").body = shop.stored("/").body.replace(b'href="/help"', b'href="/help?sid=0"')
    shop.otherwise = with_ids
    desk.knows(FACT)
    answer = await desk.ask(QUESTION)
    assert (answer.status, answer.answer) == ("answered", FACT + "[1]")
    assert answer.citations[0].uri.startswith(shop.at("/help/returns?sid="))
    assert len(shop.paths()) <= 26


async def test_folders_without_end(desk: Desk, shop: Web, trap: Callable[..., None]) -> None:
    """/a/a/a/...: each page has a deeper one."""
    trap("/a/")

    def deeper(path: str) -> Page | None:
        return (
            shop.made(f'<p>Deeper.</p><a href="a/">{LURE}</a>') if path.startswith("/a/") else None
        )

    shop.otherwise = deeper
    await answered(desk)
    assert sum(path.startswith("/a/") for path in shop.paths()) <= 6


async def test_redirects_in_a_circle(desk: Desk, shop: Web, trap: Callable[..., None]) -> None:
    """Given up after a few, and told."""
    trap("/spin/1")
    shop.leads("/spin/1", "/spin/2", 301)
    shop.leads("/spin/2", "/spin/1", 302)
    await answered(desk, "redirects")
    assert sum(path.startswith("/spin") for path in shop.paths()) <= 6


async def test_redirects_that_never_meet(desk: Desk, shop: Web, trap: Callable[..., None]) -> None:
    """Each leads to a new address."""
    trap("/on?1")

    def onward(path: str) -> Page | None:
        there = {"location": f"/on?{path[4:]}1"}
        return (
            replace(shop.made(""), status=302, headers=there) if path.startswith("/on?") else None
        )

    shop.otherwise = onward
    await answered(desk, "redirects")


# ---------------------------------------------------------------- pages that are too much, or
# nothing


async def huge(writer: asyncio.StreamWriter) -> None:
    """10 MB, and no word of how long it is."""
    writer.write(b"HTTP/1.1 200 X\r\ncontent-type: text/html\r\nconnection: close\r\n\r\n")
    for _ in range(10_000_000 // len(CHUNK)):
        writer.write(CHUNK)
        await writer.drain()


async def drip(writer: asyncio.StreamWriter) -> None:
    """A page that never ends: a byte now and then."""
    writer.write(b"HTTP/1.1 200 X\r\ncontent-type: text/html\r\ncontent-length: 100000\r\n\r\n")
    while True:
        writer.write(b"x")
        await writer.drain()
        await asyncio.sleep(0.05)


async def torn(writer: asyncio.StreamWriter) -> None:
    """Less than was promised."""
    writer.write(
        b"HTTP/1.1 200 X\r\ncontent-type: text/html\r\ncontent-length: 100000\r\n\r\n<html>half a"
    )
    await writer.drain()


async def nonsense(writer: asyncio.StreamWriter) -> None:
    """Bytes that are no HTTP."""
    writer.write(b"\x00\x01\x02 HELLO\r\n\r\n" * 10)
    await writer.drain()


async def hangs_up(writer: asyncio.StreamWriter) -> None:
    """Nothing at all."""
    writer.transport.abort()


async def heads_without_end(writer: asyncio.StreamWriter) -> None:
    """A header that never ends."""
    writer.write(b"HTTP/1.1 200 X\r\n")
    while True:
        writer.write(b"x-more: " + b"y" * 60_000 + b"\r\n")
        await writer.drain()
        await asyncio.sleep(0)


SENT: dict[str, tuple[Callable[..., Any], str]] = {
    "/huge": (huge, "larger than"),
    "/torn": (torn, "broke"),
    "/nonsense": (nonsense, "broke"),
    "/abrupt": (hangs_up, "broke"),
    "/heads": (heads_without_end, "broke"),
}


async def test_replies_that_are_no_pages(
    desk: Desk, shop: Web, trap: Callable[..., None], open_desk: Callable[..., Any]
) -> None:
    """Each is told by its address, and the shop's page answers."""
    hosts = [f"127.0.0.{n}" for n in (2, 3, 4)]
    trap(*[shop.at(path, hosts[n % 3]) for n, path in enumerate(SENT)])
    for path, (send, _) in SENT.items():
        shop.pages[path] = send
    async with open_desk({"page_seconds": 5.0}) as hasty:
        answer = await answered(
            hasty, within=12.0, allowed_domains=["127.0.0.1", *hosts], max_urls_per_iteration=6
        )
    for path, (_, problem) in SENT.items():
        assert any(path in warning and problem in warning for warning in answer.warnings), (
            path,
            answer.warnings,
        )


async def test_a_page_that_never_ends(
    desk: Desk, shop: Web, trap: Callable[..., None], open_desk: Callable[..., Any]
) -> None:
    """A byte now and then: it has its seconds and no more; its connection is closed."""
    trap("/drip")
    shop.pages["/drip"] = drip
    async with open_desk({"page_seconds": 0.7}) as hasty:
        await answered(hasty, "/drip: not there within", within=4.0)
    async with asyncio.timeout(2):
        while shop.now["all"]:  # noqa: ASYNC110  # the server cannot tell what a test waits for
            await asyncio.sleep(0.01)


REPLIES: list[tuple[dict[str, Any], str]] = [
    ({"status": 500}, "status 500"),
    ({"status": 404}, "status 404"),
    ({"status": 410}, "status 410"),
    ({"status": 403}, "status 403"),
    ({"status": 418}, "status 418"),
    ({"status": 204}, "status 204"),
    ({"body": b"\x89PNG\r\n\x1a\n", "kind": "image/png"}, "image/png"),
    ({"body": b"\0" * 99, "kind": "video/mp4"}, "video/mp4"),
    ({"body": b"%PDF-1.7 nothing", "kind": "application/pdf"}, ""),
    ({"body": b""}, "empty"),
    ({"body": b"<html><body></body></html>"}, "no text"),
    ({"body": b"<html><script>draw()</script></html>"}, ""),
    ({"body": b"abc", "headers": {"content-encoding": "zstd"}}, "packed as zstd"),
    ({"body": b"abc", "headers": {"content-encoding": "gzip"}}, "packed wrongly"),
    (
        {
            "body": gzip.compress(b"<p>" + b"\0" * 30_000_000),
            "headers": {"content-encoding": "gzip"},
        },
        "larger than",
    ),
    ({"body": b"\xff\xfe\0\0" * 50}, ""),
]


async def test_pages_that_cannot_be_read(desk: Desk, shop: Web, trap: Callable[..., None]) -> None:
    """Each is told by its address with the reason, and the shop's page answers."""
    paths = [f"/trap-{chr(97 + n)}" for n in range(len(REPLIES))]
    trap(*paths)
    for path, (reply, _) in zip(paths, REPLIES, strict=True):
        shop.page(path, **({"body": b""} | reply))
    answer = await answered(desk, max_urls_per_iteration=len(paths) + 1, within=12.0)
    for path, (_, problem) in zip(paths, REPLIES, strict=True):
        assert any(
            f"{path}: " in f"{warning} " and problem in warning for warning in answer.warnings
        ), (path, answer.warnings)


@pytest.mark.parametrize("status", [429, 503])
async def test_a_busy_site_is_asked_again(desk: Desk, shop: Web, status: int) -> None:
    """After as long as it wants, and then the page is read."""
    page = shop.stored("/help/returns")
    tries: list[float] = []

    async def busy(writer: asyncio.StreamWriter) -> None:
        tries.append(time.monotonic())
        if len(tries) == 1:
            writer.write(
                f"HTTP/1.1 {status} X\r\nretry-after: 1\r\ncontent-length: 0\r\nconnection: "
                "close\r\n\r\n".encode()
            )
        else:
            writer.write(page.bytes({}))
        await writer.drain()

    shop.pages["/help/returns"] = busy
    answer = await answered(desk, within=10.0)
    assert len(tries) == 2
    assert tries[1] - tries[0] >= 0.99
    assert answer.warnings == []


async def test_a_site_that_wants_an_hour(desk: Desk, shop: Web, trap: Callable[..., None]) -> None:
    """It is not waited for; pages of other hosts are read, and the answer says what was not."""
    lure = shop.at("/trap", "127.0.0.2")
    trap(lure)
    shop.page("/trap", b"", status=429, headers={"retry-after": "3600"})
    answer = await answered(desk, "/trap", within=5.0, allowed_domains=["127.0.0.1", "127.0.0.2"])
    assert any("status 429" in warning and "60 minutes" in warning for warning in answer.warnings)
    assert shop.paths("127.0.0.2") == ["/trap"]


async def test_fifty_thousand_links(desk: Desk, shop: Web, trap: Callable[..., None]) -> None:
    """A page of links without end, all with the words of the question: the seconds allowed hold,
    and what is there is used.
    """
    trap("/many")
    links = "".join(
        f'<li><a href="/m/{n:x}-{"abcdefgh"[n % 8]}">{LURE} {n}</a></li>' for n in range(50_000)
    )
    shop.page(
        "/many",
        f"<html><title>Many</title><body><p>So many.</p><ul>{links}</ul></body></html>".encode(),
    )
    started = time.monotonic()
    answer = await desk.ask(QUESTION, max_seconds=5.0)
    assert time.monotonic() - started < 5.0 + 4.0
    assert answer.status in {"answered", "refused"}
    assert "/help" in shop.paths()


async def test_one_promising_page_that_fails(
    desk: Desk, shop: Web, trap: Callable[..., None]
) -> None:
    """The others are followed then, though they promise little: help is still there."""
    trap("/trap", help_="Help centre")
    shop.page("/trap", "", status=404)
    await answered(desk, "/trap")


async def test_every_problem_at_once(desk: Desk, shop: Web, trap: Callable[..., None]) -> None:
    """A refusal names the first of what could not be read, the warnings all of it."""
    bad = {"/bad-a": 500, "/bad-b": 404, "/bad-c": 403, "/bad-d": 410}
    trap(*bad)
    for path, status in bad.items():
        shop.page(path, "", status=status)
    answer = await desk.ask(QUESTION, max_iterations=1)
    assert answer.status == "refused"
    assert sum(path in answer.answer for path in bad) == 3
    assert [
        sum(f"status {status}" in warning for warning in answer.warnings) for status in bad.values()
    ] == [1] * 4
