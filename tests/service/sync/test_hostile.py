"""Places that mean harm or are broken: what they send costs a line in the report, and no more."""

from __future__ import annotations

import io
import zlib
from collections.abc import AsyncIterator, Mapping
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest
from tests.conftest import Reply, SiteServer
from tests.service.sync.imap_server import ImapServer, Inbox
from tests.service.sync.worlds import SECRET, FolderWorld, open_git, run_server

from citewell.config import Settings
from citewell.config.document_settings import IngestSettings, SyncSettings
from citewell.errors import InvalidInput, NotAllowed, UnreadableFile
from citewell.runtime.app import App
from citewell.service.sync import open_connector as connectors
from citewell.service.sync.connectors.connector import Item
from citewell.service.sync.connectors.git import Git
from citewell.service.sync.connectors.git_pack import check_pack
from citewell.service.sync.places import Place, parse_place
from citewell.service.sync.run_sync import run_sync
from citewell.service.sync.sync_places import add_sync
from citewell.service.sync.sync_report import SyncReport

HOSTS = ("127.0.0.1",)


@pytest.fixture
async def app(settings: Settings) -> AsyncIterator[App]:
    small = settings.model_copy(
        update={
            "allow_private_hosts": HOSTS,
            "sync": SyncSettings(max_items=5),
            "ingest": IngestSettings(max_bytes=10_000),
        }
    )
    async with App(small) as opened:
        yield opened


async def run(app: App, place: str, password: str = "") -> SyncReport:
    info = await add_sync(app, place, "kept", 0, password=password)
    report = await run_sync(app, info.sync_id)
    assert password not in report.model_dump_json() or not password
    return report


@pytest.mark.parametrize(
    "said",
    [
        "ext::sh -c touch% /x",
        "git+ext::sh -c id",
        "file:///etc",
        "git+file:///srv/books.git",
        "git+ssh://git@example.com/books.git",
        "davs://alice:secret@example.com/dav",
        "s3://key:secret@bucket/",
        "davs://example.com/dav/../../etc",
        "davs://example.com/dav/%2e%2e/etc",
        "s3://bucket/?token=1",
        "https://user:secret@example.com/feed.xml",
        "imaps://exa mple/INBOX",
        "gopher://example.com/",
        "",
    ],
)
def test_addresses_that_are_refused(said: str) -> None:
    with pytest.raises(InvalidInput) as raised:
        parse_place(said)
    assert "secret" not in raised.value.explanation.replace("--secret", "")


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        ("https://example.com/feed.xml", "feed"),
        ("https://example.com/books.git", "git"),
        ("davs://alice@example.com/dav/docs", "webdav"),
        ("s3://KEY@bucket/docs/?endpoint=https://minio.example.com", "s3"),
        ("imaps://alice%40example.com@imap.example.com/INBOX", "imap"),
    ],
)
def test_addresses_that_are_known(said: str, kind: str) -> None:
    place = parse_place(said)
    assert place.kind == kind
    assert place.kind in connectors.CONNECTORS
    assert Place.restore(kind, place.address, place.options) == place


async def test_a_private_address_needs_the_operators_word(settings: Settings) -> None:
    async with App(settings) as app:
        for place in (
            "http://127.0.0.1:9/feed.xml",
            "davs://127.0.0.1:9/dav",
            "imaps://a@10.0.0.1/",
        ):
            report = await run(app, place)
            assert report.error is not None
            assert "refused" in report.error["message"]
            assert not report.whole


async def test_a_password_is_not_sent_in_clear(settings: Settings) -> None:
    async with App(settings) as app:
        report = await run(app, "dav://alice@example.com/dav", SECRET)
        assert report.error is not None
        assert "in clear" in report.error["message"]


class Endless:
    """Lists for ever."""

    mark = ""

    def __init__(self, *_: object) -> None:
        self.read: list[str] = []

    async def list_items(self, known: Mapping[str, str]) -> AsyncIterator[Item]:
        number = 0
        while True:
            number += 1
            yield Item(f"endless:{number}", f"{number}.txt", "1", key=str(number))

    async def read_item(self, item: Item) -> bytes:
        return f"Lamp {item.key} is electric.\n".encode()

    async def close(self) -> None:
        """Nothing is held open."""


async def test_a_listing_without_end(
    app: App, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(connectors.CONNECTORS, "folder", Endless)
    report = await run(app, str(tmp_path))
    assert (report.listed, report.added, report.whole) == (5, 5, False)
    assert "more than 5 items" in report.warnings[0]


async def test_an_item_that_is_too_large(app: App, tmp_path: Path) -> None:
    huge = tmp_path / "place" / "huge.txt"
    huge.parent.mkdir()
    with huge.open("wb") as file:
        file.truncate(5_000_000_000)  # sparse
    (huge.parent / "lamp.txt").write_text("The lamp is electric.\n")
    report = await run(app, str(huge.parent))
    assert (report.added, report.failed) == (1, 1)
    assert "5,000,000,000 bytes" in report.files[0].reason + report.files[-1].reason


async def test_a_reply_that_is_larger_than_said(app: App, site_server: SiteServer) -> None:
    listing = (
        '<multistatus xmlns="DAV:"><response><href>/dav/a.txt</href><propstat>'
        "<status>HTTP/1.1 200 OK</status><prop><getetag>1</getetag>"
        "<getcontentlength>5</getcontentlength></prop></propstat></response></multistatus>"
    )
    offer_listing(site_server, listing)
    site_server.pages["/dav/a.txt"] = Reply(body=b"x" * 20_000)
    report = await run(app, dav(site_server))
    assert report.failed == 1
    assert "larger than" in report.files[0].reason


@pytest.mark.parametrize(
    "href",
    ["/dav/../etc/passwd.txt", "/dav/%2e%2e/x.txt", "/other/x.txt", "//evil.example/dav/x.txt", ""],
)
async def test_names_that_lead_elsewhere(app: App, site_server: SiteServer, href: str) -> None:
    listing = (
        f'<multistatus xmlns="DAV:"><response><href>{href}</href><propstat>'
        "<status>HTTP/1.1 200 OK</status><prop><getetag>1</getetag></prop></propstat>"
        "</response></multistatus>"
    )
    offer_listing(site_server, listing)
    report = await run(app, dav(site_server))
    assert (report.listed, report.error) == (0, None)


BOMB = (
    '<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "aaaaaaaaaa">'
    + "".join(
        f'<!ENTITY {b} "{f"&{a};" * 10}">' for a, b in zip("abcdefgh", "bcdefghi", strict=True)
    )
    + "]>"
)


async def test_xml_bombs(app: App, site_server: SiteServer) -> None:
    offer_listing(site_server, BOMB + '<multistatus xmlns="DAV:">&i;</multistatus>')
    report = await run(app, dav(site_server))
    assert report.error is not None
    assert "listing" in report.error["message"]
    item = f"<item><link>{site_server.url}/lamp.html</link><title>&i;</title></item>"
    feed = f'{BOMB}<rss version="2.0"><channel>{item}</channel></rss>'
    site_server.pages["/feed.xml"] = Reply(body=feed.encode(), kind="application/rss+xml")
    site_server.page("/lamp.html", "The lamp is electric.")
    report = await run(app, f"{site_server.url}/feed.xml")
    assert report.failed == 0
    assert report.added <= 1


async def test_a_bucket_that_is_busy(app: App, site_server: SiteServer) -> None:
    site_server.pages["/shelf?encoding-type=url&list-type=2&max-keys=1000"] = Reply(status=503)
    report = await run(app, f"s3://shelf/?endpoint={site_server.url}")
    assert report.error is not None
    assert "503" in report.error["message"]
    assert (report.whole, report.gone) == (False, [])


async def test_a_bucket_that_goes_round_in_a_circle(app: App, site_server: SiteServer) -> None:
    page = (
        "<ListBucketResult><IsTruncated>true</IsTruncated>"
        "<NextContinuationToken>t</NextContinuationToken>"
        "<Contents><Key>..%2F..%2Fetc%2Fpasswd.txt</Key><Size>3</Size></Contents>"
        "</ListBucketResult>"
    )
    for query in ("", "continuation-token=t&"):
        path = f"/shelf?{query}encoding-type=url&list-type=2&max-keys=1000"
        site_server.pages[path] = Reply(body=page.encode(), kind="application/xml")
    report = await run(app, f"s3://shelf/?endpoint={site_server.url}")
    assert report.error is not None
    assert "circle" in report.error["message"]
    assert report.listed == 0


async def test_links_that_lead_round_and_out(app: App, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.txt").write_text("The secret lamp.\n")
    top = tmp_path / "place"
    (top / "inner").mkdir(parents=True)
    (top / "lamp.txt").write_text("The lamp is electric.\n")
    (top / "inner" / "round").symlink_to(top)
    (top / "self").symlink_to(top / "self")
    (top / "out").symlink_to(outside)
    report = await run(app, str(top))
    assert (report.added, report.error) == (1, None)


async def test_a_place_that_is_away_loses_nothing(app: App, tmp_path: Path) -> None:
    world = FolderWorld(tmp_path / "place")
    world.write("lamp.txt", b"The lamp is electric.\n")
    info = await add_sync(app, world.place, "kept", 0)
    await run_sync(app, info.sync_id)
    world.top.rename(tmp_path / "away")
    report = await run_sync(app, info.sync_id)
    assert report.error is not None
    assert report.gone == []
    assert [each.gone_since for each in await app.catalog.documents("kept")] == [None]


async def test_mails_that_are_broken(app: App) -> None:
    inbox = Inbox(SECRET)
    inbox.append(
        b"Subject: =?broken?Q?=FF?=\r\nContent-Type: multipart/mixed; boundary=x\r\n\r\n"
        b"--x\r\nContent-Transfer-Encoding: base64\r\n\r\n%%%\r\n--y\r\nThe lamp is electric."
    )
    inbox.append(b"\xff\xfe\x00 no header at all")
    inbox.append(b"Subject: lamp\r\n\r\nThe lamp is electric.\r\n")
    server = ImapServer(inbox)
    with run_server(server):
        report = await run(app, f"imap://alice@127.0.0.1:{server.port}/INBOX", SECRET)
    assert report.error is None
    assert report.listed == 3
    assert report.added >= 1
    assert report.added + report.failed >= 3
    assert not [said for said in inbox.asked if "STORE" in said or said.startswith("SELECT")]


async def test_a_mailbox_that_refuses_or_floods(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("citewell.service.sync.connectors.mailbox._MOST_LISTING", 100_000)
    inbox = Inbox(SECRET, flood=True)
    inbox.append(b"Subject: lamp\r\n\r\nThe lamp is electric.\r\n")
    server = ImapServer(inbox)
    with run_server(server):
        place = f"imap://alice@127.0.0.1:{server.port}/INBOX"
        report = await run(app, place, SECRET)
        assert report.error is not None
        assert "more than was asked for" in report.error["message"]
        report = await run(app, f"{place}/", "wrong")
    assert report.error is not None
    assert report.error["code"] == "refused"


async def test_a_branch_that_stands_still_is_not_fetched(app: App, tmp_path: Path) -> None:
    with open_git(tmp_path) as world:
        world.write("lamp.txt", b"The lamp is electric.\n")
        world.break_item("bad")
        info = await add_sync(app, world.place, "kept", 0)
        first = await run_sync(app, info.sync_id)
        assert (first.added, first.failed) == (1, 1)
        assert (await app.syncs.get(info.sync_id)).mark == world.head
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(Git, "_walk", None)  # what is in it is not looked at
            again = await run_sync(app, info.sync_id)
        assert (again.unchanged, again.failed, again.error) == (1, 1, None)
        assert again.gone == []


def build_pack(kind: int, size: int, packed: bytes, count: int = 1) -> io.BytesIO:
    first, rest, head = size & 15, size >> 4, b""
    while True:
        head += bytes([(kind << 4 | first if not head else first) | (128 if rest else 0)])
        if not rest:
            break
        first, rest = rest & 127, rest >> 7
    whole = b"PACK" + (2).to_bytes(4) + count.to_bytes(4) + head + packed
    return io.BytesIO(whole + bytes(20))


def test_packs_that_unpack_to_too_much() -> None:
    check_pack(build_pack(3, 5, zlib.compress(b"hello")), most=100, in_all=100)
    bomb = zlib.compress(bytes(1_000_000), 9)
    with pytest.raises(UnreadableFile, match="more than"):
        check_pack(build_pack(3, 1_000_000, bomb), most=1_000, in_all=10_000)
    with pytest.raises(UnreadableFile, match="broken"):  # it says that it is small
        check_pack(build_pack(3, 10, bomb), most=1_000, in_all=10_000)
    delta = zlib.compress(b"\x05\xff\xff\xff\x7f" + bytes(20))
    with pytest.raises(UnreadableFile, match="more than"):  # a copy of a copy of a copy
        check_pack(build_pack(7, 25, bytes(20) + delta), most=1_000, in_all=10_000)
    for data in (b"", b"PACK", b"no pack at all", b"PACK\0\0\0\2\0\0\0\1"):
        with pytest.raises(UnreadableFile):
            check_pack(io.BytesIO(data), most=100, in_all=100)


async def test_over_the_network_nothing_of_the_machine_is_named(
    settings: Settings, tmp_path: Path
) -> None:
    listed = tmp_path / "listed"
    (listed / "inner").mkdir(parents=True)
    update = {"sync": SyncSettings(folders=(str(listed),))}
    async with App(settings.model_copy(update=update)) as app:
        for said, secret in (
            (str(tmp_path), ""),
            (f"{listed}/../", ""),
            ("davs://alice@example.com/dav", "env:HOME"),
            ("davs://alice@example.com/dav", "file:/etc/passwd"),
        ):
            with pytest.raises(NotAllowed):
                await add_sync(app, said, "kept", 0, secret=secret, remote=True)
        await add_sync(app, str(listed / "inner"), "kept", 0, remote=True)


async def test_a_secret_is_sealed(app: App, settings: Settings) -> None:
    info = await add_sync(app, "davs://alice@example.com/dav", "kept", 0, password=SECRET)
    assert info.secret
    assert SECRET not in info.model_dump_json()
    kept = await app.syncs.get(info.sync_id)
    assert SECRET not in str(kept)
    for path in settings.home.iterdir():
        assert not path.is_file() or SECRET.encode() not in path.read_bytes()


def dav(site: SiteServer) -> str:
    return site.url.replace("http://", "dav://") + "/dav"


def offer_listing(site: SiteServer, listing: str) -> None:
    """The site answers PROPFIND with it."""

    def reply(request: BaseHTTPRequestHandler) -> None:
        request.rfile.read(int(request.headers.get("Content-Length", "0")))
        site.pages["/dav/"] = Reply(body=listing.encode(), kind="application/xml")
        site.answer(request)

    site.server.RequestHandlerClass.do_PROPFIND = reply  # type: ignore[attr-defined]
