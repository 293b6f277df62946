"""The words of a Word paragraph, as Word shows them: insertions in, deletions and field codes out, breaks where they are.

The one rule: `PAGE` stands where a page ends; everything else is text.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from citewell.ingest.office_numbering import W

PAGE: Final = "\f"  # Word text never holds a form feed
_MATH: Final = "{http://schemas.openxmlformats.org/officeDocument/2006/math}t"
_COMPATIBILITY: Final = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"  # says again what Choice says
_LEFT_OUT: Final = frozenset(
    {f"{W}{name}" for name in ("pPr", "rPr", "del", "moveFrom", "instrText", "delText")} | {_COMPATIBILITY}
)
_SIGNS: Final = {f"{W}tab": "\t", f"{W}ptab": "\t", f"{W}cr": "\n", f"{W}noBreakHyphen": "-", f"{W}lastRenderedPageBreak": PAGE}
_NOTES: Final = {f"{W}footnoteReference": "footnotes", f"{W}endnoteReference": "endnotes"}
_SUPERSCRIPT: Final = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


@dataclass(slots=True)
class Paragraph:
    """`notes`: (kind, id) of the notes referred to; `boxes`: contents of the text boxes anchored here."""

    text: str = ""
    notes: list[tuple[str, str]] = field(default_factory=list)
    boxes: list[Any] = field(default_factory=list)


def read(element: Any, first_note: int = 1) -> Paragraph:
    """What a `w:p` says. Note marks are numbered from `first_note`."""
    found = Paragraph()
    found.text = "".join(_pieces(element, found, first_note))
    return found


def _pieces(element: Any, found: Paragraph, first_note: int) -> Iterator[str]:
    stack = [element]
    while stack:
        node = stack.pop()
        tag = node.tag
        if tag in _LEFT_OUT or not isinstance(tag, str):
            continue
        if tag in {f"{W}t", _MATH}:
            yield node.text or ""
        elif tag in _SIGNS:
            yield _SIGNS[tag]
        elif tag == f"{W}br":
            yield PAGE if node.get(f"{W}type") == "page" else "\n"
        elif tag in _NOTES:
            found.notes.append((_NOTES[tag], node.get(f"{W}id") or ""))
            yield mark(first_note + len(found.notes) - 1)
        elif tag == f"{W}txbxContent":
            found.boxes.append(node)
        else:
            stack.extend(reversed(node))


def mark(number: int) -> str:
    """A note's mark, such as ¹²."""
    return str(number).translate(_SUPERSCRIPT)
