"""A pack of Git's looked through before a library unpacks it. Nothing of it is kept in memory, so
that a small pack that unpacks to much costs time only until the limit is reached. The format:
Documentation/gitformat-pack of Git.
"""

from __future__ import annotations

import zlib
from typing import BinaryIO, Final

from citewell.errors import UnreadableFile
from citewell.messages import Text

_PIECE: Final = 1 << 16
_OFFSET_DELTA, _REFERENCE_DELTA = 6, 7
_HASH: Final = 20  # bytes of SHA-1


def check_pack(pack: BinaryIO, *, most: int, in_all: int) -> None:
    """Raises UnreadableFile where it is no pack, an object is larger than `most` bytes, or all are
    larger than `in_all` together.
    """
    pack.seek(0)
    reader = _Reader(pack)
    head = reader.take(12)
    if head[:4] != b"PACK" or len(head) < 12:
        raise _make_pack_error()
    left = in_all
    for _ in range(int.from_bytes(head[8:12])):
        left -= _check_object(reader, min(most, left))
    if left < 0:
        raise _make_size_error(in_all)


def _check_object(reader: _Reader, most: int) -> int:
    """The bytes that it has, unpacked."""
    first = reader.take_byte()
    kind, size = first >> 4 & 7, first & 15
    shift = 4
    while first & 128 and shift < 64:
        first = reader.take_byte()
        size |= (first & 127) << shift
        shift += 7
    if kind == _REFERENCE_DELTA:
        reader.take(_HASH)
    elif kind == _OFFSET_DELTA:
        while reader.take_byte() & 128:
            continue
    if size > most:
        raise _make_size_error(most)
    start = reader.skip_packed(size)
    if kind in {_REFERENCE_DELTA, _OFFSET_DELTA}:
        size = _read_result_size(start)
        if size > most:
            raise _make_size_error(most)
    return size


def _read_result_size(delta: bytes) -> int:
    """What a delta makes: the second of the two numbers that it begins with."""
    at = size = 0
    for _ in range(2):
        size = shift = 0
        while at < len(delta):
            byte = delta[at]
            size |= (byte & 127) << shift
            shift, at = shift + 7, at + 1
            if not byte & 128:
                break
    return size


class _Reader:
    """Bytes in order, some of which zlib gives back."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._held = b""

    def take(self, count: int) -> bytes:
        if len(self._held) < count:
            self._held += self._file.read(_PIECE)
        taken, self._held = self._held[:count], self._held[count:]
        return taken

    def take_byte(self) -> int:
        one = self.take(1)
        if not one:
            raise _make_pack_error()
        return one[0]

    def skip_packed(self, size: int) -> bytes:
        """The first unpacked bytes. Raises UnreadableFile where it is not `size` bytes long."""
        unpacker, start, done = zlib.decompressobj(), b"", 0
        try:
            while not unpacker.eof:
                data = unpacker.unconsumed_tail or self.take(_PIECE)
                part = unpacker.decompress(data, _PIECE)
                start = start or part[:32]
                done += len(part)
                if done > size or not (data or part):
                    raise _make_pack_error()
        except zlib.error:
            raise _make_pack_error() from None
        self._held = unpacker.unused_data + self._held
        if done != size:
            raise _make_pack_error()
        return start


def _make_pack_error() -> UnreadableFile:
    return UnreadableFile(Text("what the Git server sent is broken"))


def _make_size_error(most: int) -> UnreadableFile:
    return UnreadableFile(
        Text("the repository holds more than {most:,} bytes in one file or in all", most=most),
        hint=Text("settings ingest.max_bytes and sync.max_bytes say how much is allowed"),
    )
