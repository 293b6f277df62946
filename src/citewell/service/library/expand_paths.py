"""Which files a list of paths means, addresses of web pages and buckets among them. What is named
is answered for; what a folder or a bucket holds is taken if we can.

In a folder, hidden names are left out, and files of unknown kinds are counted, not listed. A link
that stays in the folder is followed once; one that leads out of it is not, unless that is wanted,
and is told of.
"""

from __future__ import annotations

import os
import stat
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePath

from citewell.errors import CitewellError, InvalidInput
from citewell.fetch.urls import canonicalize_url
from citewell.ingest import PARSERS, PICTURES
from citewell.ingest.archive.unpack import CONTAINERS
from citewell.messages import Text
from citewell.store.library.object_store import KINDS, Bucket


@dataclass(frozen=True, slots=True)
class Found:
    """A file, a web address (`url`, in its canonical form), or what is named and cannot be added
    and why (`reason`). `size` in bytes, as the folder says. `in_bucket`: the file is the object at
    `uri`.
    """

    uri: str
    path: Path | None = None
    size: int = 0
    reason: str = ""
    url: str = ""
    in_bucket: bool = False


@dataclass(slots=True)
class Gathered:
    """What the paths mean, in their order. `skipped`: how many files of each unknown suffix folders
    held. `links`: those that lead out of their folder, and were not followed.
    """

    found: list[Found] = field(default_factory=list)
    skipped: Counter[str] = field(default_factory=Counter)
    links: list[str] = field(default_factory=list)

    @property
    def files(self) -> list[Path]:
        return [each.path for each in self.found if each.path is not None]

    @property
    def failed(self) -> list[tuple[str, str]]:
        return [(each.uri, each.reason) for each in self.found if each.reason]

    def take(self, path: Path, size: int) -> None:
        self.found.append(Found(to_uri(path), path, size))

    def fail(self, named: str, reason: str) -> None:
        self.found.append(Found(named, reason=reason))


def gather_files(paths: Sequence[str], *, pictures: bool = False, links: bool = False) -> Gathered:
    """Resolve `paths` into readable files, each once, in a stable order. `pictures`: whether a
    folder's are wanted too. `links`: whether what its links lead to elsewhere is.
    """
    found = Gathered()
    for path in paths:
        _gather_path(path, found, pictures, links)
    first = {each.path or each.uri: each for each in reversed(found.found)}
    found.found = [each for each in found.found if first[each.path or each.uri] is each]
    return found


def is_known_type(path: PurePath, *, pictures: bool = True) -> bool:
    """Whether there is a parser for a file of this name, or it holds files."""
    suffix = path.suffix.lower()
    return (suffix in PARSERS and (pictures or suffix not in PICTURES)) or suffix in CONTAINERS


def to_uri(path: Path) -> str:
    """A file's lasting name: its absolute path, links resolved, odd bytes in hexadecimal."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def to_display_name(path: Path) -> str:
    """A file's name for people: one whose bytes are not UTF-8 comes from an older Chinese system,
    or is written as `to_uri`.
    """
    data = os.fsencode(path.name)
    for encoding in ("utf-8", "gb18030"):
        try:
            return data.decode(encoding)
        except UnicodeDecodeError:
            continue
    return data.decode("utf-8", "backslashreplace")


def _gather_path(named: str, found: Gathered, pictures: bool, links: bool) -> None:
    if named.partition("://")[0] in KINDS:
        _gather_bucket(named, found, pictures)
        return
    if "://" in named:
        _gather_address(named, found)
        return
    try:
        path = Path(named).expanduser().resolve()
        status = path.stat()
    except (OSError, RuntimeError, ValueError) as error:
        found.fail(named, describe_path_error(error))
        return
    if stat.S_ISDIR(status.st_mode):
        _gather_folder(named, path, found, pictures, links)
    elif not stat.S_ISREG(status.st_mode):
        found.fail(named, Text("not a file or a folder"))
    elif path.suffix and not is_known_type(path):
        found.fail(
            named,
            Text(
                "{suffix}: unknown kind of file; save it as PDF, Word, HTML or text "
                "(docs/formats.md lists the kinds)",
                suffix=path.suffix,
            ),
        )
    else:
        found.take(path, status.st_size)


def _gather_address(named: str, found: Gathered) -> None:
    try:
        url = canonicalize_url(named)
    except InvalidInput as error:
        found.fail(named, Text("{message}; {hint}", message=error.message, hint=error.hint))
        return
    found.found.append(Found(url, url=url))


def _gather_bucket(named: str, found: Gathered, pictures: bool) -> None:
    before = len(found.found)
    try:
        for uri, size in Bucket(named).list_objects():
            path = PurePath(uri)
            if is_known_type(path, pictures=pictures):
                found.found.append(Found(uri, size=size, in_bucket=True))
            else:
                found.skipped[path.suffix.lower() or "(no suffix)"] += 1
    except CitewellError as error:
        found.fail(named, Text("{message}; {hint}", message=error.message, hint=error.hint))
        return
    if len(found.found) == before:
        _note_empty(named, found, pictures)


def _gather_folder(named: str, folder: Path, found: Gathered, pictures: bool, links: bool) -> None:
    before = len(found.found)
    for path, size in walk_folder(folder, found, links):
        if is_known_type(path, pictures=pictures):
            found.take(path, size)
        else:
            found.skipped[path.suffix.lower() or "(no suffix)"] += 1
    if len(found.found) == before:
        _note_empty(named, found, pictures)


def _note_empty(named: str, found: Gathered, pictures: bool) -> None:
    passed_over = not pictures and any(suffix in PICTURES for suffix in found.skipped)
    hint = Text('; its pictures are read with ingest.ocr = "auto"') if passed_over else ""
    found.fail(
        named,
        Text("holds no file of a known kind (docs/formats.md lists them){hint}", hint=hint),
    )


def walk_folder(top: Path, found: Gathered, links: bool) -> Iterator[tuple[Path, int]]:
    """Every visible file below `top`, its size, by name; without recursion: folders nest deep."""
    seen: set[tuple[int, int]] = set()  # (device, inode): breaks loops of links
    # the next one last; a size says that it is a file
    todo: list[tuple[Path, int | None]] = [(top, None)]
    while todo:
        path, size = todo.pop()
        if size is not None:
            yield path, size
            continue
        try:
            status = path.stat()
            if (status.st_dev, status.st_ino) in seen:
                continue
            seen.add((status.st_dev, status.st_ino))
            with os.scandir(path) as entries:
                todo += reversed(
                    [
                        (to, size)
                        for entry in sorted(entries, key=lambda entry: entry.name)
                        for to, size in _resolve_entry(path, entry)
                        if links
                        or not entry.is_symlink()
                        or _is_inside(to, top, to_uri(path / entry.name), found)
                    ]
                )
        except OSError as error:
            found.fail(to_uri(path), describe_path_error(error))


def _resolve_entry(folder: Path, entry: os.DirEntry[str]) -> list[tuple[Path, int | None]]:
    """What an entry of a folder leads to: a folder, a file with its size, or nothing."""
    if entry.name.startswith("."):
        return []
    try:
        path = Path(entry.path).resolve() if entry.is_symlink() else folder / entry.name
        if entry.is_dir():
            return [(path, None)]
        return [(path, entry.stat().st_size)] if entry.is_file() else []
    except (OSError, RuntimeError):
        return []  # a link that leads to itself or to nothing


def _is_inside(to: Path, top: Path, link: str, found: Gathered) -> bool:
    if to.is_relative_to(top):
        return True
    found.links.append(link)
    return False


def describe_path_error(error: Exception) -> str:
    """Why a path cannot be read, in words."""
    if isinstance(error, FileNotFoundError):
        return Text("no such file or folder")
    if isinstance(error, PermissionError):
        return Text("no permission to read it")
    return getattr(error, "strerror", None) or str(error)
