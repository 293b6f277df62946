"""Old Office files (.doc, .xls, .ppt), and new ones under a password: both are OLE containers.
Which of them a file is, is told by the streams it holds, whose names stand in it as UTF-16.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Final

from citewell.errors import UnreadableFile
from citewell.messages import Text

MAGIC: Final = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_HEADER: Final = 512  # bytes
_RESERVED: Final = 0xFFFFFFFA  # sector numbers from here on mean something else, such as the end
_STREAMS: Final = (
    ("EncryptedPackage", "protected"),
    ("WordDocument", ".doc"),
    ("PowerPoint Document", ".ppt"),
    ("Workbook", ".xls"),
    ("Book", ".xls"),  # before Excel 97
    ("__properties_version1.0", ".msg"),
)
_WORDS: Final = {
    "protected": Text("an Office document protected by a password"),
    ".doc": Text("an old Word document (.doc)"),
    ".ppt": Text("an old PowerPoint presentation (.ppt)"),
    ".xls": Text("an old Excel workbook (.xls)"),
    ".msg": Text("a message saved by Outlook (.msg)"),
    "": Text("an OLE container of no known kind"),
}
_HINTS: Final = {
    "protected": Text("save it without a password and add it again"),
    ".doc": Text("save it as .docx and add it again"),
    ".ppt": Text("save it as .pptx and add it again"),
    ".msg": Text("save it as .eml and add it again"),
}


def detect_ole_kind(data: bytes) -> str:
    """`protected`, `.doc`, `.ppt`, `.xls`, `.msg`, or nothing where no stream tells."""
    return next((kind for stream, kind in _STREAMS if stream.encode("utf-16-le") in data), "")


def describe_container(data: bytes) -> tuple[str, str]:
    """What to call an OLE container in a message, and what can be done about it."""
    kind = detect_ole_kind(data)
    return _WORDS[kind], _HINTS.get(kind, "")


def make_container_error(data: bytes, name: str) -> UnreadableFile:
    """Why an OLE container cannot be read as the zip archive that its name promises."""
    said, hint = describe_container(data)
    return UnreadableFile(
        Text("{name} is {said}", name=name, said=said),
        hint=hint or Text("save it in today's format and add it again"),
    )


def has_sector_cycle(data: bytes) -> bool:
    """Whether a chain of sectors leads back into itself, which would fill a reader's memory."""
    if len(data) < _HEADER:
        return True
    size = 1 << min(struct.unpack_from("<H", data, 30)[0], 16)
    first_small, first_more = (
        struct.unpack_from("<I", data, 60)[0],
        struct.unpack_from("<I", data, 68)[0],
    )
    listed = list(struct.unpack_from("<109I", data, 76))
    seen: set[int] = set()
    # the list of the table's own sectors goes on in sectors of its own
    while first_more < _RESERVED:
        numbers = _read_sector(data, first_more, size)
        if first_more in seen or not numbers:
            return first_more in seen
        seen.add(first_more)
        listed += numbers[:-1]
        first_more = numbers[-1]
    table = [
        number
        for sector in listed
        if sector < _RESERVED
        for number in _read_sector(data, sector, size)
    ]
    if _has_cycle(table):
        return True
    small: list[int] = []
    while first_small < len(table):
        small += _read_sector(data, first_small, size)
        first_small = table[first_small]
    return _has_cycle(small)


def _read_sector(data: bytes, number: int, size: int) -> tuple[int, ...]:
    """The numbers in a sector; none where it lies outside of the file."""
    start = (number + 1) * size
    return struct.unpack_from(f"<{size // 4}I", data, start) if start + size <= len(data) else ()


def _has_cycle(following: Sequence[int]) -> bool:
    """Whether following the numbers from any place leads back to a place passed before."""
    passed = [0] * len(following)  # 0: never; else the walk that passed here
    for walk, start in enumerate(range(len(following)), start=1):
        at = start
        while at < len(following) and not passed[at]:
            passed[at] = walk
            at = following[at]
        if at < len(following) and passed[at] == walk and following[start] < _RESERVED:
            return True
    return False
