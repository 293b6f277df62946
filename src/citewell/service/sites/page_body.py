"""What is parsed of a page: the bytes that came, or what its scripts make of them, and its links. A
page whose scripts or links fail is read all the same, and a note says so.
"""

from __future__ import annotations

import codecs
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import PurePath

from citewell.config import IngestSettings
from citewell.errors import ConfigError, PermanentError, TransientError, UnreadableFile
from citewell.fetch.page_reply import Page
from citewell.ingest.bounded import run_bounded
from citewell.ingest.web.links import PageLinks
from citewell.messages import Text
from citewell.service.sites.kept_page import WantedPage
from citewell.store.library.documents import DocumentInfo
from citewell.store.pages import Snapshot

HTML = {".html", ".htm", ".xhtml"}
# (address, seconds) -> the HTML that scripts have made of it, in UTF-8
Render = Callable[[str, float], Awaitable[bytes]]


@dataclass(slots=True)
class PageBody:
    """What is parsed of a page. `ran`: its scripts have written it, so no ETag speaks for it."""

    data: bytes
    name: str
    found: PageLinks = field(default_factory=PageLinks)
    ran: bool = False
    notes: list[str] = field(default_factory=list)


async def build_body(
    data: bytes,
    name: str,
    url: str,
    wanted: WantedPage,
    settings: IngestSettings,
    render: Render | None,
) -> PageBody:
    """The bytes and their links; those its scripts make where it is next to empty without."""
    body = PageBody(data, name)
    if PurePath(name).suffix not in HTML:
        return body
    await _read_links(body, url, settings)
    if not body.found.scripted:
        return body
    if render is None:
        body.notes.append(
            Text(
                "{url}: it is written by scripts, which were not run; little of it could be read",
                url=url,
            )
        )
        return body
    try:
        made = await render(url, wanted.left)
    except (TransientError, PermanentError, UnreadableFile, ConfigError) as error:
        body.notes.append(
            Text("{url}: its scripts could not be run: {message}", url=url, message=error.message)
        )
        return body
    # the page may name the encoding that it came in
    body.data, body.ran = codecs.BOM_UTF8 + made.removeprefix(codecs.BOM_UTF8), True
    await _read_links(body, url, settings)
    return body


async def _read_links(body: PageBody, url: str, settings: IngestSettings) -> None:
    """A page whose links cannot be read may still be read itself."""
    try:
        body.found = await run_bounded(
            "citewell.ingest.web.links:extract_page_links", body.data, body.name, settings, url
        )
    except UnreadableFile as error:
        body.notes.append(
            Text("{url}: its links could not be read: {message}", url=url, message=error.message)
        )
        body.found = PageLinks()


def build_page_snapshot(
    wanted: WantedPage, page: Page, uri: str, info: DocumentInfo, body: PageBody
) -> Snapshot:
    """What is known of a page whose document has been added."""
    return Snapshot(
        collection=wanted.collection,
        url=wanted.url,
        uri=uri,
        doc_id=info.doc_id,
        title=info.title,
        sha256=info.sha256,
        etag="" if body.ran else page.etag,
        last_modified="" if body.ran else page.last_modified,
        fetched_at=page.fetched_at,
        checked_at=page.fetched_at,
        links=body.found.links,
    )
