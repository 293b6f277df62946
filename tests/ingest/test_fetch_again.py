"""Sites that are busy: what is tried again, when, how often, and what a `Retry-After` means for
everybody.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from email.utils import formatdate

import pytest
from tests.error_codes import raises_code
from tests.ingest.test_fetch import Site, serving

from citewell.config import Settings
from citewell.errors import InvalidInput, PermanentError, TransientError
from citewell.fetch.fetcher import ATTEMPTS, Fetcher
from citewell.fetch.hosts import LONGEST_PAUSE, Hosts, format_retry_hint, parse_retry_after
from citewell.fetch.robots import parse


@pytest.fixture
async def site() -> AsyncIterator[Site]:
    made = Site()
    async with serving(made) as port:
        made.url = f"http://127.0.0.1:{port}"
        made.page("/a")
        yield made


@pytest.fixture
async def fetcher() -> AsyncIterator[Fetcher]:
    async with Fetcher(Settings(allow_private_hosts=("127.0.0.1",)), max_bytes=100_000) as opened:
        yield opened


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Guessed waits are short here; those that a site asks for are not."""
    monkeypatch.setattr("citewell.fetch.fetcher._WAIT", 0.02)
    monkeypatch.setattr("citewell.fetch.fetcher._JITTER", 0.02)


def busy_first(site: Site, path: str, times: int, status: int = 503, **headers: str) -> None:
    """The page comes after so many refusals."""
    site.page(path)
    good = site.pages[path]
    site.page(path, "busy", status, **headers)
    bad = site.pages[path]
    assert isinstance(good, bytes)
    assert isinstance(bad, bytes)
    replies = [bad] * times

    async def reply(writer: asyncio.StreamWriter) -> None:
        writer.write((replies.pop() if replies else good).replace(b"keep-alive", b"close"))
        await writer.drain()

    site.pages[path] = reply


@pytest.mark.parametrize("status", [429, 502, 503, 504])
async def test_busy_for_a_moment(site: Site, fetcher: Fetcher, status: int) -> None:
    """With attempts to spare it comes; conditions go along each time."""
    busy_first(site, "/b", 2, status)
    page = await fetcher.page(f"{site.url}/b", etag='"v"', seconds=5, attempts=ATTEMPTS)
    assert page.status == 200
    assert site.paths == ["/robots.txt", "/b", "/b", "/b"]
    assert all('if-none-match: "v"' in head.lower() for head in site.requests[1:])


async def test_busy_for_longer(site: Site, fetcher: Fetcher) -> None:
    """Once unless the caller asks for more, then as often as it says; the last reply is the
    error.
    """
    site.page("/b", "", 503)
    for attempts, requests in ((1, 1), (3, 3)):
        with pytest.raises(TransientError, match=f"{site.url}/b: status 503") as caught:
            await fetcher.page(f"{site.url}/b", seconds=5, attempts=attempts)
        assert caught.value.code == "site_busy"
        assert site.paths.count("/b") == requests
        site.requests.clear()


async def test_what_is_not_tried_again(site: Site, fetcher: Fetcher) -> None:
    """What a moment does not mend."""
    for status in (404, 403, 500, 501, 304):
        site.page("/b", "", status)
        with pytest.raises((TransientError, PermanentError)):
            await fetcher.page(f"{site.url}/b", seconds=5, attempts=3)
    assert site.paths.count("/b") == 5


async def test_connection_that_breaks(site: Site, fetcher: Fetcher) -> None:
    """It is tried again like a busy site."""
    site.pages["/b"] = b""
    with pytest.raises(TransientError, match="the connection broke"):
        await fetcher.page(f"{site.url}/b", seconds=5, attempts=3)
    assert site.paths.count("/b") in {3, 4}  # once more where the first went over a kept connection


async def test_no_attempt_that_would_end_too_late(
    site: Site, fetcher: Fetcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The reason is told at once, not hidden behind a time limit."""
    monkeypatch.setattr("citewell.fetch.fetcher._WAIT", 10.0)
    site.page("/b", "", 503)
    started = time.monotonic()
    with pytest.raises(TransientError, match="status 503"):
        await fetcher.page(f"{site.url}/b", seconds=3, attempts=3)
    assert time.monotonic() - started < 2


async def test_storm(site: Site, fetcher: Fetcher) -> None:
    """Many pages of a site in trouble: after some failures in a row nothing is tried twice, until
    something comes again.
    """
    for n in range(20):
        site.page(f"/{n}", "", 503)
    pages = [fetcher.page(f"{site.url}/{n}", seconds=20, attempts=3) for n in range(20)]
    results = await asyncio.gather(*pages, return_exceptions=True)
    assert all(isinstance(each, TransientError) for each in results)
    assert len(site.paths) <= 1 + 20 + 5
    assert site.most <= 2
    await fetcher.page(f"{site.url}/a", seconds=5)
    site.requests.clear()
    with pytest.raises(TransientError):
        await fetcher.page(f"{site.url}/0", seconds=5, attempts=3)
    assert len(site.requests) == 3


# ---------------------------------------------------------------- Retry-After


@pytest.mark.parametrize("form", ["seconds", "date"])
async def test_pause_is_kept(site: Site, fetcher: Fetcher, form: str) -> None:
    """By this request and by every other one to this host; a date counts by the site's own clock,
    which is a year behind.
    """
    year = time.time() - 365 * 86_400
    dates = {
        "retry_after": formatdate(year + 1, usegmt=True),
        "date": formatdate(year, usegmt=True),
    }
    busy_first(site, "/b", 1, 429, **({"retry_after": "1"} if form == "seconds" else dates))
    await fetcher.page(f"{site.url}/a", seconds=5)

    async def other() -> None:
        await asyncio.sleep(0.3)
        await fetcher.page(f"{site.url}/a", seconds=5)

    await asyncio.gather(fetcher.page(f"{site.url}/b", seconds=5, attempts=2), other())
    at = dict(enumerate(site.times))
    assert sorted(site.paths[2:]) == ["/a", "/b", "/b"]
    assert site.paths[2] == "/b"
    assert at[3] - at[2] >= 0.95
    assert at[4] - at[2] < 3


async def test_pause_that_is_too_long(site: Site, fetcher: Fetcher) -> None:
    """It is not waited for: the error says when; and until then whoever has less time is told at
    once, without a request.
    """
    busy_first(site, "/b", 1, 503, retry_after="120")
    started = time.monotonic()
    with pytest.raises(TransientError, match=f"{site.url}/b: status 503") as caught:
        await fetcher.page(f"{site.url}/b", seconds=5, attempts=3)
    assert (caught.value.code, caught.value.hint) == (
        "paused",
        "the site wants to be asked again in 2 minutes",
    )
    for path in ("/a", "/b"):
        with pytest.raises(
            TransientError, match=r"127\.0\.0\.1: it asked to be left alone"
        ) as caught:
            await fetcher.page(site.url + path, seconds=5, attempts=3)
        assert (caught.value.code, caught.value.hint[:42]) == (
            "paused",
            "the site wants to be asked again in 120 se"[:42],
        )
    assert time.monotonic() - started < 3
    assert site.paths == ["/robots.txt", "/b"]
    other = Site()
    other.page("/a")
    async with serving(other, "127.0.0.2") as port, Fetcher(
        Settings(allow_private_hosts=("127.0.0.0/8",)), max_bytes=1000
    ) as another:  # fmt: skip
        assert (await another.page(f"http://127.0.0.2:{port}/a", seconds=5)).status == 200


async def test_pause_in_a_robots_txt(site: Site, fetcher: Fetcher) -> None:
    """It is kept too: waited for where it is short, and else nothing is asked of the site until
    then.
    """
    busy_first(site, "/robots.txt", 1, 503, retry_after="1")
    await fetcher.page(f"{site.url}/a", seconds=5, attempts=2)
    assert site.paths == ["/robots.txt", "/robots.txt", "/a"]
    assert site.times[1] - site.times[0] >= 0.95


async def test_long_pause_in_a_robots_txt(site: Site, fetcher: Fetcher) -> None:
    site.page("/robots.txt", "", 503, retry_after="1000")
    for _ in range(2):
        with pytest.raises(
            TransientError, match=r"robots\.txt cannot be read: status 503"
        ) as caught:
            await fetcher.page(f"{site.url}/a", seconds=5, attempts=3)
        assert caught.value.hint == "the site wants to be asked again in 17 minutes"
    assert await fetcher.sitemaps(site.url) == []
    assert site.paths == ["/robots.txt"]


@pytest.mark.parametrize(("value", "date", "seconds"), [
    ("7", "", 7.0),
    (" 0 ", "", 0.0),
    ("9" * 50, "", float("9" * 12)),
    ("-1", "", None),
    ("soon", "", None),
    ("", "", None),
    ("1.5", "", None),
    ("٣", "", None),
    ("Wed, 01 Jan 2020 00:01:00 GMT", "Wed, 01 Jan 2020 00:00:00 GMT", 60.0),
    ("Wed, 01 Jan 2020 00:01:00 GMT", "", 0.0),
    ("Wed, 01 Jan 2020 00:01:00 GMT", "nonsense", 0.0),
    ("Wed, 01 Jan 2020 00:01:00 GMT", "Wed, 01 Jan 2020 01:00:00 +0200",
     3660.0 - 1200 * 3 + 3600.0),
    ("Wed, 99 Jan 2020 00:01:00 GMT", "", None),
    ("Fri, 31 Dec 999999999 23:59:59 GMT", "", None),
])  # fmt: skip
def test_forms_of_retry_after(value: str, date: str, seconds: float | None) -> None:
    assert parse_retry_after(value, date) == seconds


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0.1, "1 seconds"), (119, "119 seconds"), (121, "3 minutes"), (86_400, "24 hours")],
)
def test_when(seconds: float, words: str) -> None:
    assert format_retry_hint(seconds).endswith(f"in {words}")


async def test_longest_pause() -> None:
    """No header closes a host for good, and a shorter one does not open it."""

    async def read(url: str, attempts: int) -> bytes:
        return b""

    hosts = Hosts(read, "Citewell")
    hosts.note_pause("http://a.example/x", 1e12)
    hosts.note_pause("http://a.example/x", 1)
    assert LONGEST_PAUSE - 5 < hosts.get_pause("https://a.example/y") <= LONGEST_PAUSE
    assert hosts.get_pause("http://b.example/") == 0


# ---------------------------------------------------------------- sitemaps


async def test_sitemaps(site: Site, fetcher: Fetcher) -> None:
    """Those that robots.txt names, whoever its groups speak of, in one spelling, each once; wrong
    ones are left out.
    """
    site.page("/robots.txt", (
        "Sitemap: https://Other.example/Map.xml#x\nUser-agent: citewell\nsitemap: /own.xml # ours\n"
        "User-agent: b\nDisallow: /x\nSITEMAP : "
        "https://other.example/Map.xml\nSitemap:\nSitemap: ftp://other.example/\n"
        "Sitemap: http://u:p@h/\nDisallow: /y\n"
    ))  # fmt: skip
    assert await fetcher.sitemaps(f"{site.url}/deep/page?x") == [
        "https://other.example/Map.xml",
        f"{site.url}/own.xml",
    ]
    for path in ("/x", "/y"):  # a sitemap between two lines of a group ends none
        with raises_code(PermanentError, "robots_refused"):
            await fetcher.page(site.url + path, seconds=5)
    assert site.paths == ["/robots.txt"]


async def test_sitemaps_that_are_not_named(site: Site, fetcher: Fetcher) -> None:
    """The usual one, where there is a robots.txt that names none or no robots.txt."""
    assert await fetcher.sitemaps(site.url) == [f"{site.url}/sitemap.xml"]
    other = Site()
    other.page("/robots.txt", "User-agent: *\nSitemap: ftp://x/\n")
    async with serving(other) as port:
        assert await fetcher.sitemaps(f"http://127.0.0.1:{port}/") == [
            f"http://127.0.0.1:{port}/sitemap.xml"
        ]


async def test_too_many_sitemaps(site: Site, fetcher: Fetcher) -> None:
    site.page("/robots.txt", "".join(f"Sitemap: /{n}.xml\n" for n in range(1000)))
    assert await fetcher.sitemaps(site.url) == [f"{site.url}/{n}.xml" for n in range(20)]


async def test_sitemaps_that_nobody_can_tell(
    site: Site, fetcher: Fetcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A robots.txt that cannot be read, a host that is refused: none. What is no address at all is
    an error.
    """
    site.page("/robots.txt", "", 500)
    assert await fetcher.sitemaps(site.url) == []
    assert await fetcher.sitemaps("http://169.254.169.254/") == []
    with pytest.raises(InvalidInput):
        await fetcher.sitemaps("//evil.org")


def test_sitemaps_are_of_no_group() -> None:
    """They are everyone's."""
    assert parse(b"User-agent: other\nSitemap: /a\n", "Citewell").sitemaps == ["/a"]
