"""The files of a ZIP archive, unpacked one after the other under the limits of a receiver. Nothing
is read whole; a file comes out in pieces, and the piece that passes a limit is the last.
"""

from __future__ import annotations

import stat
import zipfile
from typing import Final, Protocol

from citewell.config import IngestSettings
from citewell.errors import UnreadableFile
from citewell.ingest.archive.member_names import sanitize_name
from citewell.ingest.archive.zip_archive import BROKEN, COUNTABLE, open_zip
from citewell.messages import Text
from citewell.text.charset import guess_filename_encoding

_PIECE: Final = 1 << 20
_UTF8: Final = 0x800
_ENCRYPTED: Final = 0x1


class Receiver(Protocol):
    """What the files are put into (`Unpacked`): it says what is wanted, and holds the limits."""

    @property
    def settings(self) -> IngestSettings: ...

    def is_wanted(self, name: str) -> bool: ...

    def leave_out(self, why: str, name: str) -> None: ...

    def keep(self, name: str, data: bytes) -> None: ...

    def count(self, size: int) -> None:
        """Raises UnreadableFile where it is too much."""
        ...


def unzip(data: bytes, name: str, into: Receiver) -> None:
    """Put an archive's files into `into`. Raises UnreadableFile (broken, or wholly encrypted)."""
    with open_zip(data, name) as archive:
        entries = [entry for entry in archive.infolist() if not entry.is_dir()]
        if entries and all(entry.flag_bits & _ENCRYPTED for entry in entries):
            hint = Text("unpack it and add its files themselves")
            raise UnreadableFile(Text("{name} is protected by a password", name=name), hint=hint)
        encoding = _detect_encoding(entries)
        for entry in entries:
            _unpack_entry(archive, entry, sanitize_name(_decode_name(entry, encoding)), into)


def _unpack_entry(
    archive: zipfile.ZipFile, entry: zipfile.ZipInfo, name: str, into: Receiver
) -> None:
    if not into.is_wanted(name):
        return
    if entry.flag_bits & _ENCRYPTED:
        into.leave_out(Text("protected by a password"), name)
    elif stat.S_ISLNK(entry.external_attr >> 16):
        into.leave_out(Text("a link"), name)
    elif entry.compress_type not in COUNTABLE:
        why = Text("packed in a way that cannot be unpacked piece by piece")
        into.leave_out(why, name)
    elif (content := _read_entry(archive, entry, name, into)) is not None:
        into.keep(name, content)


def _read_entry(
    archive: zipfile.ZipFile, entry: zipfile.ZipInfo, name: str, into: Receiver
) -> bytes | None:
    """The bytes of a file, counted as they come out; None where they are broken or too many."""
    pieces: list[bytes] = []
    size = 0
    try:
        with archive.open(entry) as source:
            while piece := source.read(_PIECE):
                into.count(len(piece))
                size += len(piece)
                pieces.append(piece)
                if size > into.settings.max_bytes:
                    into.leave_out(
                        Text("larger than {most:,} bytes", most=into.settings.max_bytes), name
                    )
                    return None
    except BROKEN:
        into.leave_out(Text("broken"), name)
        return None
    return b"".join(pieces)


def _decode_name(entry: zipfile.ZipInfo, encoding: str) -> str:
    """The name of a file. Without the UTF-8 flag zipfile takes it for cp437, mostly wrongly."""
    if entry.flag_bits & _UTF8:
        return entry.filename
    return (
        entry.orig_filename.encode("cp437").decode(encoding, errors="replace")
        if encoding != "cp437"
        else entry.filename
    )


def _detect_encoding(entries: list[zipfile.ZipInfo]) -> str:
    """The encoding of the names without the UTF-8 flag, the same for all of one archive."""
    raw = b"\n".join(
        entry.orig_filename.encode("cp437") for entry in entries if not entry.flag_bits & _UTF8
    )
    if raw.isascii():
        return "cp437"
    try:
        raw.decode("utf-8")
    except UnicodeDecodeError:
        return guess_filename_encoding(raw) or "cp437"
    return "utf-8"
