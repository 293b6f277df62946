"""Web sites that are kept: list them and their pages, export them, delete them. A site is a
collection that has pages of the web; what else somebody has put into it is left alone.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import asdict

from pydantic import Field

from citewell.errors import Conflict, NotFound
from citewell.messages import AnyText, Text
from citewell.runtime.app import App
from citewell.store.job_rows import ENDED
from citewell.store.library.documents import DocumentInfo
from citewell.store.page_sums import Sums
from citewell.store.sites import Site
from citewell.types import Shown

PAGE, REFRESH = "page", "refresh"  # kinds of jobs
AT_ONCE = 4  # pages asked for at once; two of them of one host
MOST_JOBS = 10_000  # looked at for those of a site that is deleted


class SiteInfo(Shown):
    """`pages` can be searched (`embedded` of their `chunks` by meaning), `problems` addresses
    cannot be read. `oldest` and `newest`: when the first and the last of them was asked for, in
    seconds since the epoch; None where there are none. `start_urls` and what follows are as the
    site was last explored.
    """

    collection: str
    pages: int = 0
    problems: int = 0
    bytes: int = 0
    chunks: int = 0
    embedded: int = 0
    oldest: float | None = None
    newest: float | None = None
    start_urls: list[str] = Field(default=[])
    allowed_domains: list[str] = Field(default=[])
    instruction: str = ""


class SitePage(Shown):
    """`fetched_at`: when these bytes came; `checked_at`: when its site last said that they are so,
    or which `problem` there is, of which `code`. Seconds since the epoch.
    """

    url: str
    title: str
    doc_id: str
    sha256: str
    fetched_at: float
    checked_at: float
    problem: AnyText = ""
    code: str = ""


class PageProblem(Shown):
    url: str
    reason: AnyText


class SiteDeleted(Shown):
    """`kept`: documents that are no pages of the web; without any the collection is gone too."""

    collection: str
    pages: int
    kept: int


async def list_sites(app: App) -> list[SiteInfo]:
    """In the order of their names. A page that could not be added makes no site."""
    sums = {
        each.collection: each for each in await app.snapshots.count_by_collection(app.embedder.name)
    }
    explored = {each.collection: each for each in await app.sites.sites()}
    there = {*explored, *(name for name, each in sums.items() if each.pages)}
    if app.viewer is not None:
        there &= {each.name for each in await app.collections.list_all()}
    return [_build_info(name, sums.get(name), explored.get(name)) for name in sorted(there)]


async def get_site(app: App, name: str) -> SiteInfo:
    """Raises NotFound, naming the sites there are."""
    known = {each.collection: each for each in await list_sites(app)}
    if name not in known:
        there = (
            Text("there are: {known}", known=", ".join(known))
            if known
            else Text("there are none yet")
        )
        raise NotFound(
            Text("no site named {name}", name=name),
            hint=Text("{there}; `citewell add URL -c NAME` makes one of a page", there=there),
        )
    return known[name]


async def list_pages(app: App, name: str) -> list[SitePage]:
    """In the order of their addresses, those that cannot be read among them. Raises NotFound."""
    await get_site(app, name)
    found = await app.snapshots.of(name, links=False)
    return [SitePage.of(each, url=each.uri) for each in found]


async def export_site(app: App, name: str) -> AsyncIterator[str]:
    """One JSON object a page, as lines: address, title, when it was fetched, hash, language, text,
    links. Raises NotFound before the first one.
    """
    for page in await list_pages(app, name):
        try:
            document = await app.catalog.content(page.doc_id)
        except NotFound:
            continue  # it could not be read, or was removed meanwhile
        snapshot = await app.snapshots.get(name, page.url)
        row = {
            "url": page.url,
            "title": page.title,
            "fetched_at": page.fetched_at,
            "sha256": page.sha256,
            "lang": document.lang,
            "text": document.text,
            "links": [asdict(link) for link in snapshot.links] if snapshot else [],
        }
        yield json.dumps(row, ensure_ascii=False) + "\n"


async def delete_site(app: App, name: str) -> SiteDeleted:
    """Its pages and all known of them; work under way on it is cancelled. Raises NotFound."""
    await get_site(app, name)
    for job in await app.jobs.list(MOST_JOBS):
        if (
            job.state not in ENDED
            and job.kind in {PAGE, REFRESH}
            and job.payload.get("collection") == name
        ):
            with suppress(Conflict):  # it has ended just now
                await app.jobs.cancel(job.job_id)
    documents = await app.catalog.documents(name)
    pages = [info.doc_id for info in documents if is_page(info)]
    kept = len(documents) - len(pages)
    if kept:
        await app.catalog.delete(*pages)
        await app.sites.forget(name)
    else:
        await app.collections.delete(name)
    return SiteDeleted(collection=name, pages=len(pages), kept=kept)


def _build_info(name: str, sums: Sums | None, site: Site | None) -> SiteInfo:
    found = asdict(sums) if sums else {"collection": name}
    explored = (
        {"start_urls": list(site.start_urls), "allowed_domains": list(site.allowed_domains)}
        if site
        else {}
    )
    return SiteInfo(**found, **explored, instruction=site.instruction if site else "")


def is_page(info: DocumentInfo) -> bool:
    return info.uri.startswith(("http://", "https://"))
