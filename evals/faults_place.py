"""A home on a small disk of its own, a real server on it, and what can befall both.

The one rule: what was mounted is unmounted and what was started is ended by its id. Without root
there is no mount: then a full disk is a limit on the size of the server's files, and a disk that is
mounted read-only is not tried.
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from serve_server import Server

MIB = 1 << 20
MOUNT, UMOUNT = (shutil.which(name) or f"/bin/{name}" for name in ("mount", "umount"))
STARTING = 60.0  # seconds that a server has to listen
# the clock of every process of Citewell is `time.time` and what a file says; `datetime.now` is not
# stepped
CLOCK = """
import os, time
file, real, real_ns = os.environ.get("FAULTS_CLOCK", ""), time.time, time.time_ns
kept = [0.0, -1.0]
def step():
    if time.monotonic() - kept[1] > 0.1:
        kept[1] = time.monotonic()
        try:
            with open(file) as said:
                kept[0] = float(said.read())
        except (OSError, ValueError):
            pass
    return kept[0]
if file:
    time.time = lambda: real() + step()
    time.time_ns = lambda: real_ns() + int(step() * 1e9)
"""
# root without this obeys the modes of files, as everybody else does
OBEYING = ("setpriv", "--bounding-set", "-dac_override,-dac_read_search")


class NotStarted(Exception):
    """The server ended before it listened; the message is what it said."""


@dataclass(slots=True)
class Place:
    """`disk` holds the home; everything else lies beside it in `folder`, on another disk."""

    folder: Path
    mounted: bool

    @property
    def disk(self) -> Path:
        return self.folder / "disk"

    @property
    def home(self) -> Path:
        return self.disk / "home"

    @property
    def backups(self) -> Path:
        return self.folder / "backups"

    @property
    def log(self) -> Path:
        return self.folder / "server.log"

    @property
    def filler(self) -> Path:
        return self.disk / "filler"

    def remount(self, how: str) -> bool:
        """`ro` or `rw`; false where somebody has a file of it open to write."""
        done = subprocess.run(
            [MOUNT, "-o", f"remount,{how}", str(self.disk)], check=False, capture_output=True
        )
        return done.returncode == 0

    def fill(self) -> None:
        """Every byte that is left, whoever writes beside."""
        with self.filler.open("ab", buffering=0) as file:
            for size in (MIB, 4096, 1):
                with suppress(OSError):
                    while file.write(bytes(size)) == size:
                        pass

    def free(self) -> None:
        self.filler.unlink(missing_ok=True)

    def step_clock(self, seconds: float) -> None:
        beside = self.folder / "clock.new"
        beside.write_text(str(seconds), "utf-8")
        beside.replace(self.folder / "clock")

    def lock(self, locked: bool) -> None:
        """Takes from the folders of the home, and from its database, the right to be written, or
        gives it back.
        """
        folders = [self.home, self.home / "uploads", self.home / "knowledge"]
        for path in [*folders, *self.home.glob("citewell.db*")]:
            with suppress(FileNotFoundError):
                path.chmod(
                    (0o500 if locked else 0o700)
                    if path in folders
                    else (0o400 if locked else 0o600)
                )


@contextmanager
def place(folder: Path, mib: int) -> Iterator[Place]:
    """A disk of so many MiB; 0: none of its own."""
    made = Place(folder, mib > 0 and os.geteuid() == 0)
    for each in (made.disk, made.backups, folder / "hook"):
        each.mkdir()
    (folder / "hook" / "sitecustomize.py").write_text(CLOCK, "utf-8")
    made.step_clock(0)
    if made.mounted:
        mount = [
            MOUNT,
            "-t",
            "tmpfs",
            "-o",
            f"size={mib}m,mode=700",
            "citewell-faults",
            str(made.disk),
        ]
        made.mounted = subprocess.run(mount, check=False, capture_output=True).returncode == 0
    try:
        yield made
    finally:
        if made.mounted:
            subprocess.run([UMOUNT, "-l", str(made.disk)], check=True)


class Faulty(Server):
    """One server after another on the same home. The log of all of them is one file."""

    def __init__(self, place: Place) -> None:
        Server.__init__(self, home=place.home)
        self.place = place

    def environ(self) -> dict[str, str]:
        kept = {
            name: value for name, value in os.environ.items() if not name.startswith("CITEWELL_")
        }
        paths = [str(self.place.folder / "hook"), *filter(None, [kept.get("PYTHONPATH")])]
        many = {f"CITEWELL_ACCESS__{name}_A_MINUTE": "1000000" for name in ("REQUESTS", "TRIES")}
        models = {
            "CITEWELL_LLM": "none",
            "CITEWELL_READER": "scripted",
            "CITEWELL_EMBEDDER": "scripted",
        }
        places = {
            "CITEWELL_HOME": str(self.home),
            "CITEWELL_CACHE": str(self.place.folder / "cache"),
        }
        clock = {
            "FAULTS_CLOCK": str(self.place.folder / "clock"),
            "PYTHONPATH": os.pathsep.join(paths),
        }
        return kept | many | models | places | clock

    def command(self, *words: str) -> list[str]:
        obeying = OBEYING if os.geteuid() == 0 and shutil.which("setpriv") else ()
        return [*obeying, sys.executable, "-W", "ignore", "-m", "citewell", *words]

    def run(self, *words: str, home: Path | None = None) -> tuple[int, str]:
        """A command of Citewell to its end: the exit code, and all that it said."""
        environ = self.environ() | ({"CITEWELL_HOME": str(home)} if home else {})
        done = subprocess.run(
            self.command(*words),
            env=environ,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        return done.returncode, done.stdout + done.stderr

    def start(self) -> None:
        """Raises NotStarted."""
        began, said = (
            time.monotonic(),
            self.place.log.stat().st_size if self.place.log.exists() else 0,
        )
        with self.place.log.open("ab") as log:
            command = self.command("serve", "--port", "0", "--json")
            self.process = subprocess.Popen(
                command, env=self.environ(), stdout=subprocess.PIPE, stderr=log, text=True
            )
        assert self.process.stdout is not None
        text = ""
        while not text.endswith("}\n") or "url" not in _object(text):
            line = self.process.stdout.readline()
            text += line
            if not line or time.monotonic() > began + STARTING:
                self.stop(signal.SIGKILL)
                raise NotStarted(
                    text + self.place.log.read_bytes()[said:].decode("utf-8", "replace")
                )
        self.url = _object(text)["url"]

    @property
    def alive(self) -> bool:
        return self.process is not None and self.process.poll() is None

    def limit_files(self, limit: int) -> None:
        """The size that a file of the server may have: the full disk of those who cannot mount."""
        resource.prlimit(self.pid, resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))


def _object(text: str) -> dict[str, str]:
    try:
        found = json.loads(text)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def flipped(data: bytes, places: Sequence[int]) -> bytes:
    """With one bit of each of these bytes turned round."""
    changed = bytearray(data)
    for each in places:
        changed[each] ^= 1 << (each % 8)
    return bytes(changed)
