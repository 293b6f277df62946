"""Web pages become documents, with a real site on the loopback: asked for once, asked again with
what is known of them.
"""

from __future__ import annotations

import asyncio
import codecs
import time
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any

import pytest
from tests.error_codes import raises_code

from citewell.config import Settings
from citewell.errors import (
    CitewellError,
    InvalidInput,
    PermanentError,
    TransientError,
    UnreadableFile,
)
from citewell.runtime.app import App
from citewell.service.library.collections import delete_collection
from citewell.service.sites.keep_pages import Pages, open_pages
from citewell.service.sites.kept_page import Crawled
from citewell.store.pages import Snapshot

if TYPE_CHECKING:
    from tests.conftest import SiteServer

TOWER = "<p>The lighthouse was built in 1857. Its lamp is electric.</p>"
LINKS = (
    '<p>See <a href="/keeper">the keeper</a> and <a '
    'href="https://other.example/x#top">others</a>.</p>'
)
SCRIPTED = (
    b"<html><head><title>App</title></head><body><div id=app></div>"
    + b"<script>draw();</script>" * 20
    + b"</body></html>"
)


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return settings.model_copy(update={"allow_private_hosts": ("127.0.0.1",)})


@pytest.fixture
async def app(settings: Settings) -> AsyncIterator[App]:
    async with App(settings) as opened:
        yield opened


async def get(app: App, url: str, max_age: float = 0.0, seconds: float = 10.0) -> Crawled:
    return await open_pages(app).page(url, "site", seconds=seconds, max_age=max_age)


async def snapshot(app: App, url: str) -> Snapshot:
    found = await app.snapshots.get("site", url)
    assert found is not None
    return found


async def test_a_page_becomes_a_document_with_its_links(app: App, site_server: SiteServer) -> None:
    """Its snapshot says what was fetched and when, and where its links lead."""
    site_server.page(
        "/a",
        TOWER + LINKS,
        title="Lighthouse",
        etag='"v1"',
        headers={"Last-Modified": "Mon, 01 Jan 2024 00:00:00 GMT"},
    )
    url = f"{site_server.url}/a"
    page = await get(app, url + "?utm_source=x#top")
    assert (page.url, page.uri, page.title, page.how, page.notes) == (
        url,
        url,
        "Lighthouse",
        "fetched",
        (),
    )
    assert [link.url for link in page.links] == [
        f"{site_server.url}/keeper",
        "https://other.example/x",
    ]
    assert page.links[0].text == "the keeper"
    assert abs(page.fetched_at - time.time()) < 60
    assert page.checked_at == page.fetched_at
    info = await app.catalog.document(page.doc_id)
    assert (info.uri, info.collection, info.chunks > 0, info.embedded) == (url, "site", True, 0)
    kept = await snapshot(app, url)
    assert (kept.doc_id, kept.sha256, kept.etag) == (page.doc_id, info.sha256, '"v1"')
    assert (kept.last_modified, kept.links, kept.problem) == (
        "Mon, 01 Jan 2024 00:00:00 GMT",
        page.links,
        "",
    )
    [without] = await app.snapshots.of("site", links=False)
    assert without.links == ()
    assert (await open_pages(app).page(url, "site", seconds=5, links=False)).links == ()


async def test_what_is_young_is_not_asked_for_again(app: App, site_server: SiteServer) -> None:
    """Within `max_age` there is no request; after it there is one."""
    site_server.page("/a", TOWER + LINKS)
    first = await get(app, f"{site_server.url}/a")
    again = await get(app, f"{site_server.url}/a", max_age=60)
    assert (again.how, again.doc_id, again.links) == ("reused", first.doc_id, first.links)
    assert site_server.paths() == ["/a"]
    assert (await get(app, f"{site_server.url}/a")).how == "unchanged"
    assert site_server.paths() == ["/a", "/a"]


async def test_an_etag_outlives_the_process(settings: Settings, site_server: SiteServer) -> None:
    """The next process asks whether the page has changed; unchanged, only `checked_at` moves."""
    site_server.page("/a", TOWER + LINKS, etag='"v1"')
    url = f"{site_server.url}/a"
    async with App(settings) as app:
        first = await get(app, url)
    async with App(settings) as app:
        second = await get(app, url)
        assert (second.how, second.doc_id, second.links, second.fetched_at) == (
            "unchanged",
            first.doc_id,
            first.links,
            first.fetched_at,
        )
        assert second.checked_at > first.checked_at
        assert (await snapshot(app, url)).checked_at == second.checked_at
        assert site_server.asked[-1][1]["if-none-match"] == '"v1"'
        assert (await get(app, url, max_age=60)).how == "reused"


async def test_a_page_that_has_changed(app: App, site_server: SiteServer) -> None:
    """The document keeps its id, the snapshot has the new links and the new ETag."""
    url = f"{site_server.url}/a"
    site_server.page("/a", TOWER + LINKS, etag='"v1"')
    first = await get(app, url)
    site_server.page("/a", "<p>It was built in 1858.</p>", etag='"v2"')
    second = await get(app, url)
    assert (second.how, second.doc_id, second.links) == ("fetched", first.doc_id, ())
    assert (await app.catalog.document(second.doc_id)).version == 2
    kept = await snapshot(app, url)
    assert (kept.etag, kept.fetched_at) == ('"v2"', second.fetched_at)
    site_server.page("/a", "<p>It was built in 1858.</p>", etag='"v3"')
    third = await get(app, url)  # another ETag, the same bytes
    assert (third.how, third.fetched_at) == ("unchanged", second.fetched_at)
    assert (await snapshot(app, url)).etag == '"v3"'
    assert (await app.catalog.document(second.doc_id)).version == 2


async def test_two_addresses_of_one_page(app: App, site_server: SiteServer) -> None:
    """A redirect is kept beside its page: one document, and asking for either finds it."""
    site_server.page("/b", TOWER, etag='"v1"')
    site_server.page("/a", status=302, headers={"Location": "/b"})
    moved = await get(app, f"{site_server.url}/a")
    assert (moved.url, moved.uri) == (f"{site_server.url}/a", f"{site_server.url}/b")
    direct = await get(app, f"{site_server.url}/b", max_age=60)
    assert (direct.how, direct.url, direct.doc_id) == ("reused", direct.uri, moved.doc_id)
    assert (await get(app, f"{site_server.url}/a", max_age=60)).how == "reused"
    assert (await get(app, f"{site_server.url}/a")).how == "unchanged"
    assert site_server.paths() == ["/a", "/b", "/a", "/b"]
    assert [each.uri for each in await app.snapshots.of("site")] == [moved.uri]
    await app.catalog.delete(moved.doc_id)
    assert await app.snapshots.get("site", f"{site_server.url}/a") is None


async def test_a_redirect_that_leads_elsewhere_now(app: App, site_server: SiteServer) -> None:
    """The other page may have the ETag of the first: it is not taken for it, and the first stays
    what it was.
    """
    site_server.page("/b", TOWER, title="B", etag='"v1"')
    site_server.page("/c", "<p>The harbour has two piers.</p>", title="C", etag='"v1"')
    site_server.page("/a", status=302, headers={"Location": "/b"})
    first = await get(app, f"{site_server.url}/a")
    site_server.page("/a", status=302, headers={"Location": "/c"})
    second = await get(app, f"{site_server.url}/a")
    assert (second.how, second.title, second.uri) == ("fetched", "C", f"{site_server.url}/c")
    assert (await snapshot(app, f"{site_server.url}/a")).doc_id == second.doc_id
    assert (await snapshot(app, f"{site_server.url}/b")).doc_id == first.doc_id
    site_server.page("/a", TOWER, title="A")
    assert (await get(app, f"{site_server.url}/a")).title == "A"
    assert (await snapshot(app, f"{site_server.url}/a")).uri == f"{site_server.url}/a"
    assert len(await app.catalog.documents("site")) == 3


async def test_a_slash_at_the_end_is_no_other_page(app: App, site_server: SiteServer) -> None:
    """A page keeps the spelling that it was kept under first."""
    site_server.page("/a", TOWER)
    first = await get(app, f"{site_server.url}/a")
    site_server.page("/a", status=301, headers={"Location": "/a/"})
    site_server.page("/a/", TOWER + LINKS)
    second = await get(app, f"{site_server.url}/a/")
    assert (second.how, second.doc_id, second.uri) == ("fetched", first.doc_id, first.uri)
    assert (await get(app, f"{site_server.url}/a")).doc_id == first.doc_id
    assert len(await app.catalog.documents("site")) == len(await app.snapshots.of("site")) == 1


async def test_one_address_asked_for_twice_at_once(app: App, site_server: SiteServer) -> None:
    """One request; the second task has what the first one got. So for two addresses that lead to
    one page.
    """
    site_server.page("/a", TOWER)
    site_server.page("/b", TOWER)
    site_server.page("/old", status=301, headers={"Location": "/b"})
    site_server.slow = {"/a": 0.3}
    both = await asyncio.gather(get(app, f"{site_server.url}/a"), get(app, f"{site_server.url}/a"))
    assert sorted(page.how for page in both) == ["fetched", "reused"]
    assert site_server.paths() == ["/a"]
    pages = await asyncio.gather(
        get(app, f"{site_server.url}/old"), get(app, f"{site_server.url}/b")
    )
    assert len({page.doc_id for page in pages}) == 1
    assert (await app.catalog.document(pages[0].doc_id)).version == 1


async def test_who_waits_for_another_has_a_time_too(app: App, site_server: SiteServer) -> None:
    """The first one's slowness is told to the second as its own; the first goes on."""
    site_server.page("/a", TOWER)
    site_server.slow = {"/a": 1.0}
    first = asyncio.create_task(get(app, f"{site_server.url}/a"))
    await asyncio.sleep(0.1)
    with raises_code(TransientError, "timeout") as caught:
        await get(app, f"{site_server.url}/a", seconds=0.2)
    assert caught.value.code == "timeout"
    assert (await first).how == "fetched"


@pytest.mark.parametrize(
    ("reply", "kind", "code"),
    [
        ({"status": 404}, PermanentError, "page_missing"),
        ({"status": 403}, PermanentError, "page_refused"),
        ({"kind": "video/mp4"}, UnreadableFile, "unreadable_file"),
        (
            {"body": b"%PDF-1.7\nnothing", "kind": "application/pdf"},
            UnreadableFile,
            "unreadable_file",
        ),
    ],
)
async def test_what_is_not_there_is_not_asked_for_again_at_once(
    app: App, site_server: SiteServer, reply: dict[str, Any], kind: type[CitewellError], code: str
) -> None:
    """Its reason is kept and raised within `max_age`; a document made of it before stays, and is
    there again with it.
    """
    url = f"{site_server.url}/a"
    site_server.page("/a", TOWER, etag='"v1"')
    first = await get(app, url)
    site_server.page("/a", **reply)
    with pytest.raises(kind) as told:
        await get(app, url)
    asked = len(site_server.asked)
    with pytest.raises(kind) as again:
        await get(app, url, max_age=60)
    assert len(site_server.asked) == asked
    assert again.value.code == told.value.code == code
    assert told.value.message in again.value.message
    kept = await snapshot(app, url)
    assert (kept.code, kept.doc_id, kept.title) == (code, first.doc_id, first.title)
    site_server.page("/a", TOWER, etag='"v1"')
    back = await get(app, url, max_age=0)
    assert (back.how, back.doc_id) == ("unchanged", first.doc_id)
    assert (await snapshot(app, url)).problem == ""


async def test_a_page_that_was_never_there(app: App, site_server: SiteServer) -> None:
    """It is kept as such where the collection is there; a failure makes no collection, and a busy
    site is no fact.
    """
    with pytest.raises(PermanentError):
        await get(app, f"{site_server.url}/none")
    assert await app.collections.list_all() == []
    site_server.page("/a", TOWER)
    await get(app, f"{site_server.url}/a")
    for status, kept in ((404, True), (503, False)):
        site_server.pages[f"/{status}"] = site_server.pages["/a"].__class__(status)
        with pytest.raises(CitewellError):
            await get(app, f"{site_server.url}/{status}")
        assert (await app.snapshots.get("site", f"{site_server.url}/{status}") is not None) is kept


async def test_what_is_removed_takes_its_snapshot_along(app: App, site_server: SiteServer) -> None:
    """Then the page is asked for without conditions; with the collection all rows go."""
    url = f"{site_server.url}/a"
    site_server.page("/a", TOWER, etag='"v1"')
    site_server.page("/old", status=301, headers={"Location": "/a"})
    page = await get(app, f"{site_server.url}/old")
    await app.sites.note_find(
        "site", url, "When?", await app.embedder.query("When?"), app.embedder.name
    )
    await app.catalog.delete(page.doc_id)
    assert not await app.snapshots.of("site")
    assert not await app.sites.finds("site", app.embedder.name)
    assert (await get(app, url, max_age=60)).how == "fetched"
    await app.sites.put_site("site", [url])
    await delete_collection(app, "site")
    assert await app.sites.site("site") is None
    for table in ("pages", "redirects", "finds", "sites"):
        assert (
            await app.db.read(
                lambda c, t=table: c.exec_driver_sql(f"SELECT count(*) FROM {t}").scalar_one()  # type: ignore[misc]
            )
            == 0
        )


async def test_a_stop_between_document_and_snapshot(
    app: App, site_server: SiteServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The document is there, and the ETag of the older text is not believed: the site may have gone
    back to it.
    """
    url = f"{site_server.url}/a"
    site_server.page("/a", TOWER, etag='"v1"')
    first = await get(app, url)

    async def killed(_: Snapshot) -> None:
        raise KeyboardInterrupt

    site_server.page("/a", "<p>It was built in 1858.</p>", etag='"v2"')
    with monkeypatch.context() as patch:
        patch.setattr(app.snapshots, "put", killed)
        with pytest.raises(KeyboardInterrupt):
            await get(app, url)
    assert (await app.catalog.document(first.doc_id)).version == 2
    site_server.page("/a", TOWER, etag='"v1"')
    back = await get(app, url, max_age=60)
    assert back.how == "fetched"
    assert "1857" in (await app.catalog.content(back.doc_id)).text
    assert (await snapshot(app, url)).sha256 == (await app.catalog.document(back.doc_id)).sha256


async def test_a_page_that_scripts_write(app: App, site_server: SiteServer) -> None:
    """Without anything to run them that is said; with it, what they make is read, and no ETag
    speaks for it.
    """
    url = f"{site_server.url}/app"
    site_server.page("/app", SCRIPTED, etag='"v1"')
    with pytest.raises(UnreadableFile, match="written by scripts, which were not run"):
        await get(app, url)
    asked: list[str] = []

    async def render(address: str, seconds: float) -> bytes:
        asked.append(address)
        text = f"<p>灯塔建于一八五七年，塔身为红色。</p>{LINKS}"
        return (
            f"<html><head><title>灯塔</title></head><body><main>{text}</main></body></html>"
        ).encode()

    open_pages(app).render = render
    page = await get(app, url)
    assert (page.how, page.title, len(page.links)) == ("fetched", "灯塔", 2)
    assert (await app.catalog.file(page.doc_id)).startswith(codecs.BOM_UTF8)
    again = await get(app, url)
    assert (again.how, asked) == ("unchanged", [url, url])
    assert "if-none-match" not in site_server.asked[-1][1]


async def test_scripts_that_cannot_be_run(app: App, site_server: SiteServer) -> None:
    """The page is read as it came, with a note."""
    body = SCRIPTED.replace(b"<div id=app>", b"<div id=app><p>Loading the lighthouse.</p>")
    site_server.page("/app", body)

    async def render(address: str, seconds: float) -> bytes:
        raise TransientError("the browser is gone")

    open_pages(app).render = render
    page = await get(app, f"{site_server.url}/app")
    assert page.notes == (
        f"{site_server.url}/app: its scripts could not be run: the browser is gone",
    )
    assert "lighthouse" in (await app.catalog.content(page.doc_id)).text


async def test_links_that_are_not_to_be_followed(app: App, site_server: SiteServer) -> None:
    """A site may say so in a header; the page itself is read."""
    site_server.page("/a", TOWER + LINKS, headers={"X-Robots-Tag": "noarchive, NoFollow"})
    page = await get(app, f"{site_server.url}/a")
    assert (page.how, page.links) == ("fetched", ())


async def test_the_map_of_a_site(app: App, site_server: SiteServer) -> None:
    """What its sitemaps name, where that is allowed; nothing of it is kept. A site without one has
    none.
    """
    assert (
        await open_pages(app).fetch_sitemap(
            f"{site_server.url}/a", lambda _: True, most=10, seconds=5
        )
        == []
    )
    url = site_server.url.replace("127.0.0.1", "localhost")
    named = "\n".join(f"<url><loc>{url}/{name}</loc></url>" for name in ("a", "b"))
    site_server.page("/robots.txt", f"Sitemap: {url}/map.xml\n".encode(), kind="text/plain")
    site_server.page("/map.xml", f"<urlset>{named}</urlset>".encode(), kind="application/xml")
    found = await open_pages(app).fetch_sitemap(
        f"{url}/a", lambda each: not each.endswith("/b"), most=10, seconds=5
    )
    assert [entry.url for entry in found] == [f"{url}/a"]
    assert await app.collections.list_all() == []


async def test_a_busy_site_is_asked_again(app: App, site_server: SiteServer) -> None:
    """Unless the caller has no time for it."""
    site_server.page("/a", status=503)
    for attempts in (1, 2):
        site_server.asked.clear()
        with pytest.raises(TransientError):
            await open_pages(app).page(
                f"{site_server.url}/a", "site", seconds=10, attempts=attempts
            )
        assert len(site_server.asked) == attempts


async def test_files_have_no_links(app: App, site_server: SiteServer) -> None:
    site_server.page("/notes.txt", b"The keeper is called Ada Brown.", kind="text/plain")
    page = await get(app, f"{site_server.url}/notes.txt")
    assert (page.how, page.title, page.links) == ("fetched", "notes", ())


async def test_addresses_inside_are_refused(settings: Settings, site_server: SiteServer) -> None:
    """Unless they are listed; and nothing is asked."""
    site_server.page("/a", TOWER)
    async with App(settings.model_copy(update={"allow_private_hosts": ()})) as app:
        with raises_code(InvalidInput, "address_refused") as caught:
            await get(app, f"{site_server.url}/a")
        assert caught.value.code == "address_refused"
        with pytest.raises(InvalidInput):
            await get(app, "file:///etc/passwd")
        assert isinstance(open_pages(app), Pages)
    assert site_server.asked == []
