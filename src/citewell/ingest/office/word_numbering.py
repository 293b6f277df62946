"""The numbers that Word shows before list items, headings and articles (`第三条`, `2.1`), which
stand nowhere in the text. `label` is called once for each numbered paragraph, in document order,
for it counts.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

W: Final = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_DIGITS: Final = "〇一二三四五六七八九"
_ROMAN: Final = (
    *((1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc")),
    *((50, "l"), (40, "xl"), (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i")),
)


@dataclass(frozen=True, slots=True)
class _Level:
    form: str
    pattern: str  # such as `%1.%2`
    start: int


@dataclass(slots=True)
class _List:
    levels: dict[int, _Level]
    counts: dict[int, int] = field(default_factory=dict)


class Numbering:
    """The lists of a document. `root` is the parsed numbering part, None where there is none."""

    def __init__(self, root: Any | None) -> None:
        self._lists: dict[str, _List] = {}
        # by numId: its list, and levels to start again
        self._numbers: dict[str, tuple[_List, dict[int, int]]] = {}
        for element in [] if root is None else root:
            if element.tag == f"{W}abstractNum":
                self._lists[element.get(f"{W}abstractNumId")] = _List(_read_levels(element))
            elif element.tag == f"{W}num":
                self._add_list(element)

    def _add_list(self, element: Any) -> None:
        abstract = element.find(f"{W}abstractNumId")
        known = self._lists.get(abstract.get(f"{W}val")) if abstract is not None else None
        if known is not None:
            starts = {}
            for override in element.iterfind(f"{W}lvlOverride"):
                start = override.find(f"{W}startOverride")
                if start is not None:
                    starts[_to_int(override.get(f"{W}ilvl"))] = _to_int(start.get(f"{W}val"), 1)
            self._numbers[element.get(f"{W}numId")] = (known, starts)

    def label(self, num_id: str, level: int) -> str:
        """What stands before the next paragraph of this list, such as `- `, `3. `, `第三条 `."""
        if num_id not in self._numbers:
            return ""
        numbered, restarts = self._numbers[num_id]
        shape = numbered.levels.get(level)
        if shape is None or shape.form == "none":
            return ""
        if shape.form == "bullet":
            return "  " * min(level, 6) + "- "
        again = restarts.pop(level, None)
        counts = numbered.counts
        for above, outer in numbered.levels.items():
            if above < level:
                counts.setdefault(above, outer.start)  # a level that is skipped counts as begun
        counts[level] = again if again is not None else counts.get(level, shape.start - 1) + 1
        for deeper in [n for n in counts if n > level]:
            del counts[deeper]
        text = shape.pattern
        for n in range(9):
            part = numbered.levels.get(n)
            if part is not None and f"%{n + 1}" in text:
                text = text.replace(f"%{n + 1}", write_number(counts.get(n, part.start), part.form))
        return text.rstrip() + " " if text.strip() else ""


def _read_levels(element: Any) -> dict[int, _Level]:
    levels = {}
    for level in element.iterfind(f"{W}lvl"):
        values = {name: _get_value(level, name) for name in ("numFmt", "lvlText", "start")}
        pattern = values["lvlText"] or ""
        levels[_to_int(level.get(f"{W}ilvl"))] = _Level(
            values["numFmt"] or "decimal", pattern, _to_int(values["start"], 1)
        )
    return levels


def _get_value(element: Any, name: str) -> str | None:
    child = element.find(f"{W}{name}")
    return None if child is None else child.get(f"{W}val")


def _to_int(text: str | None, default: int = 0) -> int:
    return int(text) if text and text.isascii() and text.isdigit() and len(text) < 7 else default


def write_number(number: int, form: str) -> str:
    """`number` in one of Word's formats; an unknown one is written in digits."""
    if "hinese" in form or "deograph" in form or form == "japaneseCounting":
        return to_chinese(number)
    if form.endswith("Letter") and number > 0:
        letter = chr(ord("a") + (number - 1) % 26) * ((number - 1) // 26 + 1)
        return letter if form == "lowerLetter" else letter.upper()
    if form.endswith("Roman") and 0 < number < 4000:
        return to_roman(number) if form == "lowerRoman" else to_roman(number).upper()
    if form == "decimalZero":
        return f"{number:02}"
    if form.startswith("decimalEnclosedCircle") and 0 < number <= 20:
        return chr(0x2460 + number - 1)
    return str(number)


def to_roman(number: int) -> str:
    """Lower-case Roman numerals of 1 to 3999."""
    text = ""
    for value, sign in _ROMAN:
        text += sign * (number // value)
        number %= value
    return text


def to_chinese(number: int) -> str:
    """Chinese numerals of 0 to 9999, as articles of law are counted: 十二, 一百零三."""
    if not 0 < number < 10_000:
        return _DIGITS[0] if number == 0 else str(number)
    text = ""
    for value, unit in ((1000, "千"), (100, "百"), (10, "十"), (1, "")):
        digit, number = divmod(number, value)
        if digit:
            text += _DIGITS[digit] + unit
        elif text and number and not text.endswith("零"):
            text += "零"
    return text.removeprefix("一") if text.startswith("一十") else text
