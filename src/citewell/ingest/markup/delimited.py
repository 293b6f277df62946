"""Comma-, semicolon- and tab-separated values: which sign separates is found out, then the rows are
read as a sheet's. A file that is not quite regular is still read; nothing is left out but what a
warning says.
"""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from typing import Final, Literal

from citewell.config import IngestSettings
from citewell.ingest.assemble import Assembly, clean_text
from citewell.ingest.office.sheet_tables import add_sheet
from citewell.messages import Text
from citewell.text.charset import decode_text
from citewell.types import Document

_SEPARATORS: Final = ",;\t|"
_SAMPLE: Final = 100  # rows that the separator is judged by
_LONGEST_FIELD: Final = 10_000_000  # characters
MOST_LINES: Final = 200  # in a field; with more, a quote was opened that nobody meant to open


def parse(data: bytes, name: str, settings: IngestSettings) -> Document:
    """A file of separated values, of any usual encoding."""
    raw, warnings = decode_text(data, name)
    text = clean_text(raw)
    tabs = name.lower().endswith((".tsv", ".tab"))
    first, _, rest = text.partition("\n")
    if first.lower().startswith("sep=") and len(first.strip()) == 5:
        separator, text = first[4], rest  # as Excel writes and reads it
    else:
        separator = detect_separator(text, "\t" if tabs else ",")
    rows, total = _read_rows(text, separator, settings.max_cells)
    if len(rows) < total:
        warnings.append(
            Text(
                "{rows:,} of {total:,} rows are read; raise ingest.max_cells for more",
                rows=len(rows),
                total=total,
            )
        )
    out = Assembly()
    add_sheet(out, rows, 1)
    return out.document(
        name, "text/tab-separated-values" if separator == "\t" else "text/csv", warnings=warnings
    )


def detect_separator(text: str, usual: str) -> str:
    """The sign that cuts most of the first rows into as many fields; else `usual`."""

    def measure_regularity(sign: str) -> tuple[float, int, bool]:
        widths = Counter(len(row) for row in islice(read_fields(text, sign), _SAMPLE) if row)
        width, count = max(
            ((w, n) for w, n in widths.items() if w > 1), key=lambda pair: pair[1], default=(1, 0)
        )
        return round(count / max(1, widths.total()), 1), min(width, 3), sign == usual

    best = max(_SEPARATORS, key=measure_regularity)
    return best if measure_regularity(best)[0] else usual


def read_fields(
    text: str, separator: str, quoting: Literal[0, 3] = csv.QUOTE_MINIMAL
) -> Iterator[list[str]]:
    csv.field_size_limit(_LONGEST_FIELD)
    return csv.reader(
        io.StringIO(text), delimiter=separator, quoting=quoting, skipinitialspace=True
    )


def _read_rows(text: str, separator: str, most_cells: int) -> tuple[list[list[str]], int]:
    """The rows that fit into `most_cells`, and how many there are."""
    ways: tuple[Literal[0, 3], ...] = (csv.QUOTE_MINIMAL, csv.QUOTE_NONE)
    for quoting in ways:
        rows: list[list[str]] = []
        cells = total = 0
        runaway = False
        for row in read_fields(text, separator, quoting):
            total += 1
            cells += len(row)
            runaway = runaway or any(field.count("\n") > MOST_LINES for field in row)
            if cells <= most_cells:
                rows.append([field.strip() for field in row])
        if not runaway:
            break
    return rows, total
