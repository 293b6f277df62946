"""Add files and web pages. Each document is committed alone, so a stop at any moment leaves whole
documents only.

A document can be found by its words as soon as it is committed, and by meaning once an `Embedding`
has come to its chunks.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

import anyio
import anyio.to_thread

from citewell.errors import InvalidInput, PermanentError, StorageError, TransientError
from citewell.models.builtin.cores import count_cores
from citewell.runtime.app import App
from citewell.runtime.progress import OnProgress, Progress, ignore_progress
from citewell.service.library.add_report import AddReport, FileReport, build_failed_report
from citewell.service.library.embedding import Embedding
from citewell.service.library.expand_paths import Found, gather_files, to_display_name
from citewell.service.library.intake import Allowed, Intake
from citewell.service.library.read_file import Read, read_file, read_object
from citewell.service.sites.keep_pages import SECONDS, open_pages
from citewell.store.library.collection_rows import check_name

# files parsed at once; embedding takes a hundred times as long, so more would only hold memory
MOST_READERS = 4
CHANGED = "it was written to while it was read; add it again when it is at rest"


@dataclass(frozen=True, slots=True)
class Source:
    """Where a file's bytes are: at `path`, in a bucket at `uri`, or on the web at `url`. `name` is
    its file name, `uri` its lasting one; `reason`: why it cannot be added, where that is known
    before. `dates`: whether the day it last changed says something (of an upload it does not).
    """

    uri: str
    path: Path | None
    name: str
    size: int = 0
    reason: str = ""
    dates: bool = True
    url: str = ""
    in_bucket: bool = False

    @property
    def exists(self) -> bool:
        return self.path is not None or self.in_bucket or bool(self.url)


def read_source(source: Source, limit: int) -> Read:
    """Of a file or an object. Raises UnreadableFile, OSError, and what `Bucket.read` raises."""
    if source.in_bucket:
        return read_object(source.uri, limit)
    assert source.path is not None
    return read_file(source.path, limit)


async def add_paths(
    app: App,
    paths: Sequence[str],
    collection: str,
    *,
    on_progress: OnProgress | None = None,
    priority: int | None = None,
    embedding: Embedding | None = None,
    links: bool = False,
    engine: type[Reading] | None = None,
) -> AddReport:
    """Read files, folders, buckets and web pages into `collection`. A bad file is reported and the
    rest goes on; what the disk refuses, and a bucket that does not answer, ends the run, and the
    report says so beside what was added until then.

    `embedding`: what embeds beside it and wants to hear of each document. `links`: whether those
    out of a folder are followed. `engine`: what reads; None: `Reading`, in this process.
    """
    check_name(collection)
    pictures = app.settings.ingest.ocr == "auto"
    found = await anyio.to_thread.run_sync(
        lambda: gather_files(paths, pictures=pictures, links=links)
    )
    sources = [
        Source(
            each.uri,
            each.path,
            _get_name(each),
            each.size,
            each.reason,
            url=each.url,
            in_bucket=each.in_bucket,
        )
        for each in found.found
    ]
    reading = (engine or Reading)(
        app,
        sources,
        collection,
        on_progress or ignore_progress,
        priority=priority,
        embedding=embedding,
    )
    error = None
    try:
        files = await reading.run()
    except (StorageError, TransientError) as refused:
        files, error = (
            reading.reports,
            {"code": refused.code, "message": refused.message, "hint": refused.hint},
        )
    return AddReport(
        files=files, skipped=dict(sorted(found.skipped.items())), links=found.links, error=error
    )


def _get_name(found: Found) -> str:
    if found.in_bucket:
        return PurePosixPath(found.uri).name
    return to_display_name(found.path) if found.path else found.uri


async def add_sources(
    app: App,
    sources: Sequence[Source],
    collection: str,
    on_progress: OnProgress,
    embedding: Embedding,
    reported: Callable[[Sequence[FileReport]], None],
    allowed: Allowed | None,
) -> list[FileReport]:
    """The same for files whose places are known; `reported` hears of each as soon as it is done,
    `allowed` raises where no more may be added.
    """
    return await Reading(
        app,
        sources,
        collection,
        on_progress,
        embedding=embedding,
        reported=reported,
        allowed=allowed,
    ).run()


class Reading:
    """A few readers that take the next file each; they report in the order of the files."""

    def __init__(
        self,
        app: App,
        sources: Sequence[Source],
        collection: str,
        tell: OnProgress,
        *,
        priority: int | None = None,
        embedding: Embedding | None = None,
        reported: Callable[[Sequence[FileReport]], None] | None = None,
        allowed: Allowed | None = None,
    ) -> None:
        self.app, self.collection, self.priority, self.embedding = (
            app,
            collection,
            priority,
            embedding,
        )
        self._reported = reported
        self._allowed = allowed
        self._sources = sources
        self._tell = tell
        self._next = iter(enumerate(sources))
        self._reports: list[list[FileReport]] = [[] for _ in sources]
        self._files = sum(source.exists for source in sources)
        self._bytes_left = sum(source.size for source in sources)
        self._bytes = self._chunks = self._done = 0
        self._refused: Exception | None = None

    async def run(self) -> list[FileReport]:
        readers = min(max(2, count_cores()), MOST_READERS, len(self._sources))
        async with anyio.create_task_group() as group:
            for _ in range(readers):
                group.start_soon(self._read_sources)
        if self._refused is not None:
            raise self._refused
        if self._files:
            await self._tell(Progress("read", self._files, self._files))
        return self.reports

    @property
    def reports(self) -> list[FileReport]:
        """Those that were dealt with so far."""
        return [report for reports in self._reports for report in reports]

    async def _read_sources(self) -> None:
        """What ends the run lets the other readers finish the file they have begun: cancelled, one
        could be committed and stand in no report.
        """
        for number, source in self._next:
            if self._refused is not None:
                return
            try:
                if source.exists:
                    await self._tell(Progress("read", self._done, self._files, source.name))
                self._reports[number] = await self._add_file(source)
                self._note_progress(source, self._reports[number])
            except Exception as error:  # noqa: BLE001  # raised by `run`
                self._refused = self._refused or error

    def _note_added(self, report: FileReport) -> None:
        if self.embedding is not None:
            self.embedding.announce_document(report.doc_id)

    def _note_progress(self, source: Source, reports: Sequence[FileReport]) -> None:
        """So far so many passages came of so many bytes: what is left will bring about as many."""
        if self._reported is not None:
            self._reported(reports)
        self._done += source.exists
        self._bytes += source.size
        self._bytes_left -= source.size
        self._chunks += sum(
            report.chunks for report in reports if report.status in {"added", "replaced"}
        )
        if self.embedding is not None:
            self.embedding.expected = (
                self._bytes_left * self._chunks / self._bytes if self._bytes else 0.0
            )

    async def _add_page(self, source: Source) -> FileReport:
        """What its site refuses is the page's own fault; what else goes wrong is in `failed`."""
        pages = open_pages(self.app)
        try:
            report = await pages.file(
                source.url,
                self.collection,
                seconds=SECONDS,
                priority=self.priority,
                allowed=self._allowed,
            )
        except (InvalidInput, TransientError, PermanentError) as error:
            return FileReport(path=source.uri, status="failed", reason=error.explanation)
        except Exception as error:  # noqa: BLE001  # whatever it is, the other files go on
            return build_failed_report(source.uri, error)
        self._note_added(report)
        return report

    async def _add_file(self, source: Source) -> list[FileReport]:
        if source.url:
            return [await self._add_page(source)]
        if not source.exists:
            return [FileReport(path=source.uri, status="failed", reason=source.reason)]
        async with self.app.turns.reading(source.size):
            try:
                got = await anyio.to_thread.run_sync(
                    read_source, source, self.app.settings.ingest.max_bytes
                )
                dated = got.dated if source.dates else None
                intake = Intake(
                    self.app, self.collection, dated, self.priority, self._note_added, self._allowed
                )
                return await take_file(intake, got, source)
            except Exception as error:  # noqa: BLE001  # whatever it is, the other files go on
                return [build_failed_report(source.uri, error)]


async def take_file(intake: Intake, got: Read, source: Source) -> list[FileReport]:
    """Add what was read of a source. Raises what `Intake.file` raises."""
    reports = await intake.file(got.data, source.name, source.uri)
    if got.changed:
        reports[0] = reports[0].model_copy(update={"warnings": [CHANGED, *reports[0].warnings]})
    return reports
