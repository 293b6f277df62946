"""`citewell add --engine ray` on a real cluster: two nodes on the loopback, one core each. The
command runs as a process of its own, and is killed.
"""

from __future__ import annotations

import asyncio
import json
import os
import secrets
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from pydantic import SecretStr
from sqlalchemy import Connection, func, select
from tests.conftest import REPOSITORY
from tests.service.bucket import fill_bucket, serve_bucket

from citewell.config import Settings
from citewell.runtime.app import App
from citewell.service.library.read_and_embed import ingest_paths
from citewell.store.index.protocol import Filter
from citewell.store.schema.library import chunks, documents, vectors

pytest.importorskip("ray", reason="the extra `ray` is not installed")
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="kills processes by /proc")
Adding = subprocess.Popen[str]
ANY = Filter()
OTHER = {"database_url": SecretStr("")}  # what is compared with is a file of SQLite
FILES = 400
WAIT = 300.0  # seconds; Ray takes a minute to start where many others use the cores
CLUSTER = """
import sys
from ray.cluster_utils import Cluster
cluster = Cluster(initialize_head=True, head_node_args=dict(
    num_cpus=1, object_store_memory=200_000_000, include_dashboard=False))
cluster.add_node(num_cpus=1, object_store_memory=200_000_000)
print(cluster.address, flush=True)
sys.stdin.read()
cluster.shutdown()
"""


@pytest.fixture(scope="module")
def environment() -> Iterator[dict[str, str]]:
    """That of a command which finds the cluster, and a bucket with the sample library."""
    with (
        serve_bucket() as (_, bucket),
        tempfile.TemporaryDirectory(prefix="ray-", ignore_cleanup_errors=True) as folder,
        tempfile.TemporaryFile("w+") as errors,
    ):
        environment = {
            **os.environ,
            **bucket,
            "RAY_AUTH_MODE": "token",
            "RAY_AUTH_TOKEN": secrets.token_hex(32),
            "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",  # on the loopback
            "RAY_TMPDIR": folder,
            "RAY_USAGE_STATS_ENABLED": "0",
            "PYTHONPATH": os.pathsep.join([str(REPOSITORY / "src"), *sys.path[1:]]),
            "CITEWELL_EMBEDDER": "scripted",
            "CITEWELL_LLM": "none",
            "CITEWELL_READER": "none",
        }
        fill_bucket(bucket, REPOSITORY / "samples/library", "samples/")
        with subprocess.Popen(
            [sys.executable, "-c", CLUSTER],
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
        ) as process:
            assert process.stdout is not None
            address = next((line for line in process.stdout if ":" in line and " " not in line), "")
            if not address:
                errors.seek(0)
                pytest.fail(errors.read()[-2000:])
            own = {"RAY_ADDRESS": address.strip(), "PARENT": str(process.pid)}
            yield {**environment, **own}
            process.communicate()


def start_adding(environment: dict[str, str], settings: Settings, *paths: str) -> Adding:
    command = [sys.executable, "-m", "citewell", "add", "--engine", "ray", "--json", *paths]
    own = {
        "CITEWELL_HOME": str(settings.home),
        "CITEWELL_DATABASE_URL": settings.database_url.get_secret_value(),
    }
    pipe = subprocess.PIPE
    return subprocess.Popen(
        command, env={**environment, **own}, stdout=pipe, stderr=pipe, text=True
    )


def finish(adding: Adding) -> dict[str, str]:
    """Statuses by path."""
    out, told = adding.communicate(timeout=WAIT)
    assert out, told
    return {file["path"]: file["status"] for file in json.loads(out)["files"]}


def list_kept(connection: Connection) -> list[tuple[object, ...]]:
    """Addresses, passages, and their vectors."""
    query = (
        select(documents.c.uri, chunks.c.ordinal, chunks.c.text, chunks.c.tokens, vectors.c.vec)
        .join_from(documents, chunks, chunks.c.doc == documents.c.doc_id)
        .join(vectors, vectors.c.chunk == chunks.c.id, isouter=True)
        .order_by(documents.c.uri, chunks.c.ordinal)
    )
    return [tuple(row) for row in connection.execute(query)]


def count_documents(connection: Connection) -> int:
    return int(connection.execute(select(func.count()).select_from(documents)).scalar_one())


async def wait_until_some_are_kept(app: App, adding: Adding) -> None:
    deadline = time.monotonic() + WAIT
    while not await app.db.read(count_documents):
        assert adding.poll() is None, adding.communicate()
        assert time.monotonic() < deadline
        await asyncio.sleep(0.05)


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    """A folder of many small files."""
    folder = tmp_path / "notes"
    folder.mkdir()
    for n in range(FILES):
        text = "".join(f"# Part {part}\n\nLamp {n} burns {part} hours.\n\n" for part in range(5))
        (folder / f"{n:03}.md").write_text(text, "utf-8")
    return folder


async def check_complete(app: App, statuses: dict[str, str], notes: Path) -> None:
    """Every file is reported, and kept once with the passages and vectors that `add` gives it."""
    assert len(statuses) == FILES
    kept = await app.db.read(list_kept)
    one = app.settings.model_copy(update=OTHER | {"home": app.settings.home.parent / "one"})
    async with App(one) as other:
        await ingest_paths(other, [str(notes)], "default")
        assert kept == await other.db.read(list_kept)


async def test_the_same_as_add(environment: dict[str, str], app: App, tmp_path: Path) -> None:
    """Of a folder and of a bucket, with a file that is broken: passages, vectors, and what is
    found by words. The same again is unchanged.
    """
    broken = tmp_path / "broken.pdf"
    broken.write_bytes(b"%PDF-1.7\nnot really")
    paths = [str(REPOSITORY / "samples/library"), "s3://files/samples", str(broken)]
    first = finish(start_adding(environment, app.settings, *paths))
    with pytest.MonkeyPatch.context() as patch:
        for name in environment.keys() - os.environ.keys():
            if name.startswith("AWS_"):
                patch.setenv(name, environment[name])
        async with App(app.settings.model_copy(update=OTHER | {"home": tmp_path / "one"})) as other:
            report = (await ingest_paths(other, paths, "default")).report
            assert first == {file.path: file.status for file in report.files}
            kept = await app.db.read(list_kept)
            assert kept == await other.db.read(list_kept)
            assert all(row[-1] is not None for row in kept)
            for question in ("warranty of the battery", "无理由退货"):
                found = [await each.index.search_words(question, 10, ANY) for each in (app, other)]
                texts = [
                    sorted(hit.text for hit in await each.index.hits([n for n, _ in hits]))
                    for each, hits in zip((app, other), found, strict=True)
                ]
                assert texts[0] == texts[1] != []
    again = finish(start_adding(environment, app.settings, *paths))
    assert sorted(again.values()) == ["failed"] + ["unchanged"] * (len(first) - 1)


async def test_killed_in_the_middle(environment: dict[str, str], app: App, notes: Path) -> None:
    """The command dies (-9): whole documents are there. Run again, it goes on; while it does, the
    processes of the cluster's tasks die, which costs nothing.
    """
    adding = start_adding(environment, app.settings, str(notes))
    await wait_until_some_are_kept(app, adding)
    adding.kill()
    adding.communicate()
    before = await app.db.read(count_documents)
    assert 0 < before < FILES
    adding = start_adding(environment, app.settings, str(notes))
    killed = await kill_tasks(int(environment["PARENT"]), adding)
    assert killed
    statuses = finish(adding)
    # what was under way when it was killed may have been kept after it was counted
    assert before <= list(statuses.values()).count("unchanged") < FILES
    assert set(statuses.values()) == {"unchanged", "added"}
    await check_complete(app, statuses, notes)


async def kill_tasks(parent: int, adding: Adding) -> list[int]:
    """End (-9) what works on files for the first time in this cluster."""
    deadline = time.monotonic() + WAIT
    while time.monotonic() < deadline:
        assert adding.poll() is None, adding.communicate()
        if tasks := [pid for pid in list_tasks() if is_below(pid, parent)]:
            for pid in tasks:
                os.kill(pid, signal.SIGKILL)
            return tasks
        await asyncio.sleep(0.02)
    return []


def list_tasks() -> list[int]:
    """Processes that run one of our stages just now: Ray names them so."""
    found = []
    for folder in Path("/proc").iterdir():
        with suppress(OSError):
            if folder.name.isdigit() and (folder / "cmdline").read_bytes().startswith(b"ray::Map"):
                found.append(int(folder.name))
    return found


def is_below(pid: int, parent: int) -> bool:
    while pid > 1:
        try:
            stat = (Path("/proc") / str(pid) / "stat").read_text("utf-8", "replace")
        except OSError:
            return False
        pid = int(stat.rpartition(")")[2].split()[1])
        if pid == parent:
            return True
    return False
