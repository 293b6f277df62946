"""What the fast reader of workbooks does not tell of an XLSX sheet: how far its cells reach, and
their number formats. It is one pass over bytes as they unpack, so that a sheet is never held whole,
whatever it claims.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from citewell.ingest.office.number_format import BUILT_IN
from citewell.ingest.office.package import Package, get_local_name

_BLOCK: Final = 1 << 20  # bytes read at a time
_CELL = re.compile(rb'<(?:\w+:)?c(?=\s)([^>]*?\sr="([A-Z]{1,3})(\d{1,7})"[^>]*)(?<!/)>')
_STYLE = re.compile(rb'\bs="(\d{1,5})"')


@dataclass(slots=True)
class Scan:
    """`reach`: rows times columns between filled cells. `formats`: number formats by place."""

    reach: int = 0
    formats: dict[tuple[int, int], str] = field(default_factory=dict)


def find_sheet_parts(package: Package) -> dict[str, str]:
    """The part of each sheet by the sheet's name."""
    workbook = next(
        (r.target for r in package.read_relations("").values() if r.kind == "officeDocument"),
        "xl/workbook.xml",
    )
    root, related = package.parse_part(workbook), package.read_relations(workbook)
    found: dict[str, str] = {}
    for element in [] if root is None else root.iter():
        if get_local_name(element) == "sheet":
            key = next(
                (value for name, value in element.attrib.items() if name.endswith("}id")), ""
            )
            if key in related:
                found[element.get("name") or ""] = related[key].target
    return found


def read_number_formats(package: Package) -> dict[int, str]:
    """The format codes of cell styles that say how a number reads, by the style's index."""
    root = package.parse_optional_part("xl/styles.xml")
    if root is None:
        return {}
    codes: dict[int, str] = dict(BUILT_IN)
    styles: list[Any] = []
    for element in root.iter():
        if get_local_name(element) == "numFmt" and (element.get("numFmtId") or "").isdigit():
            codes[int(element.get("numFmtId"))] = element.get("formatCode") or ""
        elif get_local_name(element) == "cellXfs":
            styles = list(element)
    numbers = [
        int(style.get("numFmtId")) if (style.get("numFmtId") or "").isdigit() else 0
        for style in styles
    ]
    return {n: codes[number] for n, number in enumerate(numbers) if number in codes}


def scan_sheet(package: Package, part: str, formats: dict[int, str], most_cells: int) -> Scan:
    """Read through a sheet. The formats of its first `most_cells` cells are kept."""
    found, cells, line, row = Scan(), 0, b"", 0
    columns: set[bytes] = set()
    rows: list[int] = []  # each row that differs from the one before
    for letters, digits, attributes in _iterate_cells(package, part):
        columns.add(letters)
        if digits != line:
            line, row = digits, int(digits) - 1
            rows = [min(row, *rows), max(row, *rows)] if rows else [row, row]
        cells += 1
        style = _STYLE.search(attributes) if formats and cells <= most_cells else None
        code = formats.get(int(style[1])) if style else None
        if code:
            found.formats[row, _parse_column(letters)] = code
    if cells:
        numbers = [_parse_column(letters) for letters in columns]
        found.reach = (rows[1] - rows[0] + 1) * (max(numbers) - min(numbers) + 1)
    return found


def _iterate_cells(package: Package, part: str) -> Iterator[tuple[bytes, bytes, bytes]]:
    """Column, row and attributes of each cell that holds anything."""
    rest = b""
    with package.open(part) as stream:
        while block := stream.read(_BLOCK):
            text = rest + block
            end = text.rfind(b">") + 1
            for match in _CELL.finditer(text, 0, end):
                yield match[2], match[3], match[1]
            rest = text[end:][-1000:]


def _parse_column(letters: bytes) -> int:
    number = 0
    for letter in letters:
        number = 26 * number + letter - 64
    return number - 1
