"""What a file is by its first bytes, whatever these are."""

from __future__ import annotations

import io
import time
import zipfile

import pytest

from citewell.config import IngestSettings
from citewell.ingest import parse_here
from citewell.ingest.sniff import sniff


def zipped(files: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return buffer.getvalue()


def test_an_open_document_says_what_it_is() -> None:
    """What it says broken, or under a password, is taken for nothing said."""
    said = b"application/vnd.oasis.opendocument.spreadsheet"
    whole = zipped({"content.xml": b"<x/>", "mimetype": said}, zipfile.ZIP_STORED)
    deflated = bytearray(zipped({"content.xml": b"<x/>", "mimetype": said * 9}))
    at = deflated.index(b"mimetype") + len(b"mimetype")
    deflated[at : at + 8] = b"\xff" * 8
    encrypted = bytearray(whole)
    encrypted[encrypted.rindex(b"PK\x01\x02") + 8] |= 1
    kinds = [
        sniff(data)
        for data in (
            whole,
            bytes(deflated),
            bytes(encrypted),
            zipped({"content.xml": b"", "mimetype": b""}),
        )
    ]
    assert [kind.suffix if kind else "" for kind in kinds] == [".ods", "", "", ""]


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.md", b"<!-- a licence line -->\n" * 60 + b"text"),
        (
            "a.ics",
            b"BEGIN:VCALENDAR\nBEGIN:VEVENT\nSUMMARY:x\nX"
            + b";a" * 3000
            + b"\nEND:VEVENT\nEND:VCALENDAR\n",
        ),
        ("a.txt", b"~{!!" * 20_000),
        ("a.csv", b"|a|" * 10_000),
    ],
)
def test_time_grows_with_length_only(name: str, data: bytes) -> None:
    """Repetitions that patterns could divide up in very many ways."""
    started = time.process_time()
    parse_here(data, name, IngestSettings())
    assert time.process_time() - started < 5
