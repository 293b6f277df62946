"""One file's bytes become documents: itself, or what it holds. A container is noted as unpacked
after all that came out of it was taken, so a stop in between is made up for.
"""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import Literal

import anyio.to_thread

from citewell.errors import UnreadableFile
from citewell.ingest import PARSERS, parse
from citewell.ingest.archive.unpack import CONTAINERS, unpack
from citewell.ingest.archive.unpacked import Member, Taken
from citewell.messages import Text
from citewell.runtime.app import App
from citewell.service.library.add_report import FileReport, build_failed_report
from citewell.service.library.chunking import cut_document
from citewell.store.library.catalog import Catalog
from citewell.store.library.containers import INSIDE, list_enclosing_addresses
from citewell.store.library.documents import DocumentInfo

Allowed = Callable[[], Awaitable[None]]
# mails inside a container inside mails; archives in an archive are opened with it, as one
DEEPEST = 3


@dataclass(frozen=True, slots=True)
class Intake:
    """Where documents go, and who is told of each. `dated`: their day, where they do not say one
    themselves. `allowed` is asked before each is committed, and raises Conflict where no more may
    be.
    """

    app: App
    collection: str
    dated: float | None = None
    priority: int | None = None
    taken: Callable[[FileReport], None] | None = None
    allowed: Allowed | None = None

    async def file(
        self, data: bytes, name: str, uri: str, depth: int = 0, taken: Taken | None = None
    ) -> list[FileReport]:
        """Add a file and what it holds; one report each. `taken`: what came out of the outermost so
        far. Raises UnreadableFile where nothing of it can be read.
        """
        if PurePath(name).suffix.lower() not in CONTAINERS:
            return [await self.document(data, name, uri)]
        catalog, digest = self.app.catalog, await compute_hash(data)
        if await catalog.is_unpacked(self.collection, uri, digest):
            return await self._report_unchanged(uri)
        if depth >= DEEPEST:
            raise UnreadableFile(
                Text(
                    "{name} is a file inside {depth} others; that is too deep",
                    name=name,
                    depth=depth,
                )
            )
        reports = (
            [await self.document(data, name, uri)]
            if PurePath(name).suffix.lower() in PARSERS
            else []
        )
        members, warnings, now = await unpack(data, name, self.app.settings.ingest, taken)
        taken = taken or now
        taken.bytes, taken.members = now.bytes, now.members
        for member in members:
            reports += await self._add_member(member, uri + INSIDE + member.name, depth, taken)
        kept = [uri + INSIDE + member.name for member in members]
        await self._remove_gone(uri, kept)
        if not reports:
            raise UnreadableFile(
                Text("; ").join(
                    [Text("{name} holds nothing that can be read", name=name), *warnings]
                )
            )
        reports[0] = reports[0].model_copy(update={"warnings": [*warnings, *reports[0].warnings]})
        if not any(report.status == "failed" for report in reports):
            await catalog.keep_unpacked(
                self.collection, uri, digest, [report.path for report in reports]
            )
        return reports

    async def document(self, data: bytes, name: str, uri: str) -> FileReport:
        report = await add_data(
            self.app,
            data,
            name,
            uri,
            self.collection,
            dated=self.dated,
            priority=self.priority,
            allowed=self.allowed,
        )
        self._report_taken(report)
        return report

    def _report_taken(self, report: FileReport) -> None:
        if self.taken is not None:
            self.taken(report)

    async def _add_member(
        self, member: Member, uri: str, depth: int, taken: Taken
    ) -> list[FileReport]:
        try:
            return await self.file(member.data, PurePath(member.name).name, uri, depth + 1, taken)
        except Exception as error:  # noqa: BLE001  # whatever it is, the other members go on
            return [build_failed_report(uri, error)]

    async def _report_unchanged(self, uri: str) -> list[FileReport]:
        own = await self.app.catalog.find(self.collection, uri)
        inside = await self.app.catalog.members(self.collection, uri)
        reports = [
            await _keep_unchanged(self.app.catalog, info, self.priority)
            for info in ([own] if own else []) + inside
        ]
        for report in reports:
            self._report_taken(report)
        return reports

    async def _remove_gone(self, uri: str, kept: Sequence[str]) -> None:
        """Documents that came out of an older version and are not in this one."""
        there = set(kept)
        gone = [
            info.doc_id
            for info in await self.app.catalog.members(self.collection, uri)
            if not any(outer in there for outer in list_enclosing_addresses(info.uri))
        ]
        if gone:
            await self.app.catalog.delete(*gone)


async def add_data(
    app: App,
    data: bytes,
    name: str,
    uri: str,
    collection: str,
    *,
    dated: float | None = None,
    priority: int | None = None,
    allowed: Allowed | None = None,
) -> FileReport:
    """Parse, cut and commit one document; the same bytes again are not parsed again. Raises
    UnreadableFile. `dated`: its day, where the file itself does not say one.
    """
    old = await app.catalog.find(collection, uri)
    if old is not None and old.sha256 == await compute_hash(data):
        return await _keep_unchanged(app.catalog, old, priority)
    document = await parse(data, name, app.settings.ingest)
    if document.dated is None:
        document = replace(document, dated=dated)
    chunks = await cut_document(app, document, collection)
    if allowed is not None:
        await allowed()
    info = await app.catalog.put(collection, uri, data, document, chunks, priority=priority)
    return FileReport(
        path=uri,
        status=get_status(info),
        chunks=info.chunks,
        doc_id=info.doc_id,
        warnings=[*document.warnings, *await warn_of_same_bytes(app.catalog, info)],
    )


def get_status(info: DocumentInfo) -> Literal["added", "replaced"]:
    """What became of a document that was kept just now."""
    return "added" if info.version == 1 else "replaced"


async def warn_of_same_bytes(catalog: Catalog, info: DocumentInfo) -> list[str]:
    """The warning where the collection has these bytes under another address too."""
    same = await catalog.find_same_bytes(info.collection, info.uri, info.sha256)
    if same is None:
        return []
    return [
        Text(
            "the same file is in this collection already, as {uri}; answers may quote either",
            uri=same.uri,
        )
    ]


async def _keep_unchanged(catalog: Catalog, info: DocumentInfo, priority: int | None) -> FileReport:
    """A document that has not changed, but for the priority that is asked for now."""
    if priority is not None and priority != info.priority:
        await catalog.set_priority(info.doc_id, priority)
    return FileReport(path=info.uri, status="unchanged", chunks=info.chunks, doc_id=info.doc_id)


async def compute_hash(data: bytes) -> str:
    """SHA-256 in hexadecimal, as documents and containers are kept under."""
    if len(data) < 1_000_000:  # a millisecond
        return hashlib.sha256(data).hexdigest()
    return await anyio.to_thread.run_sync(lambda: hashlib.sha256(data).hexdigest())
