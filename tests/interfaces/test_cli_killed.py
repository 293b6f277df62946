"""`citewell add` as its own process, stopped by Ctrl-C and by kill -9, while it reads and while it
embeds.

The one rule: a test waits until the database shows that part of the work is done, and only then
kills.
"""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.interfaces.serving import is_sound, read_rows
from tests.servers.forked import Forked, run_forked

from citewell.config import Settings

FILES = 100
MEMBERS = 20

# the command line with an embedder that takes its time and writes down every text it is asked for
DRIVER = """
import asyncio, json, sys
from citewell.interfaces.cli import main
from citewell.models.scripted import ScriptedEmbedder

whole = ScriptedEmbedder.passages
async def passages(self, texts):
    await asyncio.sleep({wait})
    vectors = await whole(self, texts)
    with open({log!r}, "a", encoding="utf-8") as log:
        log.writelines(json.dumps(text) + "\\n" for text in texts)
    return vectors
ScriptedEmbedder.passages = passages
main()
"""


@pytest.fixture
def library(tmp_path: Path) -> Path:
    """Files of one passage each, all different."""
    folder = tmp_path / "library"
    folder.mkdir()
    for number in range(FILES):
        text = f"# Note {number}\n\nThe lighthouse number {number} was built in {1000 + number}.\n"
        (folder / f"{number:03}.md").write_text(text, "utf-8")
    return folder


def command(log: Path, *arguments: str, wait: float = 0.0) -> list[str]:
    return [sys.executable, "-c", DRIVER.format(log=str(log), wait=wait), *arguments]


def shown(log: Path, environ: dict[str, str], *arguments: str) -> Any:
    """What a command that ends well prints with `--json`."""
    done = run_forked(command(log, *arguments, "--json"), environ, check=True)
    return json.loads(done.stdout)


def count(settings: Settings, what: str) -> int:
    """Rows that other processes would see now."""
    return sum(row[0] for row in read_rows(settings, f"SELECT count(*) FROM {what}"))


@contextmanager
def running(arguments: list[str], environ: dict[str, str]) -> Iterator[subprocess.Popen[bytes]]:
    with Forked(
        arguments, env=environ, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def stop(
    process: subprocess.Popen[bytes], how: signal.Signals, reached: Callable[[], bool]
) -> None:
    """Kill it as soon as `reached`; it must still be at work then."""
    deadline = time.monotonic() + 120
    while not reached():
        assert process.poll() is None, "it ended before it could be killed"
        assert time.monotonic() < deadline
        time.sleep(0.005)
    process.send_signal(how)
    assert process.wait(120) == (130 if how is signal.SIGINT else -signal.SIGKILL)
    assert process.stderr is not None
    said = process.stderr.read()
    assert how is signal.SIGKILL or b"stopped" in said
    assert b"Traceback" not in said


def sound(log: Path, environ: dict[str, str]) -> None:
    checks = {
        check["name"]: check["state"] for check in shown(log, environ, "doctor", "--fast")["checks"]
    }
    assert (checks["database"], checks["embeddings"]) == ("ok", "ok")


def test_stopped_while_it_reads(
    environ: dict[str, str], settings: Settings, library: Path, tmp_path: Path
) -> None:
    """Some documents are in, each of them whole, nothing else is there, and a second run adds
    exactly the others.
    """
    log = tmp_path / "log"
    with running(command(log, "add", str(library)), environ) as process:
        stop(process, signal.SIGINT, lambda: count(settings, "documents") >= 3)
    before = shown(log, environ, "list")["documents"]
    assert 0 < len(before) < FILES
    assert all(document["chunks"] == 1 for document in before)
    assert (
        count(settings, "words")
        == count(settings, "chunks")
        == count(settings, "files")
        == len(before)
    )
    statuses = [file["status"] for file in shown(log, environ, "add", str(library))["files"]]
    assert statuses.count("unchanged") == len(before)
    assert statuses.count("added") == FILES - len(before)
    sound(log, environ)


def test_killed_while_it_embeds(
    environ: dict[str, str], settings: Settings, library: Path, tmp_path: Path
) -> None:
    """All documents are in and some have their vectors: the next run embeds the others, none of
    them twice.
    """
    log, later = tmp_path / "log", tmp_path / "later"
    with running(command(log, "add", str(library), wait=1.5), environ) as process:
        stop(
            process,
            signal.SIGKILL,
            lambda: count(settings, "documents") == FILES and count(settings, "vectors") > 0,
        )
    collections = shown(log, environ, "list")["collections"]
    assert [each["documents"] for each in collections] == [FILES]
    embedded = collections[0]["embedded"]
    assert 0 < embedded < FILES
    assert {file["status"] for file in shown(later, environ, "add", str(library))["files"]} == {
        "unchanged"
    }
    asked = later.read_text("utf-8").splitlines()
    assert len(asked) == len(set(asked)) == FILES - embedded
    assert count(settings, "vectors") == FILES
    sound(later, environ)


def test_killed_again_and_again(
    environ: dict[str, str], settings: Settings, library: Path, tmp_path: Path
) -> None:
    """kill -9 at any moment: what is there is whole each time, the same command goes on, and in the
    end all is there once.
    """
    log, moment = tmp_path / "log", random.Random(7)
    archive(library)
    for _ in range(4):
        with running(command(log, "add", str(library), wait=0.05), environ) as process:
            time.sleep(0.6 + moment.random() * 1.5)
            process.kill()
            process.wait(120)
        whole(settings)
    files = shown(log, environ, "add", str(library))["files"]
    assert len(files) == FILES + MEMBERS
    assert {file["status"] for file in files} <= {"added", "unchanged"}
    assert count(settings, "documents") == count(settings, "vectors") == FILES + MEMBERS
    whole(settings)
    sound(log, environ)


def archive(library: Path) -> None:
    with zipfile.ZipFile(library / "more.zip", "w") as target:
        for number in range(MEMBERS):
            target.writestr(
                f"{number}.md", f"# More {number}\n\nThe harbour number {number} is deep.\n"
            )


def whole(settings: Settings) -> None:
    """Every document has its chunk, its words and its bytes, and nothing is there without its
    document.
    """
    if not count(settings, "documents"):
        return
    assert is_sound(settings)
    lonely = (
        "SELECT count(*) FROM documents d WHERE (SELECT count(*) FROM chunks WHERE doc = "
        "d.doc_id) <> 1"
    )
    assert read_rows(settings, lonely) == [(0,)]
    vectors = (
        "SELECT count(*) FROM chunks c WHERE (embedder <> '') <> EXISTS (SELECT 1 FROM "
        "vectors WHERE chunk = c.id)"
    )
    assert read_rows(settings, vectors) == [(0,)]
    assert (
        count(settings, "words")
        == count(settings, "chunks")
        == count(settings, "files")
        == count(settings, "documents")
    )
