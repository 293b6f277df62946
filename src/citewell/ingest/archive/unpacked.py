"""What has come out of a container so far, held against the limits of the settings. Every byte is
counted before it is kept, and a limit that is passed refuses the container as a whole.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Final, NamedTuple, NoReturn

from citewell.config import IngestSettings
from citewell.errors import UnreadableFile
from citewell.ingest import PARSERS, PICTURES
from citewell.ingest.archive.member_names import sanitize_name
from citewell.ingest.archive.zip_archive import RATIO_FROM
from citewell.ingest.archive.zip_members import unzip
from citewell.ingest.sniff import sniff
from citewell.messages import Text

DEEPEST: Final = 2  # archives inside archives that are opened
_SHOWN: Final = 5  # names that one warning gives
_INNER: Final = frozenset({".zip"})
_MAIL: Final = ".eml"
_NEVER: Final = frozenset({"thumbs.db", "desktop.ini"})
# turn the direction of writing: exe.txt shown for txt.exe


class Member(NamedTuple):
    """A file that came out of a container. `name` has `/` between folders, and `!/` where an
    archive in it was opened.
    """

    name: str
    data: bytes


@dataclass(slots=True)
class Taken:
    """What has come out of an outermost file of `packed` bytes, and of all that is nested in it."""

    packed: int
    bytes: int = 0
    members: int = 0


class Unpacked:
    """Collects members, and counts them on in `taken`."""

    def __init__(self, name: str, settings: IngestSettings, taken: Taken) -> None:
        self.name = name
        self.settings = settings
        self.taken = taken
        self.members: list[Member] = []
        self.depth = 0
        self._prefix = ""
        self._refused = False  # the container as a whole, not only an archive in it
        self._names: set[str] = set()
        self._unknown: Counter[str] = Counter()
        self._left_out: dict[str, list[str]] = {}

    def is_wanted(self, name: str) -> bool:
        """Whether a file of this name is worth unpacking; others are remembered, unless hidden."""
        path = PurePosixPath(name)
        if any(
            part.startswith(".") or part == "__MACOSX" for part in path.parts
        ) or path.name.startswith("~$"):
            return False
        suffix = path.suffix.lower()
        if path.name.lower() in _NEVER:
            return False
        if suffix in PICTURES and self.settings.ocr == "off":
            return False  # logos and photographs, which nobody asked for
        if not suffix or suffix in PARSERS or suffix in _INNER or suffix == _MAIL:
            return True
        self._unknown[suffix] += 1
        return False

    def count(self, size: int) -> None:
        """Account for bytes that came out. Raises UnreadableFile where there are too many."""
        taken = self.taken
        taken.bytes += size
        if taken.bytes > max(RATIO_FROM, self.settings.max_ratio * taken.packed):
            self._refuse(
                Text(
                    "unpacks to more than {max_ratio:g} times its size, as zip bombs do",
                    max_ratio=self.settings.max_ratio,
                ),
                "max_ratio",
            )
        if taken.bytes > self.settings.max_unpacked:
            self._refuse(
                Text(
                    "unpacks to more than {max_unpacked:,} bytes",
                    max_unpacked=self.settings.max_unpacked,
                ),
                "max_unpacked",
            )

    def offer(self, name: str, data: bytes) -> None:
        """A file and its bytes: counted, then kept, or opened where it is an archive."""
        self.count(len(data))
        name = sanitize_name(name)
        if self.is_wanted(name):
            self.keep(name, data)

    def keep(self, name: str, data: bytes) -> None:
        """Keep a counted file; an archive is opened instead. Raises UnreadableFile for too many."""
        suffix = PurePosixPath(name).suffix.lower()
        if suffix in _INNER:
            self._open_archive(name, data)
        elif not data:
            self.leave_out(Text("empty"), name)
        elif len(data) > self.settings.max_bytes:
            self.leave_out(Text("larger than {most:,} bytes", most=self.settings.max_bytes), name)
        elif not suffix and not _is_readable(data):
            self._unknown["without a suffix"] += 1
        else:
            if self.taken.members >= self.settings.max_members:
                self._refuse(
                    Text(
                        "holds more than {max_members:,} files",
                        max_members=self.settings.max_members,
                    ),
                    "max_members",
                )
            self.taken.members += 1
            self.members.append(Member(self._make_unique_name(self._prefix + name), data))

    def leave_out(self, why: str, name: str) -> None:
        self._left_out.setdefault(why, []).append(self._prefix + name)

    def get_warnings(self) -> list[str]:
        """What was left out, by reason."""
        found: list[str] = [
            Text("left out ({why}): {names}", why=why, names=_format_names(names))
            for why, names in self._left_out.items()
        ]
        if self._unknown:
            kinds = _format_names(
                [f"{kind} ({count})" for kind, count in self._unknown.most_common()]
            )
            found.append(
                Text(
                    "{count} files of unknown kinds left out: {kinds}",
                    count=self._unknown.total(),
                    kinds=kinds,
                )
            )
        return found

    def _refuse(self, why: str, setting: str) -> NoReturn:
        self._refused = True
        raise UnreadableFile(
            Text("{name} {why}", name=self.name, why=why),
            hint=Text(
                "raise ingest.{setting} if it is meant, or add its files themselves",
                setting=setting,
            ),
        )

    def _open_archive(self, name: str, data: bytes) -> None:
        if self.depth >= DEEPEST:
            why = Text("archives inside {deepest} others are not opened", deepest=DEEPEST)
            self.leave_out(why, name)
            return
        before, self._prefix, self.depth = self._prefix, f"{self._prefix}{name}!/", self.depth + 1
        try:
            unzip(data, name, self)
        except UnreadableFile as error:
            if self._refused:
                raise
            self._prefix = before
            self.leave_out(error.message.removeprefix(f"{name} ") or Text("broken"), name)
        self._prefix, self.depth = before, self.depth - 1

    def _make_unique_name(self, name: str) -> str:
        path, number, unique = PurePosixPath(name), 1, name
        while unique in self._names:
            number += 1
            unique = str(path.with_name(f"{path.stem} ({number}){path.suffix}"))
        self._names.add(unique)
        return unique


def _is_readable(data: bytes) -> bool:
    """Whether a file without a suffix is of a kind that we read, or text."""
    kind = sniff(data)
    if kind is not None:
        return bool(kind.suffix)
    head = data[:4096]
    return b"\0" not in head and head.decode("utf-8", "ignore").strip() != ""


def _format_names(names: list[str]) -> str:
    more = len(names) - _SHOWN
    return ", ".join(names[:_SHOWN]) + (f" and {more} more" if more > 0 else "")
