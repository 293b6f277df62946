"""Which files a list of paths means. The one rule: what is named is answered for; what a folder holds is taken if we can.

In a folder, hidden names are left out, links are followed once, and files of unknown kinds are counted, not listed.
"""

from __future__ import annotations

import os
import stat
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from citewell.ingest import PARSERS

NO_WEB = "web addresses cannot be added yet; save the page as a file and add the file"


@dataclass(slots=True)
class Gathered:
    """`failed`: a named path and why it cannot be added. `skipped`: how many files of each unknown suffix folders held."""

    files: list[Path] = field(default_factory=list)
    failed: list[tuple[str, str]] = field(default_factory=list)
    skipped: Counter[str] = field(default_factory=Counter)


def gather(paths: Sequence[str]) -> Gathered:
    """Resolve `paths` into readable files, each once, in a stable order."""
    found = Gathered()
    for path in paths:
        _take(path, found)
    found.files = list(dict.fromkeys(found.files))
    return found


def known(path: Path) -> bool:
    """Whether there is a parser for a file of this name."""
    return path.suffix.lower() in PARSERS


def kinds() -> str:
    """The suffixes that can be added, for messages."""
    return ", ".join(sorted(suffix.lstrip(".") for suffix in PARSERS))


def uri_of(path: Path) -> str:
    """A file's lasting name: its absolute path, with links resolved; bytes that are not UTF-8 are written in hexadecimal."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def _take(named: str, found: Gathered) -> None:
    if "://" in named:
        found.failed.append((named, NO_WEB))
        return
    try:
        path = Path(named).expanduser().resolve()
        mode = path.stat().st_mode
        if stat.S_ISDIR(mode):
            _take_folder(named, path, found)
            return
    except (OSError, RuntimeError, ValueError) as error:
        found.failed.append((named, reason_of(error)))
        return
    if not stat.S_ISREG(mode):
        found.failed.append((named, "not a file or a folder"))
    elif not known(path):
        found.failed.append((named, f"{path.suffix or 'no suffix'}: unknown kind of file; known are {kinds()}"))
    else:
        found.files.append(path)


def _take_folder(named: str, folder: Path, found: Gathered) -> None:
    before = len(found.files)
    for path in _walk(folder, set(), found):
        if known(path):
            found.files.append(path)
        else:
            found.skipped[path.suffix.lower() or "(no suffix)"] += 1
    if len(found.files) == before:
        found.failed.append((named, f"holds no file of a known kind ({kinds()})"))


def _walk(folder: Path, seen: set[tuple[int, int]], found: Gathered) -> Iterator[Path]:
    """Every visible file below `folder`, by name; `seen` (device, inode) breaks loops of links."""
    try:
        status = folder.stat()
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError as error:
        found.failed.append((uri_of(folder), reason_of(error)))
        return
    if (status.st_dev, status.st_ino) in seen:
        return
    seen.add((status.st_dev, status.st_ino))
    for entry in entries:
        if entry.name.startswith("."):
            continue
        try:
            path = Path(entry.path).resolve()
            if entry.is_dir():
                yield from _walk(path, seen, found)
            elif entry.is_file():
                yield path
        except (OSError, RuntimeError):
            continue  # a link that leads to itself


def reason_of(error: Exception) -> str:
    """Why a path cannot be read, in words."""
    if isinstance(error, FileNotFoundError):
        return "no such file or folder"
    if isinstance(error, PermissionError):
        return "no permission to read it"
    return getattr(error, "strerror", None) or str(error)
