"""Sites that are kept, and pages added by hand, with a real site on the loopback."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.service.made import ended, working

from citewell.config import Settings
from citewell.errors import Conflict, InvalidInput, ModelUnavailable, NotFound
from citewell.runtime.app import App
from citewell.runtime.progress import Progress
from citewell.service.library.add import add_paths
from citewell.service.library.documents import find_documents
from citewell.service.library.read_and_embed import ingest_paths
from citewell.service.sites import refresh_site as refresh
from citewell.service.sites import sites
from citewell.service.sites.keep_pages import open_pages

if TYPE_CHECKING:
    from tests.conftest import SiteServer

TOWER = "<p>The lighthouse was built in 1857. Its lamp is electric.</p>"


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return settings.model_copy(update={"allow_private_hosts": ("127.0.0.1",)})


@pytest.fixture
async def app(settings: Settings) -> AsyncIterator[App]:
    async with App(settings) as opened:
        yield opened


async def crawl(app: App, server: SiteServer, *paths: str, name: str = "site") -> None:
    for path in paths:
        await open_pages(app).page(server.url + path, name, seconds=10)


async def test_sites_are_listed(app: App, site_server: SiteServer, library: Path) -> None:
    """What was explored, and whatever collection has pages; others are none."""
    site_server.page("/a", TOWER)
    site_server.page("/b", "<p>The harbour has two piers.</p>")
    await app.sites.put_site("explored", [f"{site_server.url}/"], ["127.0.0.1"], "prices")
    await crawl(app, site_server, "/a", "/b")
    with pytest.raises(Exception, match="status 404"):
        await crawl(app, site_server, "/none")
    await add_paths(app, [str(library)], "files")
    explored, site = await sites.list_sites(app)
    assert (explored.collection, explored.pages, explored.newest, explored.instruction) == (
        "explored",
        0,
        None,
        "prices",
    )
    assert explored.start_urls == [f"{site_server.url}/"]
    assert (site.collection, site.pages, site.problems, site.embedded) == ("site", 2, 1, 0)
    assert site.chunks == 2
    assert site.bytes == sum(len(site_server.pages[path].body) for path in ("/a", "/b"))
    assert site.oldest is not None
    assert site.newest is not None
    assert site.oldest < site.newest
    await app.collections.create("default")
    with pytest.raises(Exception, match="status 404"):
        await open_pages(app).page(f"{site_server.url}/none", "default", seconds=5)
    assert [each.collection for each in await sites.list_sites(app)] == ["explored", "site"]
    pages = await sites.list_pages(app, "site")
    assert [
        (page.url.removeprefix(site_server.url), page.title, bool(page.problem)) for page in pages
    ] == [
        ("/a", "/a", False),
        ("/b", "/b", False),
        ("/none", "", True),
    ]
    with pytest.raises(NotFound, match="no site named files") as caught:
        await sites.list_pages(app, "files")
    assert "explored, site" in caught.value.hint


async def test_refresh(app: App, site_server: SiteServer) -> None:
    """Each page once, with its ETag; the changed are embedded, the gone removed, the failed named
    and kept.
    """
    for path in ("/same", "/etag", "/changed", "/gone", "/busy", "/moved"):
        site_server.page(path, TOWER + path, etag='"v1"' if path == "/etag" else "")
    await crawl(app, site_server, "/same", "/etag", "/changed", "/gone", "/busy", "/moved")
    with pytest.raises(Exception, match="status 404"):
        await crawl(app, site_server, "/never")
    before = {info.uri: info for info in await app.catalog.documents("site")}
    site_server.asked.clear()
    site_server.page("/changed", "<p>It was built in 1858.</p>")
    site_server.page("/moved", status=301, headers={"Location": "/same"})
    site_server.page("/busy", status=500)
    del site_server.pages["/gone"]
    told: list[Progress] = []

    async def tell(progress: Progress) -> None:
        told.append(progress)

    done = await refresh.refresh_site(app, "site", tell)
    url = site_server.url
    assert (done.pages, done.changed, done.unchanged, done.removed) == (7, 1, 3, [f"{url}/gone"])
    assert [(each.url, "status 500" in each.reason) for each in done.failed] == [
        (f"{url}/busy", True)
    ]
    assert done.warnings == [
        f"{url}/moved leads to {url}/same now; what was read of it before is kept"
    ]
    assert done.embedded > 0
    assert any(
        header.get("if-none-match") == '"v1"'
        for path, header in site_server.asked
        if path == "/etag"
    )
    assert site_server.most <= 2
    after = {info.uri: info for info in await app.catalog.documents("site")}
    assert set(before) - set(after) == {f"{url}/gone"}
    assert (after[f"{url}/changed"].version, after[f"{url}/same"].version) == (2, 1)
    assert after[f"{url}/changed"].embedded == after[f"{url}/changed"].chunks
    assert [each.url.removeprefix(url) for each in await sites.list_pages(app, "site")] == [
        "/busy",
        "/changed",
        "/etag",
        "/moved",
        "/same",
    ]
    assert [(each.done, each.total) for each in told if each.phase == "read"][-1] == (7, 7)


@pytest.mark.parametrize("domains", [[], ["127.0.0.1"]])
async def test_a_page_that_leads_to_another_site_is_kept(
    settings: Settings, site_server: SiteServer, domains: list[str]
) -> None:
    """It is told; nothing of the other host is asked for or added, but where the site's domains
    name that.
    """
    away = site_server.url.replace("127.0.0.1", "localhost")
    async with App(
        settings.model_copy(update={"allow_private_hosts": ("127.0.0.1", "localhost")})
    ) as app:
        for path in ("/a", "/b"):
            site_server.page(path, TOWER + path)
        site_server.page("/secret", "<p>The pass phrase is heron.</p>")
        await app.sites.put_site("site", [f"{site_server.url}/a"], domains)
        await crawl(app, site_server, "/a", "/b")
        before = await app.catalog.documents("site")
        site_server.page("/a", status=302, headers={"Location": f"{away}/secret"})
        site_server.page("/b", status=302, headers={"Location": "/a"})
        site_server.asked.clear()
        done = await refresh.refresh_site(app, "site")
        assert [each.url for each in done.failed] == [
            f"{site_server.url}/a",
            f"{site_server.url}/b",
        ]
        assert all(
            f"leads to {away}/secret, which is elsewhere" in each.reason for each in done.failed
        )
        assert (done.changed, done.removed, "/secret" in site_server.paths()) == (0, [], False)
        assert [(each.doc_id, each.version) for each in await app.catalog.documents("site")] == [
            (each.doc_id, each.version) for each in before
        ]
        await app.sites.put_site("site", [f"{site_server.url}/a"], ["127.0.0.1", "localhost"])
        done = await refresh.refresh_site(app, "site")
        assert done.failed == []
        assert any(info.uri == f"{away}/secret" for info in await app.catalog.documents("site"))


async def test_a_page_of_no_domain_of_its_site_may_lead_on_at_its_own_host(
    app: App, site_server: SiteServer
) -> None:
    """It was added by hand; and so may a start page."""
    for start in ("https://shop.example/", f"{site_server.url}/a"):
        site_server.page("/a", TOWER)
        await app.sites.put_site("site", [start], ["shop.example"])
        await crawl(app, site_server, "/a")
        site_server.page("/a", status=301, headers={"Location": "/b"})
        site_server.page("/b", TOWER)
        assert (await refresh.refresh_site(app, "site")).failed == []


async def test_pages_of_before_snapshots_are_refreshed_too(
    app: App, site_server: SiteServer
) -> None:
    """A web search of an older version left documents only."""
    site_server.page("/a", TOWER)
    site_server.page("/b", TOWER)
    await crawl(app, site_server, "/a", "/b")
    await app.snapshots.delete("site", f"{site_server.url}/a")
    done = await refresh.refresh_site(app, "site")
    assert (done.pages, done.unchanged) == (2, 2)
    assert len(await sites.list_pages(app, "site")) == 2


async def test_a_refresh_that_is_stopped_keeps_what_it_did(
    app: App, site_server: SiteServer
) -> None:
    """Each page is committed alone; the next refresh does the others."""
    for path in ("/a", "/b"):
        site_server.page(path, TOWER)
    await crawl(app, site_server, "/a", "/b")
    for path in ("/a", "/b"):
        site_server.page(path, f"<p>It was built in 1858. {path}</p>")
    site_server.slow = {"/b": 30.0}
    task = asyncio.create_task(refresh.refresh_site(app, "site"))
    async with asyncio.timeout(120):
        while (await find_documents(app, f"{site_server.url}/a"))[0].version == 1:  # noqa: ASYNC110  # a row of the table
            await asyncio.sleep(0.02)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    versions = {
        info.uri.removeprefix(site_server.url): info.version
        for info in await app.catalog.documents("site")
    }
    assert versions == {"/a": 2, "/b": 1}
    site_server.slow = {}
    done = await refresh.refresh_site(app, "site")
    assert (done.unchanged, done.changed) == (1, 1)


async def test_an_embedder_that_fails_stops_no_refresh(
    app: App, site_server: SiteServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(*_: object) -> None:
        raise ModelUnavailable("no embedder", hint="install it")

    site_server.page("/a", TOWER)
    await crawl(app, site_server, "/a")
    monkeypatch.setattr(app.embedder, "passages", broken)
    done = await refresh.refresh_site(app, "site")
    assert (done.unchanged, done.embedded, done.problem) == (1, 0, "no embedder; install it")


async def test_export(app: App, site_server: SiteServer) -> None:
    """A line a page, with its text and links; what could not be read is not among them."""
    site_server.page("/a", TOWER + '<p><a href="/b">The harbour</a></p>', title="灯塔")
    await crawl(app, site_server, "/a")
    with pytest.raises(Exception, match="status 404"):
        await crawl(app, site_server, "/none")
    [line] = [line async for line in sites.export_site(app, "site")]
    assert line.endswith("}\n")
    row = json.loads(line)
    assert (row["url"], row["title"], row["lang"]) == (f"{site_server.url}/a", "灯塔", "en")
    assert "built in 1857" in row["text"]
    assert [link["url"] for link in row["links"]] == [f"{site_server.url}/b"]
    [page] = [page for page in await sites.list_pages(app, "site") if page.doc_id]
    assert (row["sha256"], row["fetched_at"]) == (page.sha256, page.fetched_at)
    with pytest.raises(NotFound):
        await anext(sites.export_site(app, "none"))


async def test_a_site_is_deleted(app: App, site_server: SiteServer, library: Path) -> None:
    """Its pages; files of the same collection stay, and without any the collection goes. Work on it
    is cancelled.
    """
    site_server.page("/a", TOWER)
    await crawl(app, site_server, "/a")
    await crawl(app, site_server, "/a", name="mixed")
    await app.sites.put_site("mixed", [f"{site_server.url}/a"])
    await add_paths(app, [str(library)], "mixed")
    job = await refresh.submit_refresh(app, "site")
    gone = await sites.delete_site(app, "site")
    assert (gone.pages, gone.kept) == (1, 0)
    assert (await app.jobs.get(job.job_id)).state == "cancelled"
    gone = await sites.delete_site(app, "mixed")
    assert (gone.pages, gone.kept) == (1, 2)
    assert await sites.list_sites(app) == []
    assert [each.name for each in await app.collections.list_all()] == ["mixed"]
    assert len(await app.catalog.documents("mixed")) == 2
    with pytest.raises(NotFound):
        await sites.delete_site(app, "site")


async def test_refresh_as_a_job(app: App, site_server: SiteServer) -> None:
    """Its result is the report; a job that was cancelled changes no page any more."""
    site_server.page("/a", TOWER)
    await crawl(app, site_server, "/a")
    site_server.page("/a", "<p>It was built in 1858.</p>")
    with pytest.raises(NotFound):
        await refresh.submit_refresh(app, "none")
    async with working(app):
        done = await ended(app, (await refresh.submit_refresh(app, "site")).job_id)
    assert done.state == "done"
    assert done.result is not None
    assert (done.result["changed"], done.result["failed"]) == (1, [])
    assert done.result["embedded"] > 0

    async def cancelled() -> None:
        raise Conflict("it was cancelled")

    site_server.asked.clear()
    with pytest.raises(Conflict, match="it was cancelled"):
        await refresh.refresh_site(app, "site", allowed=cancelled)
    assert site_server.asked == []


async def test_pages_are_added_beside_files(
    app: App, site_server: SiteServer, library: Path
) -> None:
    """One report in the order that was given; each is embedded; again they are unchanged, and then
    replaced.
    """
    site_server.page("/a", TOWER, etag='"v1"')
    site_server.page("/notes.txt", b"The keeper is called Ada Brown.", kind="text/plain")
    site_server.page("/film", b"\0", kind="video/mp4")
    site_server.page("/old", status=301, headers={"Location": "/notes.txt"})
    url = site_server.url
    named = [
        f"{url}/a?utm_source=x",
        str(library),
        f"{url}/old",
        f"{url}/film",
        f"{url}/none",
        "https://u:p@example.com/",
    ]
    done = await ingest_paths(app, named, "docs", priority=3)
    files = done.report.files
    assert [file.status for file in files] == [
        "added",
        "added",
        "added",
        "added",
        "failed",
        "failed",
        "failed",
    ]
    assert [files[0].path, files[3].path] == [f"{url}/a", f"{url}/notes.txt"]
    assert "video/mp4" in files[4].reason
    assert "there is no such page" in files[5].reason
    assert "user name or password" in files[6].reason
    documents = await app.catalog.documents("docs")
    assert len(documents) == 4
    assert all(info.embedded == info.chunks > 0 and info.priority == 3 for info in documents)
    again = (await ingest_paths(app, named[:3], "docs", priority=5)).report.files
    assert [file.status for file in again] == ["unchanged"] * 4
    assert {info.priority for info in await app.catalog.documents("docs")} == {5}
    site_server.page("/a", "<p>It was built in 1858.</p>", etag='"v2"')
    [changed] = (await ingest_paths(app, [f"{url}/a"], "docs")).report.files
    assert (changed.status, changed.doc_id) == ("replaced", files[0].doc_id)
    [info] = await find_documents(app, f"{url}/a")
    assert (info.version, info.priority) == (2, 5)


async def test_a_page_added_by_a_job(app: App, settings: Settings, site_server: SiteServer) -> None:
    """The job fetches it; an address that is none is refused at once, one inside the house by the
    job.
    """
    site_server.page("/a", TOWER)
    with pytest.raises(InvalidInput):
        await refresh.submit_page(app, "docs", "file:///etc/passwd")
    with pytest.raises(InvalidInput):
        await refresh.submit_page(app, "a/b", f"{site_server.url}/a")
    async with working(app):
        done = await ended(
            app, (await refresh.submit_page(app, "docs", f"{site_server.url}/a#x")).job_id
        )
    assert done.state == "done"
    assert done.result is not None
    assert [(file["path"], file["status"]) for file in done.result["files"]] == [
        (f"{site_server.url}/a", "added")
    ]
    [collection] = await app.collections.list_all()
    assert collection.embedded == collection.chunks > 0
    async with (
        App(settings.model_copy(update={"allow_private_hosts": ()})) as strict,
        working(strict),
    ):
        refused = await ended(
            strict, (await refresh.submit_page(strict, "docs", f"{site_server.url}/a")).job_id
        )
    assert refused.result is not None
    [file] = refused.result["files"]
    assert file["status"] == "failed"
    assert "not on the public internet" in file["reason"]
