"""The fetcher, against real servers on the loopback."""

from __future__ import annotations

import asyncio
import gzip
import ipaddress
import shutil
import ssl
import subprocess
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from citewell.config import Settings
from citewell.errors import InvalidInput, PermanentError, TransientError, UnreadableFile
from citewell.fetch.fetcher import Fetcher
from citewell.fetch.public_addresses import Address
from citewell.fetch.robots import parse
from citewell.ingest.web.web_file import as_file, is_readable_page

HTML = "<html><body><h1>Lighthouse</h1><p>It was built in 1857.</p></body></html>"
KEEP = "connection: keep-alive\r\n"
Send = Callable[[asyncio.StreamWriter], Awaitable[None]]


class Site:
    """`pages`: path -> what is sent for it. `requests`: heads of what came, over so many
    `connections`; `most`: how many were under way at once. A connection is kept after a reply of
    `page`, and closed after any other.
    """

    def __init__(self) -> None:
        self.url = ""
        self.pages: dict[str, bytes | Send] = {}
        self.requests: list[str] = []
        self.times: list[float] = []
        self.connections = self.open = self.most = 0
        self.writers: set[asyncio.StreamWriter] = set()

    def page(
        self,
        path: str,
        body: bytes | str = HTML,
        status: int = 200,
        kind: str = "text/html",
        **headers: str,
    ) -> None:
        data = body.encode() if isinstance(body, str) else body
        more = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in headers.items())
        head = (
            f"HTTP/1.1 {status} X\r\ncontent-type: {kind}\r\ncontent-length: "
            f"{len(data)}\r\n{KEEP}{more}\r\n"
        )
        self.pages[path] = head.encode() + data

    def leads(self, path: str, there: str, status: int = 302) -> None:
        self.page(path, "", status, location=there)

    @property
    def paths(self) -> list[str]:
        return [head.split(" ")[1] for head in self.requests]

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        self.writers.add(writer)
        try:
            while await self.answer((await reader.readuntil(b"\r\n\r\n")).decode(), writer):
                pass
        except (ConnectionError, asyncio.IncompleteReadError):
            self.pages["left"] = b""  # the client had enough
        finally:
            self.writers.discard(writer)
            writer.close()

    async def answer(self, head: str, writer: asyncio.StreamWriter) -> bool:
        """Whether the connection is kept."""
        self.requests.append(head)
        self.times.append(time.monotonic())
        self.open += 1
        self.most = max(self.most, self.open)
        try:
            reply = self.pages.get(
                head.split(" ")[1], f"HTTP/1.1 404 X\r\ncontent-length: 0\r\n{KEEP}\r\n".encode()
            )
            if not isinstance(reply, bytes):
                await reply(writer)
                return False
            writer.write(reply)
            await writer.drain()
            return KEEP.encode() in reply
        finally:
            self.open -= 1


@asynccontextmanager
async def serving(
    site: Site, host: str = "127.0.0.1", port: int = 0, tls: ssl.SSLContext | None = None
) -> AsyncIterator[int]:
    listener = await asyncio.start_server(site.handle, host, port, ssl=tls)
    try:
        yield listener.sockets[0].getsockname()[1]
    finally:
        listener.close()
        for writer in site.writers:
            writer.close()
        await listener.wait_closed()


@pytest.fixture
async def site() -> AsyncIterator[Site]:
    made = Site()
    async with serving(made) as port:
        made.url = f"http://127.0.0.1:{port}"
        yield made


@pytest.fixture
async def fetcher() -> AsyncIterator[Fetcher]:
    async with Fetcher(
        Settings(allow_private_hosts=("127.0.0.1",), user_agent="Citewell/1"), max_bytes=100_000
    ) as opened:
        yield opened


def means(monkeypatch: pytest.MonkeyPatch, hosts: dict[str, list[list[str]]]) -> list[str]:
    """What each host resolves to, call by call (the last stays). Returns the hosts that were asked
    for.
    """
    asked: list[str] = []

    async def resolve(host: str, port: int) -> list[Address]:
        asked.append(host)
        answers = hosts.get(host, [[host]])
        return [
            ipaddress.ip_address(each)
            for each in (answers.pop(0) if len(answers) > 1 else answers[0])
        ]

    monkeypatch.setattr("citewell.fetch.addresses.resolve", resolve)
    return asked


async def test_page(site: Site, fetcher: Fetcher) -> None:
    """What the site said is kept; the request names us, and sends no cookie back."""
    site.page(
        "/a?b=1", kind='Text/HTML; charset="GBK"', etag='"v1"', last_modified="Mon, 1 Jan",
        set_cookie="id=1", x_robots_tag="NoFollow",
    )  # fmt: skip
    for _ in range(2):
        page = await fetcher.page(f"{site.url}/x/../a?b=1&utm_source=x#top", seconds=5)
    assert (page.url, page.final_url) == (f"{site.url}/a?b=1",) * 2
    assert (page.status, page.media_type, page.charset, page.data) == (
        200,
        "text/html",
        "gbk",
        HTML.encode(),
    )
    assert (page.etag, page.last_modified, page.not_modified) == ('"v1"', "Mon, 1 Jan", False)
    assert (page.redirects, page.robots_tag) == ((), "nofollow")
    assert abs(page.fetched_at - time.time()) < 60
    assert site.paths == ["/robots.txt", "/a?b=1", "/a?b=1"]
    assert "user-agent: Citewell/1" in site.requests[1].replace("User-Agent", "user-agent")
    assert "cookie" not in site.requests[2].lower()
    assert f"host: {site.url[7:]}" in site.requests[1].lower()


async def test_page_that_has_not_changed(site: Site, fetcher: Fetcher) -> None:
    """The ETag goes along, and 304 brings no bytes; one that was not asked for is an error."""
    site.page("/a", "", 304, etag='"v1"')
    page = await fetcher.page(f"{site.url}/a", etag='"v1"', last_modified="Mon", seconds=5)
    assert (page.not_modified, page.data, page.etag) == (True, b"", '"v1"')
    assert 'if-none-match: "v1"' in site.requests[-1].lower()
    assert "if-modified-since: mon" in site.requests[-1].lower()
    with pytest.raises(PermanentError, match="status 304"):
        await fetcher.page(f"{site.url}/a", seconds=5)


@pytest.mark.parametrize(("status", "kind", "code"), [
    (404, PermanentError, "page_missing"),
    (403, PermanentError, "page_refused"),
    (400, PermanentError, "permanent"),
    (429, TransientError, "site_busy"),
    (503, TransientError, "site_busy"),
    (204, PermanentError, "permanent"),
    (302, PermanentError, "permanent"),
])  # fmt: skip
async def test_status(
    site: Site, fetcher: Fetcher, status: int, kind: type[Exception], code: str
) -> None:
    """What may work later and what will not, with the URL."""
    site.page("/a", "", status)
    with pytest.raises(kind, match=f"{site.url}/a: status {status}") as caught:
        await fetcher.page(f"{site.url}/a", seconds=5)
    assert getattr(caught.value, "code", "") == code


# ---------------------------------------------------------------- addresses


@pytest.mark.parametrize("there", [
    "http://169.254.169.254/latest/meta-data/", "http://localhost:{port}/secret",
    "http://127.0.0.1:{port}/secret", "http://[::ffff:127.0.0.1]:{port}/secret",
    "//[::1]:{port}/secret",
])  # fmt: skip
async def test_redirect_to_an_address_inside(
    site: Site, monkeypatch: pytest.MonkeyPatch, there: str
) -> None:
    """A redirect is checked as the first request is: that one name may be fetched opens nothing
    else.
    """
    port = site.url.rpartition(":")[2]
    means(monkeypatch, {"site.example": [["127.0.0.1"]], "localhost": [["127.0.0.1"]]})
    site.page("/secret", "secret")
    site.leads("/a", there.format(port=port))
    async with Fetcher(Settings(allow_private_hosts=("site.example",)), max_bytes=1000) as fetcher:
        with pytest.raises(InvalidInput) as caught:
            await fetcher.page(f"http://site.example:{port}/a", seconds=5)
    assert caught.value.code == "address_refused"
    assert site.paths == ["/robots.txt", "/a"]


@pytest.mark.parametrize(
    "there",
    ["file:///etc/passwd", "gopher://127.0.0.1/", "http://u:p@127.0.0.1/", "http://2130706433/"],
)
async def test_redirect_to_what_is_no_page(site: Site, fetcher: Fetcher, there: str) -> None:
    """Nor does a redirect reach what a URL could not."""
    site.leads("/a", there)
    with pytest.raises(InvalidInput) as caught:
        await fetcher.page(f"{site.url}/a", seconds=5)
    assert caught.value.code == "bad_url"


async def test_nothing_is_allowed_unless_it_is_listed(site: Site) -> None:
    """Without the setting the loopback is refused before anything is sent."""
    async with Fetcher(Settings(), max_bytes=1000) as fetcher:
        with pytest.raises(InvalidInput, match=r"127\.0\.0\.1 is refused"):
            await fetcher.page(site.url, seconds=5)
    assert site.requests == []


async def test_connected_to_the_address_that_was_checked(
    site: Site, fetcher: Fetcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A host that means another address the next moment (DNS rebinding) is looked up once a
    request, and then refused.
    """
    port = int(site.url.rpartition(":")[2])
    site.page("/a", "public")
    inside = Site()
    inside.page("/a", "secret")
    async with serving(inside, "127.0.0.2", port):
        asked = means(
            monkeypatch, {"rebind.example": [["127.0.0.1"], ["127.0.0.1"], ["127.0.0.2"]]}
        )
        assert (await fetcher.page(f"http://rebind.example:{port}/a", seconds=5)).data == b"public"
        assert asked == ["rebind.example"] * 2  # robots.txt and the page
        assert f"host: rebind.example:{port}" in site.requests[1].lower()
        with pytest.raises(InvalidInput) as caught:
            await fetcher.page(f"http://rebind.example:{port}/a", seconds=5)
    assert caught.value.code == "address_refused"
    assert inside.requests == []


async def test_next_address_is_tried(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where one address does not answer the next one may; where none does, the error names the URL
    and no address.
    """
    port = site.url.rpartition(":")[2]
    site.page("/a")
    means(
        monkeypatch,
        {"two.example": [["127.0.0.3", "127.0.0.1"]], "none.example": [["127.0.0.3", "127.0.0.4"]]},
    )
    async with Fetcher(Settings(allow_private_hosts=("127.0.0.0/8",)), max_bytes=1000) as fetcher:
        assert (await fetcher.page(f"http://two.example:{port}/a", seconds=5)).status == 200
        with pytest.raises(TransientError, match=r"none\.example") as caught:
            await fetcher.page(f"http://none.example:{port}/a", seconds=5)
    assert "127.0" not in caught.value.message


def make_certificate(
    folder: Path, monkeypatch: pytest.MonkeyPatch, names: Sequence[str]
) -> ssl.SSLContext:
    """A server's, for these names, which this process trusts."""
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("no openssl to make a certificate with")
    key, cert = folder / "key.pem", folder / "cert.pem"
    subprocess.run(
        [openssl, "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
         "-nodes", "-days", "2", "-subj", "/CN=good.example",
         "-addext", f"subjectAltName={','.join('DNS:' + name for name in names)}",
         "-keyout", str(key), "-out", str(cert)],
        check=True, capture_output=True,
    )  # fmt: skip
    monkeypatch.setenv("SSL_CERT_FILE", str(cert))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(cert, key)
    return context


@pytest.fixture
def certificate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ssl.SSLContext:
    return make_certificate(tmp_path, monkeypatch, ["good.example"])


async def test_certificate_is_checked_against_the_name(
    certificate: ssl.SSLContext, fetcher: Fetcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Though the connection goes to an address, the name is sent and must be the certificate's."""
    names: list[str | None] = []
    certificate.sni_callback = lambda _, name, __: names.append(name)
    means(monkeypatch, {"good.example": [["127.0.0.1"]], "other.example": [["127.0.0.1"]]})
    secure = Site()
    secure.page("/a")
    async with serving(secure, tls=certificate) as port:
        assert (await fetcher.page(f"https://good.example:{port}/a", seconds=5)).notes == ()
        with pytest.raises(
            PermanentError, match=rf"https://other\.example:{port}/.*certificate"
        ) as caught:
            await fetcher.page(f"https://other.example:{port}/a", seconds=5)
    assert caught.value.code == "bad_certificate"
    assert names == ["good.example", "other.example"]


async def test_redirect_that_gives_up_encryption_is_noted(
    certificate: ssl.SSLContext, site: Site, fetcher: Fetcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is followed, and the page says so."""
    means(monkeypatch, {"good.example": [["127.0.0.1"]]})
    site.page("/a")
    secure = Site()
    secure.leads("/a", f"{site.url}/a")
    async with serving(secure, tls=certificate) as port:
        page = await fetcher.page(f"https://good.example:{port}/a", seconds=5)
    assert page.notes == (
        f"https://good.example:{port}/a leads to {site.url}/a, which is not encrypted",
    )


async def test_redirect(site: Site, fetcher: Fetcher) -> None:
    """It is read on its page; a space in it is forgiven."""
    site.page("/b/c%20d")
    site.leads("/a", "b/c d#x", 301)
    site.leads("/z", "/a")
    page = await fetcher.page(f"{site.url}/z", seconds=5)
    assert (page.url, page.final_url, page.notes) == (f"{site.url}/z", f"{site.url}/b/c%20d", ())
    assert page.redirects == (f"{site.url}/z", f"{site.url}/a")


async def test_redirect_loop(site: Site, fetcher: Fetcher) -> None:
    """Five redirects are followed, no more."""
    for n in range(6):
        site.leads(f"/{n}", f"/{n + 1}")
    site.page("/6")
    assert (await fetcher.page(f"{site.url}/1", seconds=5)).status == 200
    with pytest.raises(PermanentError) as caught:
        await fetcher.page(f"{site.url}/0", seconds=5)
    assert caught.value.code == "redirect_loop"


# ---------------------------------------------------------------- sizes and times


async def test_endless_body(site: Site, fetcher: Fetcher) -> None:
    """Reading stops at the limit, with or without a length that is told."""
    sent = 0

    async def endless(writer: asyncio.StreamWriter) -> None:
        nonlocal sent
        writer.write(b"HTTP/1.1 200 X\r\ncontent-type: text/html\r\nconnection: close\r\n\r\n")
        while True:
            writer.write(b"x" * 10_000)
            await writer.drain()
            sent += 10_000

    site.pages["/a"] = endless
    with pytest.raises(UnreadableFile, match=f"{site.url}/a: larger than 100,000 bytes"):
        await fetcher.page(f"{site.url}/a", seconds=10)
    await asyncio.sleep(0.05)
    assert sent < 20_000_000
    site.pages["/b"] = b"HTTP/1.1 200 X\r\ncontent-length: 100001\r\n\r\n"
    with pytest.raises(UnreadableFile, match="larger"):
        await fetcher.page(f"{site.url}/b", seconds=5)


async def test_zip_bomb(site: Site, fetcher: Fetcher) -> None:
    """What counts are the unpacked bytes: 60 kB that become 60 MB are refused at the limit, also
    packed twice.
    """
    bomb = gzip.compress(b"\0" * 60_000_000)
    assert len(bomb) < 100_000
    site.page("/a", bomb, content_encoding="gzip")
    site.page("/b", gzip.compress(bomb), content_encoding="gzip, gzip")
    site.page("/c", b"not packed", content_encoding="gzip")
    site.page("/d", gzip.compress(HTML.encode()), content_encoding="gzip")
    for path in "abc":
        with pytest.raises(UnreadableFile, match=f"{site.url}/{path}: "):
            await fetcher.page(f"{site.url}/{path}", seconds=10)
    assert (await fetcher.page(f"{site.url}/d", seconds=5)).data == HTML.encode()


async def test_slow_drip(site: Site, fetcher: Fetcher) -> None:
    """The limit is for all of it: a byte now and then does not keep it going."""

    async def drip(writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 X\r\ncontent-type: text/html\r\n\r\n")
        while True:
            writer.write(b"x")
            await writer.drain()
            await asyncio.sleep(0.02)

    site.pages["/a"] = drip
    started = time.monotonic()
    with pytest.raises(TransientError, match=f"{site.url}/a: not there within 0.3 seconds"):
        await fetcher.page(f"{site.url}/a", seconds=0.3)
    assert time.monotonic() - started < 5


async def test_broken_replies(site: Site, fetcher: Fetcher) -> None:
    """A site that hangs up, or talks no HTTP, may be in trouble for now."""
    site.pages["/a"] = b""
    site.pages["/b"] = b"SSH-2.0-OpenSSH\r\n"
    site.pages["/c"] = b"HTTP/1.1 200 X\r\ncontent-length: 100\r\n\r\nhalf"
    for path in "abc":
        with pytest.raises(TransientError, match=f"{site.url}/{path}: the connection broke"):
            await fetcher.page(f"{site.url}/{path}", seconds=5)


async def test_media_type_that_nothing_reads(site: Site, fetcher: Fetcher) -> None:
    """It is refused by its header, before its bytes come."""
    site.pages["/a.mp4"] = (
        b"HTTP/1.1 200 X\r\ncontent-type: video/mp4\r\ncontent-length: 1000\r\n\r\n"  # and no bytes
    )
    with pytest.raises(UnreadableFile, match=f"{site.url}/a.mp4: it is video/mp4"):
        await fetcher.page(f"{site.url}/a.mp4", seconds=5, readable=is_readable_page)


# ---------------------------------------------------------------- robots.txt and pace


async def test_robots_txt_is_kept_to(site: Site, fetcher: Fetcher) -> None:
    """What it disallows is not asked for, by a redirect neither; it is read once."""
    site.page(
        "/robots.txt",
        "User-agent: *\nDisallow: /private/*.html$\nCrawl-delay: 0.01\n",
        kind="text/plain",
    )
    site.page("/private/a.html")
    site.page("/private/a.html?b")
    site.leads("/a", "/private/a.html")
    for path in ("/private/a.html", "/a"):
        with pytest.raises(
            PermanentError, match=f"{site.url}/private/a.html: refused by the robots.txt"
        ) as caught:
            await fetcher.page(site.url + path, seconds=5)
        assert caught.value.code == "robots_refused"
    assert (await fetcher.page(f"{site.url}/private/a.html?b", seconds=5)).status == 200
    assert site.paths == ["/robots.txt", "/a", "/private/a.html?b"]


async def test_robots_txt_that_cannot_be_read(site: Site, fetcher: Fetcher) -> None:
    """A server in trouble (5xx) is left alone for now, and is not asked for it again at once; no
    robots.txt allows all.
    """
    site.page("/a")
    site.page("/robots.txt", "", 503)
    for _ in range(2):
        with pytest.raises(
            TransientError, match=f"{site.url}/robots.txt cannot be read: status 503"
        ) as caught:
            await fetcher.page(f"{site.url}/a", seconds=5)
        assert caught.value.code == "robots_refused"
    assert site.paths == ["/robots.txt"]


async def test_robots_txt_that_does_not_come(
    site: Site, fetcher: Fetcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It has a time of its own, after which its site is left alone for now."""
    monkeypatch.setattr("citewell.fetch.fetcher.ROBOTS_SECONDS", 0.1)

    async def never(writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(0.5)

    site.pages["/robots.txt"] = never
    with pytest.raises(TransientError, match=r"robots\.txt cannot be read: not there within"):
        await fetcher.page(f"{site.url}/a", seconds=5)


async def test_robots_txt_that_is_large_or_leads_away(site: Site, fetcher: Fetcher) -> None:
    """The first 500 kB count. A circle of redirects is as if there were none."""
    site.page("/robots.txt", "User-agent: *\nDisallow: /a\n" + "# more\n" * 100_000)
    with pytest.raises(PermanentError):
        await fetcher.page(f"{site.url}/a", seconds=5)
    other = Site()
    other.leads("/robots.txt", "/robots.txt")
    other.page("/a")
    async with serving(other) as port:
        assert (await fetcher.page(f"http://127.0.0.1:{port}/a", seconds=5)).status == 200


async def test_crawl_delay_and_two_at_once(site: Site, fetcher: Fetcher) -> None:
    """A host is asked no sooner than it wants, and never more than twice at once."""

    async def slow(writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(0.1)
        writer.write(b"HTTP/1.1 200 X\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
        await writer.drain()

    for n in range(5):
        site.pages[f"/{n}"] = slow
    await asyncio.gather(*(fetcher.page(f"{site.url}/{n}", seconds=5) for n in range(5)))
    assert site.paths.count("/robots.txt") == 1
    assert site.most == 2
    other = Site()
    other.page("/robots.txt", "User-agent: citewell\nCrawl-delay: 1\n")
    other.page("/a")
    async with serving(other) as port:
        await asyncio.gather(
            *(fetcher.page(f"http://127.0.0.1:{port}/a", seconds=5) for _ in range(3))
        )
    times = other.times[1:]
    # when they arrived; a busy machine may let one arrive late
    assert min(times[1] - times[0], times[2] - times[1]) > 0.5


ROBOTS = """
Disallow: /before-any-group
User-agent: Other
User-agent: Citewell/2.0
Disallow: /a
Allow: /a/b$
Disallow: /*?print=
Crawl-delay: 100
User-agent: *
Disallow: /
user-agent: CITEWELL
disallow: /中
disallow:
"""


@pytest.mark.parametrize(("target", "allowed"), [
    ("/", True),
    ("/a", False),
    ("/a/b", True),
    ("/a/b/c", False),
    ("/x?print=1", False),
    ("/x?y=1", True),
    ("/%E4%B8%AD", False),
    ("/before-any-group", True),
])  # fmt: skip
def test_rules_of_robots_txt(target: str, allowed: bool) -> None:
    """The groups that name us count together and that of everyone does not; the longest rule
    decides.
    """
    robots = parse(ROBOTS.encode(), "Citewell/1.0 (+https://example.com)")
    assert robots.is_allowed(target) is allowed
    assert robots.delay == 10.0
    assert not parse(ROBOTS.encode(), "Elsewho").is_allowed("/x")


def test_robots_txt_that_is_none() -> None:
    """A page in its place allows all, and a pattern made to cost time costs none."""
    assert parse(HTML.encode(), "Citewell").is_allowed("/a")
    assert parse(b"\xff\xfe\x00", "Citewell").is_allowed("/a")
    hard = parse(b"User-agent: *\nDisallow: /" + b"*a" * 500 + b"*b$\nCrawl-delay: nan", "Citewell")
    started = time.monotonic()
    assert hard.is_allowed("/" + "a" * 1900)
    assert time.monotonic() - started < 1
    assert hard.delay == 0


# ---------------------------------------------------------------- a page as a file


@pytest.mark.parametrize(("path", "kind", "name"), [
    ("/wiki/Lighthouse", "text/html", "Lighthouse.html"),
    ("/", "text/html", "127.0.0.1.html"),
    ("/a.php", "text/html", "a.html"),
    ("/a.md", "text/plain", "a.md"),
    ("/notes", "text/plain", "notes.txt"),
    ("/p.pdf", "application/octet-stream", "p.pdf"),
    ("/get?file=1", "application/pdf", "get.pdf"),
    ("/%E7%81%AF%2F", "text/html", "灯.html"),
    ("/x.html", "text/plain", "x.txt"),
    ("/feed", "application/atom+xml", "feed.xml"),
    ("/a.tar", "application/octet-stream", "a.tar"),
])  # fmt: skip
async def test_name_for_the_parser(
    site: Site, fetcher: Fetcher, path: str, kind: str, name: str
) -> None:
    """The suffix is that of the media type, or the address's own where the type says little."""
    site.page(path, kind=kind)
    page = await fetcher.page(site.url + path, seconds=5, readable=is_readable_page)
    assert as_file(page) == (HTML.encode(), name)


@pytest.mark.parametrize(
    ("kind", "path"),
    [("image/png", "/a.png"), ("application/zip", "/a.zip"), ("image/svg+xml", "/a.svg")],
)
def test_kinds_that_nothing_reads(kind: str, path: str) -> None:
    """Pictures and archives are not what a search of the web is after."""
    assert not is_readable_page(kind, "http://e.com" + path)


@pytest.mark.parametrize(("charset", "encoding", "changed"), [
    ("gb2312", "gbk", True),
    ("big5", "big5", True),
    ("windows-1251", "cp1251", True),
    ("gbk", "utf-8", False),
    ("", "gbk", False),
    ("iso-8859-1", "gbk", False),
    ("nonsense", "gbk", False),
    ("punycode", "gbk", False),
    ("euc-jp", "cp1251", False),
])  # fmt: skip
async def test_encoding_that_only_the_header_names(
    site: Site, fetcher: Fetcher, charset: str, encoding: str, changed: bool
) -> None:
    """It is written into the bytes, unless they are UTF-8, or cannot be read so."""
    text = "<p>Маяк</p>" if "1251" in encoding else "<p>中文</p>"
    site.page("/a", text.encode(encoding), kind=f"text/html; charset={charset}")
    data, _ = as_file(await fetcher.page(f"{site.url}/a", seconds=5))
    assert data == (("\ufeff" + text).encode() if changed else text.encode(encoding))
