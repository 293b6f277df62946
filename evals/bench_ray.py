"""How fast made passages are added: by `citewell add` in one process, and on a Ray cluster of one
and of two workers of a core each, without and with the built-in embedder, in one run.

The workers are nodes on the loopback of this machine, which is to have a core more than them: the
command itself writes. Seconds are those of reading until the last document is kept, with the time
in which the command connects to the cluster, not that in which the cluster starts.

    python evals/bench_ray.py [--passages N] [--embedded N] [--postgres]
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import secrets
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from pydantic import SecretStr

from bench_scale import start_server
from citewell.config import Settings
from citewell.runtime.app import App
from citewell.service.bulk.ray_reading import RayReading
from citewell.service.library.add import Reading, add_paths
from citewell.service.library.read_and_embed import Engine, ingest_paths
from scale_made import make

A_DOCUMENT = 25  # passages
ENGINES = {"add": Reading, "ray": RayReading}
CLUSTER = """
import sys
from ray.cluster_utils import Cluster
own = dict(num_cpus=1, object_store_memory=200_000_000)
cluster = Cluster(initialize_head=True, head_node_args=dict(include_dashboard=False, **own))
for _ in range(int(sys.argv[1]) - 1):
    cluster.add_node(**own)
print(cluster.address, flush=True)
sys.stdin.read()
cluster.shutdown()
"""


def write_files(folder: Path, texts: list[str]) -> None:
    folder.mkdir()
    for first in range(0, len(texts), A_DOCUMENT):
        parts = (f"# Part {n}\n\n{text}" for n, text in enumerate(texts[first:][:A_DOCUMENT]))
        (folder / f"{first:07}.md").write_text("\n\n".join(parts), "utf-8")


@contextmanager
def run_cluster(workers: int) -> Iterator[dict[str, str]]:
    """The environment in which it is found."""
    with tempfile.TemporaryDirectory(prefix="ray-", ignore_cleanup_errors=True) as folder:
        environment = {
            **os.environ,
            "RAY_AUTH_MODE": "token",
            "RAY_AUTH_TOKEN": secrets.token_hex(32),
            "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",  # on the loopback
            "RAY_TMPDIR": folder,
            "RAY_worker_niceness": "0",  # as `add` has; Ray gives 15
            "RAY_USAGE_STATS_ENABLED": "0",
        }
        with subprocess.Popen(
            [sys.executable, "-c", CLUSTER, str(workers)],
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        ) as process:
            assert process.stdout is not None
            found = next((line.strip() for line in process.stdout if ":" in line), "")
            if not found:
                raise SystemExit(
                    "Ray did not start within its time; try on a machine with less load"
                )
            yield {**environment, "RAY_ADDRESS": found}
            process.communicate()


async def add_once(engine: str, folder: Path, home: Path, url: str, *, embed: bool) -> float:
    """Seconds."""
    settings = Settings(home=home, database_url=SecretStr(url), llm="none", reader="none")
    async with App(settings) as app:
        started = time.perf_counter()
        if embed:
            way: Engine = "ray" if engine == "ray" else "local"
            report = (await ingest_paths(app, [str(folder)], "made", engine=way)).report
        else:
            report = await add_paths(app, [str(folder)], "made", engine=ENGINES[engine])
        seconds = time.perf_counter() - started
        [info] = await app.collections.list_all()
        waiting = await app.pending_chunks.count_unembedded() if embed else 0
        failed = [file.reason for file in report.files if file.status == "failed"]
        if failed or report.error:
            raise SystemExit(f"{len(failed)} files failed: {failed[:1]} {report.error}")
        print(json.dumps({"seconds": seconds, "passages": info.chunks, "waiting": waiting}))
    return seconds


@contextmanager
def make_url(*, postgres: bool) -> Iterator[str]:
    """The address of an empty database; empty: a file of SQLite."""
    if not postgres:
        yield ""
        return
    with start_server() as (url, _):
        yield url.replace("postgresql://", "postgresql+psycopg://")


def measure(engine: str, workers: int, folder: Path, *, embed: bool, postgres: bool) -> float:
    """Passages a second, in a process of its own."""
    with ExitStack() as stack:
        home = stack.enter_context(tempfile.TemporaryDirectory())
        url = stack.enter_context(make_url(postgres=postgres))
        environment = dict(os.environ)
        if engine == "ray":
            environment = stack.enter_context(run_cluster(workers))
        environment["CITEWELL_EMBED_WORKERS"] = str(workers)
        command = [sys.executable, __file__, "--one", engine, str(folder), home, url]
        done = subprocess.run(
            [*command, *(["--embed"] if embed else [])],
            env=environment,
            check=True,
            capture_output=True,
            text=True,
        )
        told = json.loads(done.stdout.splitlines()[-1])
    assert not told["waiting"], told
    rate: float = told["passages"] / told["seconds"]
    named = f"{engine}, {workers} worker{'s' if workers > 1 else ''}" if engine == "ray" else engine
    print(
        f"{named:<16} {'embedded' if embed else 'words only':<11} {told['passages']:>7,} passages "
        f"{told['seconds']:8.1f} s {rate:8.1f} a second; load {os.getloadavg()[0]:.0f}",
        flush=True,
    )
    return rate


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--passages", type=int, default=20_000)
    parser.add_argument("--embedded", type=int, default=1_000)
    parser.add_argument("--postgres", action="store_true")
    parser.add_argument("--one", nargs=4, help=argparse.SUPPRESS)
    parser.add_argument("--embed", action="store_true", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.one:
        engine, folder, home, url = asked.one
        asyncio.run(add_once(engine, Path(folder), Path(home), url, embed=asked.embed))
        return
    with tempfile.TemporaryDirectory() as folder:
        for embed, count in ((False, asked.passages), (True, asked.embedded)):
            if not count:
                continue
            files = Path(folder) / str(embed)
            write_files(files, make(count, 1).texts)
            plain, *others = [
                measure(engine, workers, files, embed=embed, postgres=asked.postgres)
                for engine, workers in (("add", 1), ("ray", 1), ("ray", 2))
            ]
            ratios = ", ".join(f"{rate / plain:.2f}" for rate in others)
            print(f"ray with one and two workers, of add: {ratios}", flush=True)


if __name__ == "__main__":
    main()
