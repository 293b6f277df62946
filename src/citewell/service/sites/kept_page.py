"""A page of the web as it is asked for, as it is known already, and as it was kept."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from citewell.errors import PermanentError, UnreadableFile
from citewell.fetch.fetcher import ATTEMPTS
from citewell.fetch.page_reply import TOO_LARGE
from citewell.ingest.web.links import Link
from citewell.service.library.add_report import FileReport
from citewell.service.library.intake import Allowed
from citewell.store.library.documents import DocumentInfo
from citewell.store.pages import Snapshot

LEAST = 0.001  # seconds: what is left of a time that has run out


@dataclass(frozen=True, slots=True)
class Crawled:
    """The page that `url` led to. `reused`: nothing was asked; `unchanged`: its site says, or its
    bytes show, that it is as it was. `fetched_at`: when these bytes came first; `checked_at`: when
    its site last said so. Seconds since the epoch.
    """

    url: str
    uri: str
    doc_id: str
    title: str
    links: tuple[Link, ...]
    fetched_at: float
    how: Literal["fetched", "unchanged", "reused"]
    notes: tuple[str, ...] = ()
    checked_at: float = 0.0


@dataclass(frozen=True, slots=True)
class WantedPage:
    """An address that is asked for, and where its page is kept. `until`: `time.monotonic`."""

    url: str
    collection: str
    until: float
    priority: int | None = None
    allowed: Allowed | None = None
    attempts: int = ATTEMPTS
    within: Callable[[str], bool] | None = None

    @property
    def left(self) -> float:
        return max(LEAST, self.until - time.monotonic())


@dataclass(frozen=True, slots=True)
class KnownPage:
    """A snapshot, and its document where that is still what was made of it."""

    snapshot: Snapshot
    info: DocumentInfo | None


Kept = tuple[Crawled, FileReport]


def build_reused(known: KnownPage) -> Kept:
    """Raises the problem that its site told."""
    snapshot = known.snapshot
    if snapshot.problem:
        unreadable = snapshot.code in {UnreadableFile.code, TOO_LARGE}
        kind = UnreadableFile if unreadable else PermanentError
        raise kind(snapshot.problem, code=snapshot.code)
    assert known.info is not None
    return build_crawled(snapshot, "reused"), _build_unchanged_report(known.info)


def build_unchanged(snapshot: Snapshot, info: DocumentInfo | None, notes: tuple[str, ...]) -> Kept:
    assert info is not None
    return build_crawled(snapshot, "unchanged", notes), _build_unchanged_report(info)


def _build_unchanged_report(info: DocumentInfo) -> FileReport:
    return FileReport(path=info.uri, status="unchanged", chunks=info.chunks, doc_id=info.doc_id)


def build_crawled(
    snapshot: Snapshot, how: Literal["fetched", "unchanged", "reused"], notes: tuple[str, ...] = ()
) -> Crawled:
    return Crawled(
        url=snapshot.url,
        uri=snapshot.uri,
        doc_id=snapshot.doc_id,
        title=snapshot.title,
        links=snapshot.links,
        fetched_at=snapshot.fetched_at,
        how=how,
        notes=notes,
        checked_at=snapshot.checked_at,
    )
