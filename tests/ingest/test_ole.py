"""Old Office files: which are read, which are refused, and why."""

from __future__ import annotations

import struct

import pytest

from citewell.config import IngestSettings
from citewell.errors import UnreadableFile
from citewell.ingest import parse_here
from citewell.ingest.office import spreadsheet
from citewell.ingest.office.ole import MAGIC, detect_ole_kind, has_sector_cycle

END, FREE = 0xFFFFFFFE, 0xFFFFFFFF
SECTOR = 512


def container(name: str, stream: bytes, *, circle: bool = False) -> bytes:
    """An OLE file that holds one stream. `circle`: the stream's last sector leads back to its
    first.
    """
    stream = stream.ljust(4096, b"\0")
    sectors = -(-len(stream) // SECTOR)
    table = [0xFFFFFFFD, END, *range(3, 2 + sectors), 2 if circle else END]
    fixed = struct.pack(
        "<16xHHHHH6xIIIIIIIIII", 0x3E, 3, 0xFFFE, 9, 6, 0, 1, 1, 0, 4096, END, 0, END, 0, 0
    )
    header = MAGIC + fixed + struct.pack("<I", FREE) * 108

    def entry(title: str, kind: int, child: int, start: int, size: int) -> bytes:
        words = title.encode("utf-16-le")
        head = words.ljust(64, b"\0") + struct.pack(
            "<HBBIII", len(words) + 2 if title else 0, kind, 1, FREE, FREE, child
        )
        return head + bytes(36) + struct.pack("<IQ", start, size)

    entries = (
        entry("Root Entry", 5, 1, END, 0)
        + entry(name, 2, FREE, 2, len(stream))
        + 2 * entry("", 0, FREE, 0, 0)
    )
    padded = struct.pack(f"<{len(table)}I", *table).ljust(SECTOR, b"\xff")
    return header + padded + entries + stream.ljust(sectors * SECTOR, b"\0")


def record(kind: int, data: bytes) -> bytes:
    return struct.pack("<HH", kind, len(data)) + data


def label(row: int, column: int, text: str) -> bytes:
    return record(
        0x0204, struct.pack("<HHHHB", row, column, 0, len(text), 1) + text.encode("utf-16-le")
    )


def workbook() -> bytes:
    """The stream of a workbook with one sheet, as Excel 97 wrote it."""
    name = "库存".encode("utf-16-le")
    begin, end = record(0x0809, struct.pack("<HHHHII", 0x600, 5, 0, 0, 0, 0)), record(0x0A, b"")
    size = len(begin) + 4 + 8 + len(name) + len(end)
    listed = record(0x85, struct.pack("<IBBBB", size, 0, 0, 2, 1) + name)
    rows = label(0, 0, "型号") + label(0, 1, "数量") + label(1, 0, "T300") + label(2, 0, "T500")
    numbers = b"".join(
        record(0x0203, struct.pack("<HHHd", row, 1, 0, value))
        for row, value in ((1, 10.0), (2, 2.5))
    )
    return (
        begin
        + listed
        + end
        + record(0x0809, struct.pack("<HHHHII", 0x600, 0x10, 0, 0, 0, 0))
        + rows
        + numbers
        + end
    )


def test_an_old_workbook_is_read() -> None:
    """A workbook of Excel 97 reads as a new one does, also under another name."""
    for name in ("库存.xls", "库存"):
        document = parse_here(container("Workbook", workbook()), name, IngestSettings())
        assert document.text == "库存\n\n型号 | 数量\n型号: T300 | 数量: 10\n型号: T500 | 数量: 2.5"
        assert document.media_type == spreadsheet.XLS


def test_kinds_are_told_by_their_streams() -> None:
    """What an OLE file is stands in its directory."""
    kinds = {
        "WordDocument": ".doc",
        "PowerPoint Document": ".ppt",
        "Book": ".xls",
        "EncryptedPackage": "protected",
        "x": "",
    }
    assert {name: detect_ole_kind(container(name, b"")) for name in kinds} == kinds


def test_sectors_in_circles_are_refused() -> None:
    """A chain of sectors that never ends is found before a reader follows it; a file that is cut
    off is not taken for one.
    """
    sound, broken = (
        container("Workbook", workbook()),
        container("Workbook", workbook(), circle=True),
    )
    assert (has_sector_cycle(sound), has_sector_cycle(broken), has_sector_cycle(sound[:2000])) == (
        False,
        True,
        False,
    )
    with pytest.raises(UnreadableFile, match="sectors run in circles"):
        parse_here(broken, "a.xls", IngestSettings())


def test_a_panic_of_the_reader_is_a_reason() -> None:
    """What makes the reader's native code panic makes the file broken, and nothing else."""
    data = container("Workbook", workbook())
    with pytest.raises(UnreadableFile, match=r"a\.xls is broken"):
        parse_here(data[: 2 * SECTOR + 300], "a.xls", IngestSettings())
