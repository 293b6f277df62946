"""How a JSON value is said in lines: `author.name: Ann`, records apart, long texts as paragraphs of
their own. The value is walked with an explicit stack or over a known depth, so nesting costs no
recursion of ours.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, Final

from citewell.ingest.assemble import Assembly
from citewell.ingest.tables.table_text import to_one_line

_TITLES: Final = (
    "title",
    "name",
    "headline",
    "subject",
    "question",
    "label",
    "标题",
    "名称",
    "题目",
    "id",
    "_id",
    "key",
)
_HEADING_DEPTH: Final = 2  # levels of objects whose keys become headings
_LONGEST_TITLE: Final = 120
# characters: a longer text, or one of several lines, stands in a paragraph of its own
_LONG: Final = 160
_PER_LINE: Final = 20  # values of a list that stand on one line
_MOST_NUMBERS: Final = 100  # of a list without words: more are an embedding, a signal, a picture
_ENCODED = re.compile(r"(?:data:[\w/+.-]+;base64,)?[A-Za-z0-9+/_=-]{400,}\s*")
_WORDS: Final = {True: "true", False: "false", None: "null"}


class Number(str):
    """A number as the file writes it: 1.10 stays 1.10."""

    __slots__ = ()


class Writer:
    """Writes values to an assembly and counts what it leaves out."""

    def __init__(self, assembly: Assembly) -> None:
        self._out = assembly
        self._encoded = self._numbers = 0

    def write_value(self, value: Any) -> None:
        """A file's one value: an object's keys over objects or lists become headings."""
        if isinstance(value, dict):
            self._write_object(value, 1)
        elif isinstance(value, list):
            self.write_records(value, 1)
        else:
            self._out.block(self._format_scalar(value))

    def write_records(self, values: list[Any], level: int) -> None:
        """A list: each object a section with its title, if any; values without keys share lines."""
        if not any(isinstance(value, dict | list) for value in values):
            self._out.rows(list(self._format_list("", values)))
            return
        for number, value in enumerate(values, 1):
            self._out.begin(level, find_title(value) or f"#{number}")
            self._write_block(self._format_lines(value, skip_empty=True))

    def warnings(self) -> list[str]:
        found = []
        if self._encoded:
            found.append(f"{self._encoded} values of encoded data (base64 and the like) left out")
        if self._numbers:
            found.append(f"{self._numbers} lists of more than {_MOST_NUMBERS} numbers left out")
        return found

    def _write_object(self, value: dict[str, Any], level: int) -> None:
        plain = {key: each for key, each in value.items() if not _is_part(each)}
        self._write_block(self._format_lines(plain))
        for key, each in value.items():
            if key in plain:
                continue
            self._out.heading(level, key)
            if isinstance(each, dict) and level < _HEADING_DEPTH:
                self._write_object(each, level + 1)
            elif isinstance(each, list):
                self.write_records(each, level + 1)
            else:
                self._write_block(self._format_lines(each))

    def _write_block(self, lines: Iterator[str]) -> None:
        """Lines of one record: short ones under each other, a long text after a blank line."""
        parts: list[str] = []
        before_own = False
        for line in lines:
            own = "\n" in line or len(line) > _LONG
            if parts:
                parts.append("\n\n" if own or before_own else "\n")
            parts.append(line)
            before_own = own
        self._out.block("".join(parts))

    def _format_lines(self, value: Any, *, skip_empty: bool = False) -> Iterator[str]:
        """`path: value` for all that is in `value`, in the order of the file."""
        stack: list[tuple[str, Any]] = [("", value)]
        while stack:
            path, each = stack.pop()
            if (skip_empty or not path) and each in (None, "", [], {}):
                continue
            if isinstance(each, dict) and each:
                stack += [
                    (f"{path}.{key}" if path else key, inner)
                    for key, inner in reversed(each.items())
                ]
            elif isinstance(each, list) and any(isinstance(inner, dict | list) for inner in each):
                stack += [
                    (f"{path} {number}".strip(), inner)
                    for number, inner in reversed(list(enumerate(each, 1)))
                ]
            elif isinstance(each, list) and each:
                yield from self._format_list(path, each)
            elif text := self._format_scalar(each):
                yield f"{path}: {text}" if path else text

    def _format_list(self, path: str, values: list[Any]) -> Iterator[str]:
        if len(values) > _MOST_NUMBERS and all(isinstance(value, Number) for value in values):
            self._numbers += 1
            return
        texts = [text for value in values if (text := self._format_scalar(value))]
        if any("\n" in text or len(text) > _LONG for text in texts):
            yield from (
                f"{path} {number}: {text}".strip() if path else text
                for number, text in enumerate(texts, 1)
            )
            return
        for start in range(0, len(texts), _PER_LINE):
            line = ", ".join(texts[start : start + _PER_LINE])
            yield f"{path}: {line}" if path else line

    def _format_scalar(self, value: Any) -> str:
        if isinstance(value, str):
            if len(value) >= 400 and _ENCODED.fullmatch(value):
                self._encoded += 1
                return ""
            return value.strip() if "\n" in value.strip() else to_one_line(value)
        if isinstance(value, bool) or value is None:
            return _WORDS[value]
        return "none" if value in ([], {}) else json.dumps(value, ensure_ascii=False)


def find_title(value: Any) -> str:
    """What a record calls itself, empty where it does not."""
    if not isinstance(value, dict):
        return ""
    lowered = {str(key).lower(): each for key, each in value.items() if isinstance(each, str)}
    named = next((lowered[key] for key in _TITLES if lowered.get(key, "").strip()), "")
    return " ".join(named.split())[:_LONGEST_TITLE]


def _is_part(value: Any) -> bool:
    """Whether a value makes a section: an object with several keys, or a list of objects."""
    if isinstance(value, dict):
        return len(value) > 2 or any(
            isinstance(each, dict | list) and each for each in value.values()
        )
    return isinstance(value, list) and any(isinstance(each, dict | list) for each in value)
