"""The words of a Word paragraph, as Word shows them: insertions in, deletions and field codes out,
breaks where they are. `PAGE` stands where a page ends; everything else is text.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from citewell.ingest.office.drawing import DIAGRAM, FALLBACK, C
from citewell.ingest.office.formula import format_omml
from citewell.ingest.office.page_breaks import PAGE
from citewell.ingest.office.word_numbering import W

_MATH: Final = "{http://schemas.openxmlformats.org/officeDocument/2006/math}oMath"
_LEFT_OUT: Final = frozenset(
    {f"{W}{name}" for name in ("pPr", "rPr", "del", "moveFrom", "instrText", "delText")}
    | {FALLBACK}
)
_SIGNS: Final = {
    f"{W}tab": "\t",
    f"{W}ptab": "\t",
    f"{W}cr": "\n",
    f"{W}noBreakHyphen": "-",
    f"{W}lastRenderedPageBreak": PAGE,
}
# signs of the Wingdings and Symbol fonts, by the last two digits of their code, as documents use
# them
SYMBOLS: Final = {
    "FC": "✓",
    "FB": "✗",
    "FE": "☑",
    "FD": "☒",
    "A8": "☐",
    "6F": "☐",
    "71": "☐",
    "D8": "➢",
    "E0": "→",
    "B7": "•",
    "B0": "°",
    "B1": "±",
    "B4": "×",
    "A3": "≤",
    "B3": "≥",
    "B9": "≠",
    "AE": "→",
}
_NOTES: Final = {f"{W}footnoteReference": "footnotes", f"{W}endnoteReference": "endnotes"}
_SUPERSCRIPT: Final = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


@dataclass(slots=True)
class Paragraph:
    """`notes`: (kind, id) of the notes referred to; `boxes`: contents of the text boxes anchored
    here; `graphics`: references to charts and diagrams.
    """

    text: str = ""
    notes: list[tuple[str, str]] = field(default_factory=list)
    boxes: list[Any] = field(default_factory=list)
    graphics: list[Any] = field(default_factory=list)


def read_paragraph(element: Any, first_note: int = 1) -> Paragraph:
    """What a `w:p` says. Note marks are numbered from `first_note`."""
    found = Paragraph()
    found.text = "".join(_iterate_pieces(element, found, first_note))
    return found


def _iterate_pieces(element: Any, found: Paragraph, first_note: int) -> Iterator[str]:
    stack = [element]
    while stack:
        node = stack.pop()
        tag = node.tag
        if tag in _LEFT_OUT or not isinstance(tag, str):
            continue
        if tag == f"{W}t":
            yield node.text or ""
        elif tag == _MATH:
            yield " ".join(format_omml(node).split())
        elif tag == f"{W}sym":
            yield SYMBOLS.get((node.get(f"{W}char") or "").upper().removeprefix("F0"), "")
        elif tag in _SIGNS:
            yield _SIGNS[tag]
        elif tag == f"{W}br":
            yield PAGE if node.get(f"{W}type") == "page" else "\n"
        elif tag in _NOTES:
            found.notes.append((_NOTES[tag], node.get(f"{W}id") or ""))
            yield format_note_mark(first_note + len(found.notes) - 1)
        elif tag == f"{W}txbxContent":
            found.boxes.append(node)
        elif tag in {f"{C}chart", f"{DIAGRAM}relIds"}:
            found.graphics.append(node)
        else:
            stack.extend(reversed(node))


def format_note_mark(number: int) -> str:
    """A note's mark, such as ¹²."""
    return str(number).translate(_SUPERSCRIPT)
