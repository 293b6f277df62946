"""One run over a place: what is new or changed is read, what is there no more is marked. An item is
noted after its documents are committed, and held to be gone only by a listing that was whole, or by
its place's own word. So a run may be cut off anywhere, and the next one goes on.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import anyio

from citewell.errors import (
    CitewellError,
    InvalidInput,
    PermanentError,
    SourceUnavailable,
    TransientError,
    UnreadableFile,
    unwrap_first_error,
)
from citewell.fetch.service_client import ITEM_MISSING
from citewell.messages import Text, dump_model
from citewell.runtime.app import App
from citewell.runtime.progress import OnProgress, Progress, ignore_progress
from citewell.service.library.add_report import FileReport
from citewell.service.library.embedding import Embedding
from citewell.service.library.expand_paths import is_known_type
from citewell.service.library.intake import Allowed, Intake
from citewell.service.sites.keep_pages import SECONDS, open_pages
from citewell.service.sync.connectors.connector import Connector, Item, WebPage
from citewell.service.sync.gone_items import GoneItems
from citewell.service.sync.open_connector import open_connector
from citewell.service.sync.sync_report import MOST_FILES, SyncReport
from citewell.store.syncs.sync_rows import SeenItem, Sync

AT_ONCE = 4  # items read at once
ITEM_SECONDS = 300.0  # for one item's bytes
_MISSING = {ITEM_MISSING, "page_missing"}
# what is wrong with an item now, and not with the disk or with us
_ITEM_ERRORS = (InvalidInput, PermanentError, SourceUnavailable, TransientError, UnreadableFile)


async def run_sync(
    app: App, sync_id: str, on_progress: OnProgress | None = None, *, allowed: Allowed | None = None
) -> SyncReport:
    """Bring a collection in step with its place, and embed what is new beside it. What ends the run
    early stands in the report, which is kept. Raises NotFound, StorageError, Conflict where
    `allowed` does.
    """
    sync = await app.syncs.get(sync_id)
    run = _Run(app, sync, on_progress or ignore_progress, allowed)
    try:
        async with anyio.create_task_group() as group:
            group.start_soon(run.embedding.run_beside)
            with anyio.move_on_after(app.settings.sync.seconds) as limit:
                await run.work()
            if limit.cancelled_caught:
                run.end(
                    TransientError(
                        Text("the run took longer than it may"),
                        hint=Text("the next one goes on; setting sync.seconds"),
                    )
                )
            run.embedding.close()
    except BaseExceptionGroup as errors:
        raise unwrap_first_error(errors) from None
    report = run.build_report()
    await app.syncs.finish(sync_id, dump_model(report), run.mark)
    return report


class _Run:
    """A listing, then a few readers that take the next item each, and an embedding beside them."""

    def __init__(self, app: App, sync: Sync, tell: OnProgress, allowed: Allowed | None) -> None:
        self.embedding = Embedding(app, tell, docs=())
        self._app, self._sync, self._tell, self._allowed = app, sync, tell, allowed
        self._began = time.time()
        self._known: dict[str, SeenItem] = {}
        self._listed: dict[str, Item] = {}
        self._skipped = Counter[str]()
        self._sums = Counter[str]()
        self._files: list[FileReport] = []
        self._warnings: list[str] = []
        self._gone = GoneItems(app, sync, self._began)
        self._error: CitewellError | None = None
        self._whole = False
        self.mark = ""
        self._again = False  # whether an item has to be read again that is as it was
        self._bytes = self._done = self._wanted = 0

    def end(self, error: CitewellError) -> None:
        """Note what ends the run before its end: the first one counts."""
        self._error = self._error or error

    async def work(self) -> None:
        self._known = await self._app.syncs.items(self._sync.sync_id)
        try:
            connector = open_connector(self._app.settings, self._sync)
        except _ITEM_ERRORS as error:
            self.end(error)
            return
        try:
            await self._list(connector)
            wanted = await self._compare()
            await self._read_all(connector, wanted)
        finally:
            with anyio.CancelScope(shield=True):
                await connector.close()
        if self._whole:
            missing = [uri for uri in self._known if uri not in self._listed]
            await self._gone.mark(missing, self._known)
            if self._error is None and not self._again:
                self.mark = connector.mark
        await self._gone.remove_old(self._known)

    async def _list(self, connector: Connector) -> None:
        """What a place lists until it fails is read all the same."""
        most = self._app.settings.sync.max_items
        there = {uri: item.version for uri, item in self._known.items() if item.gone_at is None}
        try:
            async for item in connector.list_items(there):
                if len(self._listed) >= most:
                    self._warnings.append(
                        Text(
                            "more than {most:,} items: the rest is left out; setting "
                            "sync.max_items",
                            most=most,
                        )
                    )
                    return
                if item.name and not is_known_type(Path(item.name), pictures=self._pictures):
                    self._skipped[Path(item.name).suffix.lower()[:20] or "(no suffix)"] += 1
                    continue
                self._listed.setdefault(item.uri, item)
                if len(self._listed) % 100 == 0:
                    await self._tell(Progress("read", 0, 0, item.name))
            self._whole = True
        except _ITEM_ERRORS as error:
            self.end(error)

    @property
    def _pictures(self) -> bool:
        return self._app.settings.ingest.ocr == "auto"

    async def _compare(self) -> list[Item]:
        """Those that have to be read; the others are noted as seen."""
        wanted: list[Item] = []
        same: list[str] = []
        for uri, item in self._listed.items():
            known = self._known.get(uri)
            version = item.version or None  # None equals nothing
            if known is None or known.gone_at is not None or known.version != version:
                wanted.append(item)
            elif known.problem:
                self._count(FileReport(path=uri, status="failed", reason=known.problem))
            else:
                same.append(uri)
        self._sums["unchanged"] += len(same)
        await self._app.syncs.see_items(self._sync.sync_id, same, self._began)
        return wanted

    async def _read_all(self, connector: Connector, wanted: Sequence[Item]) -> None:
        self._wanted = len(wanted)
        following = iter(wanted)
        async with anyio.create_task_group() as readers:
            for _ in range(min(AT_ONCE, len(wanted))):
                readers.start_soon(self._read_next, connector, following)
        if wanted:
            await self._tell(Progress("read", self._done, self._wanted))

    async def _read_next(self, connector: Connector, following: Iterator[Item]) -> None:
        most = self._app.settings.sync.max_bytes
        for item in following:
            if self._bytes >= most:
                self.end(
                    TransientError(
                        Text("more than {most:,} bytes were read", most=most),
                        hint=Text("the next run goes on; setting sync.max_bytes"),
                    )
                )
                return
            if self._allowed is not None:
                await self._allowed()
            await self._tell(Progress("read", self._done, self._wanted, item.name or item.uri))
            await self._read_item(connector, item)
            self._done += 1

    async def _read_item(self, connector: Connector, item: Item) -> None:
        try:
            reports = await self._take_item(connector, item)
        except _ITEM_ERRORS as error:
            if error.code in _MISSING:
                await self._gone.mark([item.uri], self._known)
                return
            # the same bytes would fail the same way; anything else may be better next time
            version = item.version if isinstance(error, UnreadableFile) else ""
            self._again |= not version
            await self._note(item, version, error.explanation)
            self._count(FileReport(path=item.uri, status="failed", reason=error.explanation))
            return
        own = reports[0]
        # what was gone and is there again as it was; a new version carries no mark
        same = [each.doc_id for each in reports if each.status == "unchanged"]
        if same:
            await self._app.catalog.set_gone(same, None)
        problem = own.reason if own.status == "failed" else ""
        document = item.uri if item.name else own.path
        await self._note(item, item.version, problem, document)
        for report in reports:
            self._count(report)

    async def _take_item(self, connector: Connector, item: Item) -> list[FileReport]:
        most = self._app.settings.ingest.max_bytes
        if item.size > most:
            raise UnreadableFile(
                Text(
                    "{size:,} bytes is more than the {limit:,} allowed", size=item.size, limit=most
                ),
                hint=Text("raise ingest.max_bytes, or split the file"),
            )
        async with self._app.turns.reading(item.size):
            try:
                with anyio.fail_after(ITEM_SECONDS):
                    content = await connector.read_item(item)
            except TimeoutError:
                raise TransientError(
                    Text("not there within {seconds:g} seconds", seconds=ITEM_SECONDS)
                ) from None
            if isinstance(content, WebPage):
                return [await self._take_page(content)]
            self._bytes += len(content)
            intake = Intake(
                self._app, self._sync.collection, item.dated, None, self._note_taken, self._allowed
            )
            return await intake.file(content, item.name, item.uri)

    async def _take_page(self, page: WebPage) -> FileReport:
        report = await open_pages(self._app).file(
            page.url, self._sync.collection, seconds=SECONDS, allowed=self._allowed
        )
        self._note_taken(report)
        return report

    def _note_taken(self, report: FileReport) -> None:
        self.embedding.announce_document(report.doc_id)

    async def _note(self, item: Item, version: str, problem: str, document: str = "") -> None:
        """What could not be read keeps the moment at which it last could."""
        before = self._known.get(item.uri, SeenItem(item.uri, ""))
        seen = before.seen_at if problem else self._began
        document = document or before.document
        note = SeenItem(item.uri, version, problem, seen, document=document)
        await self._app.syncs.put_item(self._sync.sync_id, note)

    def _count(self, report: FileReport) -> None:
        self._sums[report.status] += 1
        if report.status != "unchanged":
            self._files.append(report)

    def build_report(self) -> SyncReport:
        error = self._error
        return SyncReport(
            sync_id=self._sync.sync_id,
            collection=self._sync.collection,
            place=self._sync.place,
            began_at=self._began,
            ended_at=time.time(),
            listed=len(self._listed),
            **{name: self._sums[name] for name in ("added", "replaced", "unchanged", "failed")},
            files=sorted(self._files, key=lambda each: each.status != "failed")[:MOST_FILES],
            gone_count=len(self._gone.marked),
            removed_count=len(self._gone.removed),
            gone=sorted(self._gone.marked)[:MOST_FILES],
            removed=sorted(self._gone.removed)[:MOST_FILES],
            skipped=dict(sorted(self._skipped.items())),
            whole=self._whole,
            embedded=self.embedding.done,
            warnings=self._warnings,
            error=None
            if error is None
            else {"code": error.code, "message": error.message, "hint": error.hint},
            problem=self.embedding.problem,
        )
