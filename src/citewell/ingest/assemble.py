"""Builds a `Document` from the blocks that a parser finds, in reading order. Text is cleaned and
joined here before any offset is taken, so every span is exact. Blocks are set apart by a blank
line, rows and list items by a line break: `sentences` relies on it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import PurePath
from typing import Final

from citewell.errors import UnreadableFile
from citewell.messages import Text
from citewell.text.language import detect_language
from citewell.types import Box, Document, Page, Section

_BREAKS = re.compile(r"\r\n?|[\v\f\x85\u2028\u2029]")
# controls, byte order mark, soft hyphen, lone surrogates and non-characters; tab and \n stay
_NEVER = re.compile(
    r"[\x00-\x08\x0e-\x1f\x7f\x80-\x84\x86-\x9f\u00ad\ufeff\ufffe\uffff\ud800-\udfff]"
)
_SPACES = re.compile(r"[\u00a0\u2007\u202f]")
MAX_TITLE: Final = 300


def clean_text(text: str) -> str:
    """`text` with line feeds as the only line breaks, without NUL, lone surrogates and other
    control characters.
    """
    return _SPACES.sub(" ", _NEVER.sub("", _BREAKS.sub("\n", text)))


def get_file_stem(name: str) -> str:
    """The file name without its suffix, for documents without a title."""
    return PurePath(name).stem or name


def build_document(
    name: str,
    media_type: str,
    text: str,
    sections: list[Section],
    *,
    title: str = "",
    pages: list[Page] | None = None,
    warnings: list[str] | None = None,
    boxes: Sequence[Box] = (),
    dated: float | None = None,
) -> Document:
    """The finished document. `dated`: seconds since the epoch. Raises UnreadableFile if empty."""
    if not text.strip():
        raise UnreadableFile(Text("{name} holds no text", name=name))
    shown = " ".join(clean_text(title).split())[:MAX_TITLE] or get_file_stem(name)
    parts = (tuple(sections), tuple(pages or ()), tuple(warnings or ()), tuple(boxes))
    return Document(shown, media_type, detect_language(text), text, *parts, dated)


class Outline:
    """Turns headings met in order into sections that cover the text from end to end."""

    def __init__(self) -> None:
        self.starts: list[tuple[int, tuple[str, ...], str]] = []
        self._open: list[tuple[int, str]] = []

    def heading(self, level: int, title: str, start: int, anchor: str = "") -> None:
        """A heading of `level` (1: the highest) at `start`. `anchor`: its id in a web page."""
        while self._open and self._open[-1][0] >= level:
            self._open.pop()
        self._open.append((level, title))
        self.starts.append((start, tuple(text for _, text in self._open), anchor))

    def sections(self, length: int) -> list[Section]:
        """The sections of a text of this length; what is before the first heading has no path."""
        starts = self.starts
        if not starts or starts[0][0] > 0:
            starts = [(0, (), ""), *starts]
        ends = [start for start, _, _ in starts[1:]] + [length]
        found = zip(starts, ends, strict=True)
        return [
            Section(path, start, end, anchor) for (start, path, anchor), end in found if start < end
        ]


class Assembly:
    """Collects blocks. `gap` stands before one: a blank line, or a break between rows, items."""

    def __init__(self) -> None:
        self.outline = Outline()
        self.pages: list[Page] = []
        self.boxes: list[Box] = []
        self.first_heading = ""
        self._parts: list[str] = []
        self._length = 0

    def block(
        self,
        text: str,
        *,
        gap: str = "\n\n",
        then: Sequence[tuple[int, str]] = (),
        boxes: Sequence[Box] = (),
    ) -> int:
        """Append `text` and return where it starts. An empty one is left out. `then`: how it goes
        on, on which pages.

        `boxes`: where its lines stand, with offsets from the start of `text`, which has to be clean
        already.
        """
        text = clean_text(text).lstrip("\n") if then else clean_text(text).rstrip().lstrip("\n")
        if text.strip() and self._length:
            self._append(gap)
        start = self._length
        if text.strip():
            self._append(text)
        for number, more in then:
            self.page(number)
            self._append(clean_text(more))
        ends = ((box, min(start + box.end, self._length)) for box in boxes)
        self.boxes += [
            replace(box, start=start + box.start, end=end)
            for box, end in ends
            if start + box.start < end
        ]
        return start

    def rows(self, lines: list[str]) -> None:
        """Lines that belong together, such as a table's rows."""
        for n, line in enumerate(lines):
            self.block(line, gap="\n" if n else "\n\n")

    def heading(
        self, level: int, text: str, anchor: str = "", *, boxes: Sequence[Box] = ()
    ) -> None:
        """A heading of `level` (1 is the highest). `anchor`: its id in a web page. `boxes`: as in
        `block`.
        """
        title = " ".join(clean_text(text).split())  # on one line, so that it stays one sentence
        if title:
            self.first_heading = self.first_heading or title
            self.outline.heading(level, title[:MAX_TITLE], self.block(title, boxes=boxes), anchor)

    def begin(self, level: int, title: str, anchor: str = "") -> None:
        """A section that begins with the next block, without a heading line in the text."""
        self.outline.heading(level, title[:MAX_TITLE], self._length, anchor)

    def page(self, number: int) -> None:
        """What is appended now stands on page `number`; before the first call, on page 1."""
        if not self.pages and self._length:
            self.pages.append(Page(1, 0, 0))
        if self.pages:
            last = self.pages.pop()
            self.pages.append(Page(last.number, last.start, self._length))
        self.pages.append(Page(number, self._length, self._length))

    def document(
        self,
        name: str,
        media_type: str,
        *,
        title: str = "",
        warnings: list[str] | None = None,
        dated: float | None = None,
    ) -> Document:
        """The finished document. `dated`: seconds since the epoch. Raises UnreadableFile where
        there is no text in it.
        """
        text = "".join(self._parts)
        pages = _close_last_page(self.pages, len(text))
        sections = self.outline.sections(len(text))
        return build_document(
            name,
            media_type,
            text,
            sections,
            title=title,
            pages=pages,
            warnings=warnings,
            boxes=self.boxes,
            dated=dated,
        )

    @property
    def text(self) -> str:
        """What has been collected so far."""
        return "".join(self._parts)

    def _append(self, text: str) -> None:
        self._parts.append(text)
        self._length += len(text)


def _close_last_page(pages: list[Page], length: int) -> list[Page]:
    return [*pages[:-1], Page(pages[-1].number, pages[-1].start, length)] if pages else []
