"""Several processes that write to one home at once: writes a second in PostgreSQL and in SQLite.

    python evals/bench_writers.py [--seconds 8] [--writers 1 2 4 8] [--only postgresql]

Each writer adds documents (with vectors), remembers, keeps a conversation, and votes on its answer,
by turns. `one`: all documents go into one collection; `apart`: each writer has its own. The one
rule: compare the rows of one run only. Run again: transactions that the server refused, in a
hundred writes.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import psycopg
from pydantic import SecretStr

from citewell.config import Settings
from citewell.runtime.app import App
from citewell.service.knowledge.give_feedback import submit_feedback
from citewell.store.memory_judgement import Judgement, Told
from citewell.types import Answer, Chunk, Document, Message, Section, Trace
from cluster import Postgres

DIM = 64
CHUNKS = 8  # of a document
EMBEDDER = "made"


class Writer:
    """One process's share; `done` counts its transactions."""

    def __init__(self, app: App, name: str, collection: str) -> None:
        self.app, self.name, self.collection = app, name, collection
        self.done, self.turn = 0, 0
        self._rng = np.random.default_rng(int.from_bytes(name.encode(), "little") % 2**32)

    async def write(self, until: float) -> None:
        while time.time() < until:
            await self.write_round()

    async def write_round(self) -> None:
        self.turn += 1
        for act in (self._add, self._remember, self._talk):
            await act()

    async def _add(self) -> None:
        texts = [
            " ".join(f"w{word}" for word in self._rng.integers(0, 5_000, 60)) for _ in range(CHUNKS)
        ]
        body, cut, at = "\n".join(texts), [], 0
        for text in texts:
            cut.append(Chunk(text, at, at + len(text), 0, (), None, 60))
            at += len(text) + 1
        uri = f"{self.name}/{self.turn}"
        document = Document(uri, "text/plain", "en", body, (Section((), 0, len(body)),))
        info = await self.app.catalog.put(self.collection, uri, body.encode(), document, cut)
        waiting = await self.app.pending_chunks.list_unembedded(EMBEDDER, CHUNKS, [info.doc_id])
        rows = self._rng.standard_normal((len(waiting), DIM)).astype(np.float32)
        await self.app.pending_chunks.put_vectors(EMBEDDER, [chunk for chunk, _ in waiting], rows)
        self.done += 2

    async def _remember(self) -> None:
        told = Told("fact", f"subject {self.turn}", f"text {self.turn}")
        vector = self._rng.standard_normal(DIM).astype(np.float32)
        await self.app.memories.keep(self.name, told, vector, lambda _told, _near: Judgement())
        self.done += 1

    async def _talk(self) -> None:
        """A conversation of one question, its answer's trace, and a word on it."""
        session = await self.app.sessions.create("qa", self.name, f"talk {self.turn}")
        said = [Message(role="user", content="?"), Message(role="assistant", content="!")]
        await self.app.sessions.append(session.session_id, said)
        number = f"{self.name}-{self.turn}"
        answer = Answer(answer="!", status="answered", confidence=0.5, agent="qa", trace_id=number)
        trace = Trace(
            trace_id=number,
            user_id=self.name,
            agent="qa",
            question="?",
            collection=self.collection,
            steps=[],
            prompts=[],
            session_id=session.session_id,
            created_at=time.time(),
            answer=answer,
        )
        await self.app.traces.put(trace)
        await submit_feedback(self.app, number, is_correct=True, user_id=self.name)
        self.done += 4


async def write_for(url: str, home: str, name: str, collection: str, seconds: float) -> None:
    """In a process of its own: says when it is ready, begins at the moment that it is told."""
    settings = Settings(
        database_url=SecretStr(url), home=Path(home), llm="none", embedder="scripted", reader="none"
    )
    async with App(settings) as app:
        writer = Writer(app, name, collection)
        await writer.write_round()  # dictionaries are loaded
        writer.done = 0
        print("ready", flush=True)
        begin = float(sys.stdin.readline())
        await asyncio.sleep(max(0.0, begin - time.time()))
        await writer.write(begin + seconds)
        print(writer.done, flush=True)


def measure(url: str, home: Path, writers: int, apart: bool, seconds: float) -> float:
    """Writes a second."""
    run = f"{writers}{'a' if apart else 'o'}"
    started = [
        subprocess.Popen(
            [
                sys.executable,
                __file__,
                "--writer",
                *(url, str(home), f"{run}{n}", f"{run}{n}" if apart else run, str(seconds)),
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for n in range(writers)
    ]
    for process in started:
        assert process.stdout
        assert process.stdout.readline() == "ready\n"
    begin = time.time() + 0.5
    for process in started:
        assert process.stdin
        process.stdin.write(f"{begin}\n")
        process.stdin.flush()
    done = [int(process.communicate(timeout=seconds + 60)[0]) for process in started]
    return sum(done) / seconds


@contextmanager
def running_database(name: str) -> Iterator[str]:
    """Its URL; "" for SQLite."""
    if name == "sqlite":
        yield ""
        return
    server = Postgres(Path(tempfile.mkdtemp(prefix="citewell-postgres-")))
    try:
        yield server.url
    finally:
        server.stop()


def count_rollbacks(url: str) -> int:
    if not url:
        return 0
    time.sleep(1.2)  # the server's counts come a second late
    with psycopg.connect(url.replace("+psycopg", ""), autocommit=True) as connection:
        row = connection.execute(
            "SELECT xact_rollback FROM pg_stat_database WHERE datname = current_database()"
        ).fetchone()
    return int(row[0]) if row else 0


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=8.0)
    parser.add_argument("--writers", type=int, nargs="+", default=[1, 2, 4, 8])
    parser.add_argument("--only", choices=["", "sqlite", "postgresql"], default="")
    parser.add_argument("--where", choices=["one", "apart"], nargs="+", default=["one", "apart"])
    parser.add_argument("--writer", nargs=5, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.writer:
        url, home, name, collection, seconds = args.writer
        asyncio.run(write_for(url, home, name, collection, float(seconds)))
        return
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores, {args.seconds:g} s each")
    for name in [args.only] if args.only else ["sqlite", "postgresql"]:
        for where in args.where:
            apart = where == "apart"
            with running_database(name) as url, tempfile.TemporaryDirectory() as home:
                measure(url, Path(home), 1, apart, 0.5)  # makes the tables
                for writers in args.writers:
                    before = count_rollbacks(url)
                    speed = measure(url, Path(home), writers, apart, args.seconds)
                    # the driver rolls back once in each process, as it makes itself known
                    refused = count_rollbacks(url) - before - writers if url else 0
                    again = max(0, refused) / (speed * args.seconds or 1)
                    print(
                        f"{name:10} {where:5} {writers} writers "
                        f"{speed:7.1f} writes a second, {100 * again:6.1f} run again",
                        flush=True,
                    )


if __name__ == "__main__":
    main()
