"""The lines of a shape on a slide: paragraphs with their bullets and numbers, and the rows of a
table.

The one rule: a bullet is written where the slide shows one.
"""

from __future__ import annotations

from typing import Any, Final

from citewell.ingest.office.drawing import FALLBACK, A, get_paragraph_text
from citewell.ingest.office.package import get_local_name
from citewell.ingest.tables.header import ACROSS

_DEEPEST: Final = 6  # indents
_TRUE: Final = frozenset({"1", "true"})


def format_body_lines(shape: Any, *, bulleted: bool) -> list[str]:
    """The paragraphs of a shape, one a line. `bulleted`: they have bullets unless they say
    otherwise.
    """
    found = [
        p
        for p in shape.iter(f"{A}p")
        if not any(above.tag == FALLBACK for above in p.iterancestors())
    ]
    said = [(p, text) for p in found if (text := " ".join(get_paragraph_text(p).split()))]
    counts: dict[int, int] = {}
    lines = []
    for paragraph, text in said:
        properties = paragraph.find(f"{A}pPr")
        level = _get_level(properties)
        marks = {get_local_name(child) for child in properties} if properties is not None else set()
        for deeper in [n for n in counts if n > level or (n == level and "buAutoNum" not in marks)]:
            del counts[deeper]
        mark = ""
        if "buAutoNum" in marks:
            counts[level] = counts.get(level, 0) + 1
            mark = f"{counts[level]}. "
        elif "buNone" not in marks and ("buChar" in marks or (bulleted and len(said) > 1)):
            mark = "- "
        lines.append(("  " * level if mark else "") + mark + text)
    return lines


def _get_level(properties: Any | None) -> int:
    text = "" if properties is None else properties.get("lvl") or ""
    return min(int(text), _DEEPEST) if text.isdigit() else 0


def read_table_rows(table: Any) -> list[list[str]]:
    """The cells of a DrawingML table; what is merged downwards is said in each row."""
    rows: list[list[str]] = []
    for row in table.iterfind(f"{A}tr"):
        cells: list[str] = []
        for n, cell in enumerate(row.iterfind(f"{A}tc")):
            if cell.get("hMerge") in _TRUE:
                cells.append(ACROSS)
            elif cell.get("vMerge") in _TRUE and rows and n < len(rows[-1]):
                cells.append(rows[-1][n])
            else:
                cells.append("\n".join(get_paragraph_text(p) for p in cell.iter(f"{A}p")))
        rows.append(cells)
    return rows
