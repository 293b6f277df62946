"""Which columns of a sheet hold tables side by side."""

from __future__ import annotations

from collections.abc import Sequence

from citewell.ingest.tables.header_rows import NOTHING, Row, count_filled_cells, locate_header
from citewell.ingest.tables.table_text import build_column_names


def find_column_spans(block: Sequence[Row], *, beside: bool) -> list[tuple[int, int]]:
    """Column spans of tables side by side in a block of rows; one span for a single table."""
    columns = sorted({n for row in block for n, cell in enumerate(row) if cell not in NOTHING})
    whole = [(columns[0], columns[-1] + 1)]
    if not beside or len(columns) == columns[-1] + 1 - columns[0]:
        return whole
    runs: list[tuple[int, int]] = []
    for n in columns:
        if runs and runs[-1][1] == n:
            runs[-1] = (runs[-1][0], n + 1)
        else:
            runs.append((n, n + 1))
    parts = [runs[0]]
    for run in runs[1:]:
        if _is_table_pair(block, parts[-1], run):
            parts.append(run)
        else:
            parts[-1] = (parts[-1][0], run[1])
    return parts if len(parts) > 1 else whole


def _is_table_pair(block: Sequence[Row], one: tuple[int, int], other: tuple[int, int]) -> bool:
    """Two tables, not one with an empty column: two headers, of other lengths or shared names."""
    sides = [[row[left:right] for row in block] for left, right in (one, other)]
    if any(right - left < 2 for left, right in (one, other)):
        return False
    heads, extents = [], []
    for side in sides:
        held = [n for n, row in enumerate(side) if count_filled_cells(row)]
        skip, depth = locate_header([side[n] for n in held])
        if not depth:
            return False
        heads.append(set(build_column_names([side[n] for n in held[skip : skip + depth]])))
        extents.append((held[0], held[-1]))
    return extents[0] != extents[1] or bool(heads[0] & heads[1] - {""})
