"""What Word's paragraph styles say: heading levels by name or outline level, list numbering, the
title. A style says what its base style says unless it says otherwise itself.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from citewell.ingest.office.word_numbering import W

# built-in names are English in the file, but other programs write what they show
HEADING = re.compile(
    r"(?:heading|标题|標題|見出し|titre|überschrift|título|заголовок)\s*([1-9])", re.IGNORECASE
)
CONTENTS = re.compile(r"(?:toc|目录|目錄)\s*\d", re.IGNORECASE)
_CHAIN = 20  # styles based on one another; a longer chain goes in circles
BODY_LEVEL = 9  # Word's outline level for text


@dataclass(frozen=True, slots=True)
class Style:
    """`level`: 1 to 9 for headings, 0 for text. `contents`: an entry of the table of contents."""

    level: int = 0
    title: bool = False
    contents: bool = False
    num_id: str = ""
    num_level: int = 0


class Styles:
    """The paragraph styles of a document. `root` is the parsed styles part."""

    def __init__(self, root: Any | None) -> None:
        elements = [] if root is None else root.iterfind(f"{W}style")
        self._elements = {element.get(f"{W}styleId"): element for element in elements}
        self._known: dict[str, Style] = {}

    def get(self, style_id: str) -> Style:
        if style_id not in self._known:
            self._known[style_id] = self._read_style(style_id)
        return self._known[style_id]

    def _read_style(self, style_id: str) -> Style:
        level: int | None = None
        num_id, num_level = "", 0
        title = contents = False
        at, steps = style_id, 0
        while at in self._elements and steps < _CHAIN:
            element = self._elements[at]
            name = get_value(element, "name")
            title = title or name.lower() == "title"
            contents = contents or bool(CONTENTS.match(name))
            properties = element.find(f"{W}pPr")
            level = _get_level(name, properties) if level is None else level
            if not num_id:
                num_id, num_level = get_numbering(properties)
            at, steps = get_value(element, "basedOn"), steps + 1
        return Style(level or 0, title, contents, num_id, num_level or max(0, (level or 0) - 1))


def _get_level(name: str, properties: Any | None) -> int | None:
    named = HEADING.match(name)
    return int(named.group(1)) if named else get_outline_level(properties)


def get_outline_level(properties: Any | None) -> int | None:
    """The heading level that paragraph properties give, 0 for text, None where they say nothing."""
    text = "" if properties is None else get_value(properties, "outlineLvl")
    if not text.isdigit():
        return None
    return int(text) + 1 if int(text) < BODY_LEVEL else 0


def get_numbering(properties: Any | None) -> tuple[str, int]:
    """The list that paragraph properties put a paragraph into, and its level there."""
    found = None if properties is None else properties.find(f"{W}numPr")
    if found is None:
        return "", 0
    level = get_value(found, "ilvl")
    return get_value(found, "numId"), int(level) if level.isdigit() else 0


def get_value(element: Any, name: str) -> str:
    """The `w:val` of a child, empty where there is none."""
    child = element.find(f"{W}{name}")
    return "" if child is None else child.get(f"{W}val") or ""
