"""What OpenDocument styles say: page breaks, the title, hidden slides, how lists are numbered. A
style says what its parent says unless it says otherwise itself.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

from citewell.ingest.office.word_numbering import write_number

_URN: Final = "{urn:oasis:names:tc:opendocument:xmlns:%s:1.0}"
OFFICE, STYLE, TEXT, TABLE, DRAW, SVG, FO, SHOW = (
    *(
        _URN % name
        for name in (
            "office",
            "style",
            "text",
            "table",
            "drawing",
            "svg-compatible",
            "xsl-fo-compatible",
        )
    ),
    _URN % "presentation",
)
_CHAIN: Final = 20  # styles based on one another; a longer chain goes in circles
_FORMS: Final = {
    "a": "lowerLetter",
    "A": "upperLetter",
    "i": "lowerRoman",
    "I": "upperRoman",
    "1": "decimal",
}


@dataclass(frozen=True, slots=True)
class Level:
    """A list's level: `form` is empty for bullets, `shown` counts levels in a label."""

    form: str
    before: str
    after: str
    shown: int
    start: int


@dataclass(slots=True)
class Numbers:
    """How far a list has been counted, by level."""

    levels: dict[int, Level]
    counts: dict[int, int] = field(default_factory=dict)

    def label(self, level: int) -> str:
        """What stands before the next item at `level` (from 1)."""
        shape = self.levels.get(level)
        for deeper in [n for n in self.counts if n > level]:
            del self.counts[deeper]
        if shape is None or not shape.form:
            return "  " * min(level - 1, 6) + "- "
        for above, outer in self.levels.items():
            if above < level and outer.form:
                # a level that is skipped counts as begun
                self.counts.setdefault(above, outer.start)
        self.counts[level] = self.counts.get(level, shape.start - 1) + 1
        shown = range(max(1, level - shape.shown + 1), level + 1)
        numbers = [
            write_number(self.counts.get(n, 1), self.levels[n].form)
            for n in shown
            if n in self.levels
        ]
        return f"{shape.before}{'.'.join(numbers)}{shape.after} "


class Styles:
    """The styles of a document, those of its content before those of its pages."""

    def __init__(self, *roots: Any | None) -> None:
        self._styles: dict[str, Any] = {}
        self._lists: dict[str, dict[int, Level]] = {}
        self.outline: dict[int, Level] = {}
        for root in reversed([root for root in roots if root is not None]):
            for element in root.iter(f"{STYLE}style", f"{TEXT}list-style", f"{TEXT}outline-style"):
                name = element.get(f"{STYLE}name") or ""
                if element.tag == f"{STYLE}style":
                    self._styles[name] = element
                elif element.tag == f"{TEXT}list-style":
                    self._lists[name] = _read_levels(element)
                else:
                    self.outline = {
                        n: level for n, level in _read_levels(element).items() if level.form
                    }

    def chain(self, name: str) -> list[Any]:
        """The style and those that it is based on."""
        found: list[Any] = []
        while name in self._styles and len(found) < _CHAIN:
            found.append(self._styles[name])
            name = found[-1].get(f"{STYLE}parent-style-name") or ""
        return found

    def is_title(self, name: str) -> bool:
        return any(element.get(f"{STYLE}name") == "Title" for element in self.chain(name))

    def has_page_break(self, name: str) -> bool:
        """Whether a paragraph of this style begins a page."""
        for element in self.chain(name)[:1]:
            if element.get(f"{STYLE}master-page-name"):
                return True
            for properties in element.iterfind(f"{STYLE}paragraph-properties"):
                return bool(properties.get(f"{FO}break-before") == "page")
        return False

    def get_outline_level(self, name: str) -> int:
        """The heading level that a paragraph style gives, 0 where none."""
        for element in self.chain(name):
            said = element.get(f"{STYLE}default-outline-level")
            if said is not None:
                return int(said) if said.isdigit() else 0
        return 0

    def is_hidden(self, name: str) -> bool:
        """Whether slides of this style are not shown."""
        return any(
            properties.get(f"{SHOW}visibility") == "hidden"
            for element in self.chain(name)
            for properties in element.iterfind(f"{STYLE}drawing-page-properties")
        )

    def numbers(self, name: str) -> Numbers:
        """A list of this style, not counted yet."""
        return Numbers(self._lists.get(name, {}))


def _read_levels(element: Any) -> dict[int, Level]:
    found = {}
    for level in element:
        number = level.get(f"{TEXT}level") or ""
        if number.isdigit():
            said = level.get(f"{STYLE}num-format") or ""
            form = (
                _FORMS.get(said, "chineseCounting" if "一" in said else "decimal") if said else ""
            )
            shown, start = (
                level.get(f"{TEXT}{key}") or "1" for key in ("display-levels", "start-value")
            )
            affixes = (level.get(f"{STYLE}num-{key}") or "" for key in ("prefix", "suffix"))
            before, after = affixes
            found[int(number)] = Level(
                form,
                before,
                after,
                int(shown) if shown.isdigit() else 1,
                int(start) if start.isdigit() else 1,
            )
    return found
