"""The words of an OpenDocument paragraph, as they are shown: comments out, notes marked, breaks
where they are. Text stands in an element and behind its children, and both are read in order.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from citewell.ingest.office.odf.styles import DRAW, OFFICE, TEXT
from citewell.ingest.office.page_breaks import PAGE
from citewell.ingest.office.word_paragraph import format_note_mark

_LEFT_OUT: Final = frozenset(
    {f"{OFFICE}annotation", f"{OFFICE}annotation-end", f"{TEXT}ruby-text", f"{TEXT}tracked-changes"}
)
_SPACE = re.compile(r"[ \t\r\n]+")
_MOST_SPACES: Final = 100


@dataclass(slots=True)
class Words:
    """`notes`: bodies of the notes referred to; `frames`: drawings anchored in the paragraph."""

    text: str = ""
    notes: list[Any] = field(default_factory=list)
    frames: list[Any] = field(default_factory=list)


def read_paragraph(element: Any, first_note: int = 1) -> Words:
    """What a `text:p` or `text:h` says. Note marks are numbered from `first_note`."""
    found = Words()
    found.text = "".join(_iterate_pieces(element, found, first_note))
    return found


def get_plain_text(element: Any) -> str:
    """All paragraphs below `element`, one a line."""
    texts = (
        " ".join(read_paragraph(p).text.replace(PAGE, "").split())
        for p in iterate_paragraphs(element)
    )
    return "\n".join(text for text in texts if text)


def iterate_paragraphs(element: Any) -> Iterator[Any]:
    """The paragraphs and headings below `element`, none that stands in another."""
    stack = [element]
    while stack:
        node = stack.pop()
        if node.tag in {f"{TEXT}p", f"{TEXT}h"}:
            yield node
        elif node.tag not in _LEFT_OUT:
            stack.extend(reversed(node))


def _iterate_pieces(element: Any, found: Words, first_note: int) -> Iterator[str]:
    """Walks with a stack of elements and of the strings behind them."""
    stack: list[Any] = [element]
    while stack:
        node = stack.pop()
        if isinstance(node, str):
            yield _SPACE.sub(" ", node)
            continue
        sign = _convert_element(node, found, first_note)
        if sign is None:
            for child in reversed(node):
                stack.extend(text for text in (child.tail,) if text)
                stack.append(child)
            yield _SPACE.sub(" ", node.text or "")
        else:
            yield sign


def _convert_element(node: Any, found: Words, first_note: int) -> str | None:
    """What an element stands for by itself; None where its content is to be read."""
    tag = node.tag
    if tag in _LEFT_OUT or not isinstance(tag, str):
        return ""
    if tag == f"{TEXT}s":
        count = node.get(f"{TEXT}c") or "1"
        return " " * (min(int(count), _MOST_SPACES) if count.isdigit() else 1)
    if tag == f"{TEXT}tab":
        return "\t"
    if tag == f"{TEXT}line-break":
        return "\n"
    if tag == f"{TEXT}soft-page-break":
        return PAGE
    if tag == f"{TEXT}note":
        found.notes += node.iterfind(f"{TEXT}note-body")
        return format_note_mark(first_note + len(found.notes) - 1)
    if tag.startswith(DRAW) and tag != f"{DRAW}a":
        found.frames.append(node)
        return ""
    return None
