"""`citewell add --engine ray`: files are read, parsed, cut and embedded on a Ray cluster, and kept
by this process, which alone has the database. A document is kept with its chunks, words and vectors
in one transaction, so whatever is killed leaves whole documents; the same command goes on, for what
is there is not parsed again.
"""

from __future__ import annotations

import asyncio
import pickle
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager, suppress
from pathlib import PurePath
from typing import Any

import anyio
import anyio.to_thread

from citewell.errors import CitewellError, NotFound, TransientError
from citewell.ingest.archive.unpack import CONTAINERS
from citewell.messages import Text
from citewell.runtime.progress import Progress
from citewell.service.bulk.cluster import connect_ray
from citewell.service.bulk.draft import NUMBER, Known, Outcome
from citewell.service.bulk.stages import (
    Order,
    Row,
    TextEmbedder,
    build_order,
    build_row,
    prepare_row,
    read_row,
)
from citewell.service.library.add import Reading, Source
from citewell.service.library.add_report import FileReport, build_failed_report
from citewell.service.library.intake import get_status, warn_of_same_bytes
from citewell.store.library.documents import DocumentInfo, Prepared

ASKED_AT_ONCE = 500  # addresses of one question to the database
# files of one task, and their bytes: what is done again where a machine is lost
TASK_FILES, TASK_BYTES = 32, 16_000_000
TRANSACTION = 32  # documents kept in one transaction
READERS = 4  # tasks that read files of this machine for others
NODE_LABEL = "ray.io/node-id"  # each machine of a cluster has it


class RayReading(Reading):
    """Web pages are fetched by this process, as ever. Raises what `connect_ray` raises, and
    TransientError where the cluster fails in the middle.
    """

    async def run(self) -> list[FileReport]:
        files: list[tuple[int, Source]] = []
        for number, source in enumerate(self._sources):
            if source.exists and not source.url:
                files.append((number, source))
                continue
            self._reports[number] = await self._add_file(source)
            self._note_progress(source, self._reports[number])
        if files:
            rows = await self._build_rows(files)
            order = build_order(self.app.settings, self.collection, self.priority)
            async with _run_pipeline(rows, order, embed=self.embedding is not None) as blocks:
                async for outcomes in blocks:
                    await self._keep(outcomes)
        if self._files:
            await self._tell(Progress("read", self._files, self._files))
        return self.reports

    async def _build_rows(self, files: Sequence[tuple[int, Source]]) -> list[tuple[Row, int]]:
        """With what is known of each file, and its bytes."""
        catalog = self.app.catalog
        chunking = await self.app.collections.get_chunking(self.collection)
        self._waiting: set[str] = set()  # documents that are there and not embedded
        rows = []
        for first in range(0, len(files), ASKED_AT_ONCE):
            some = files[first : first + ASKED_AT_ONCE]
            there = {
                info.uri: info
                for info in await catalog.find_among(
                    self.collection, [source.uri for _, source in some]
                )
            }
            for number, source in some:
                own = there.get(source.uri)
                known = Known((own,) if own else (), "", chunking)
                if PurePath(source.name).suffix.lower() in CONTAINERS:
                    inside = await catalog.members(self.collection, source.uri)
                    unpacked = await catalog.find_unpacked(self.collection, source.uri)
                    known = Known((*known.documents, *inside), unpacked, chunking)
                self._waiting |= {
                    info.doc_id for info in known.documents if info.embedded < info.chunks
                }
                rows.append((build_row(number, source, known), source.size))
        return rows

    async def _keep(self, outcomes: Sequence[tuple[int, Outcome]]) -> None:
        """Write what was noted, in order, as many documents at once as possible; then report."""
        keeping = _Keeping(self)
        try:
            for number, outcome in outcomes:
                for method, values in outcome.calls:
                    if method is None:
                        await keeping.add(number, values[0], outcome.documents[values[0]])
                    else:
                        await keeping.flush()
                        with suppress(NotFound):  # somebody deleted it since
                            await getattr(self.app.catalog, method)(*values)
            await keeping.flush()
        finally:
            for number, outcome in outcomes:
                if outcome.error is None and keeping.has_all(number, outcome):
                    self._reports[number] = [
                        keeping.complete(number, each) for each in outcome.reports
                    ]
                    self._note_progress(self._sources[number], self._reports[number])
        await self._tell(Progress("read", self._done, self._files))
        for _, outcome in outcomes:
            if outcome.error is not None:
                raise outcome.error

    def note_kept(self, info: DocumentInfo) -> None:
        """What came without vectors is embedded by this process."""
        if self.embedding is not None and info.embedded < info.chunks:
            self.embedding.announce_document(info.doc_id)
        elif self.embedding is not None:
            self.embedding.done += info.chunks

    def note_unchanged(self, doc_id: str) -> None:
        if self.embedding is not None and doc_id in self._waiting:
            self.embedding.announce_document(doc_id)


class _Keeping:
    """Documents of one block on their way into the database."""

    def __init__(self, reading: RayReading) -> None:
        self._reading = reading
        self._batch: list[tuple[int, int, Prepared]] = []
        self._infos: dict[tuple[int, int], tuple[DocumentInfo, list[str]]] = {}
        self._failed: dict[tuple[int, int], FileReport] = {}

    async def add(self, number: int, document: int, prepared: Prepared) -> None:
        self._batch.append((number, document, prepared))
        if len(self._batch) == TRANSACTION:
            await self.flush()

    async def flush(self) -> None:
        """What is no fault of a document raises; else it is reported, and the others go on."""
        batch, self._batch = self._batch, []
        try:
            await self._put(batch)
        except CitewellError:
            raise
        except Exception:  # noqa: BLE001 whose fault it is shows when each is kept alone
            for each in batch:
                try:
                    await self._put([each])
                except Exception as error:  # noqa: BLE001 whatever it is, the others go on
                    self._failed[each[:2]] = build_failed_report(each[2].uri, error)

    async def _put(self, batch: Sequence[tuple[int, int, Prepared]]) -> None:
        reading = self._reading
        catalog = reading.app.catalog
        if not batch:
            return
        infos = await catalog.put_prepared(
            reading.collection, [prepared for _, _, prepared in batch], priority=reading.priority
        )
        for (number, document, _), info in zip(batch, infos, strict=True):
            self._infos[number, document] = info, await warn_of_same_bytes(catalog, info)
            reading.note_kept(info)

    def has_all(self, number: int, outcome: Outcome) -> bool:
        places = [(number, document) for document in range(len(outcome.documents))]
        return all(place in self._infos or place in self._failed for place in places)

    def complete(self, number: int, report: FileReport) -> FileReport:
        """With what is known now that the document is kept."""
        if not report.doc_id.startswith(NUMBER):
            self._reading.note_unchanged(report.doc_id)
            return report
        place = (number, int(report.doc_id.removeprefix(NUMBER)))
        if place in self._failed:
            return self._failed[place]
        info, twice = self._infos[place]
        return report.model_copy(
            update={
                "status": get_status(info),
                "doc_id": info.doc_id,
                "chunks": info.chunks,
                "warnings": [*report.warnings, *twice],
            }
        )


@asynccontextmanager
async def _run_pipeline(
    rows: Sequence[tuple[Row, int]], order: Order, *, embed: bool
) -> AsyncIterator[AsyncIterator[list[tuple[int, Outcome]]]]:
    """Blocks of files' outcomes, as they are done. Waiting for the cluster can be cancelled."""
    async with AsyncExitStack() as stack:
        connection = connect_ray()
        start = asyncio.ensure_future(asyncio.to_thread(connection.__enter__))

        async def disconnect() -> None:
            with anyio.CancelScope(shield=True):
                await asyncio.wait([start])  # who is cancelled meanwhile leaves no cluster behind
                if start.exception() is None:
                    await asyncio.to_thread(connection.__exit__, None, None, None)

        stack.push_async_callback(disconnect)
        ray = await asyncio.shield(start)
        yield _follow(_start_pipeline(ray, rows, order, embed=embed))


async def _follow(blocks: Iterator[Any]) -> AsyncIterator[list[tuple[int, Outcome]]]:
    while True:
        table = await anyio.to_thread.run_sync(_take_next, blocks, abandon_on_cancel=True)
        if table is None:
            return
        numbers, outcomes = table.column("number").to_pylist(), table.column("outcome").to_pylist()
        yield [
            (number, pickle.loads(outcome))  # noqa: S301 our own
            for number, outcome in zip(numbers, outcomes, strict=True)
        ]


def _take_next(blocks: Iterator[Any]) -> Any:
    with _explain_failure():
        return next(blocks, None)


def _start_pipeline(
    ray: Any, rows: Sequence[tuple[Row, int]], order: Order, *, embed: bool
) -> Iterator[Any]:
    """Files of this machine are read on it, those of buckets anywhere."""
    here = {NODE_LABEL: ray.get_runtime_context().get_node_id()}
    pinned = {"num_cpus": 0, "concurrency": READERS, "label_selector": here}
    cores = ray.cluster_resources().get("CPU", 1)
    # on one core, too, a task and an actor at the same time
    share = {"num_cpus": min(1, cores / 2)}
    for in_bucket in (False, True):
        part = [(row, size) for row, size in rows if row["in_bucket"] is in_bucket]
        if not part:
            continue
        data = ray.data.from_arrow(list(_split_rows(part)))
        apart = len(ray.nodes()) > 1 and not in_bucket
        data = data.map(read_row, fn_args=[order], **(pinned if apart else share))
        data = data.map(prepare_row, fn_args=[order], **share)
        if embed:
            data = data.map_batches(
                TextEmbedder,
                fn_constructor_args=[order],
                batch_size=None,
                batch_format="pyarrow",
                compute=ray.data.ActorPoolStrategy(min_size=1, max_size=max(1, int(cores))),
                **share,
            )
        yield from data.iter_batches(batch_size=None, batch_format="pyarrow")


def _split_rows(rows: Sequence[tuple[Row, int]]) -> Iterator[Any]:
    """A table for each task."""
    import pyarrow as pa

    part: list[Row] = []
    size = 0
    for row, more in rows:
        if part and (len(part) == TASK_FILES or size + more > TASK_BYTES):
            yield pa.Table.from_pylist(part)
            part, size = [], 0
        part.append(row)
        size += more
    yield pa.Table.from_pylist(part)


@contextmanager
def _explain_failure() -> Iterator[None]:
    """What Ray raises, in a line of ours."""
    try:
        yield
    except CitewellError:
        raise
    except Exception as error:
        lines = [line for line in str(error).strip().splitlines() if line.strip()]
        raise TransientError(
            Text("Ray: {name}: {why}", name=type(error).__name__, why=(lines or [""])[-1][:300]),
            hint=Text("what was added is kept; the same command goes on with the rest"),
        ) from error
