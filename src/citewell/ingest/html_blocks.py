"""The walk from a tree of HTML to blocks: headings, paragraphs, list items, table rows.

The one rule: the tree is walked with an explicit stack, never by recursion, so depth costs nothing.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from citewell.ingest.assemble import Assembly
from citewell.ingest.script import HAN

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

_HEADINGS: Final = {"h1": 1, "h2": 2, "h3": 3, "h4": 4, "h5": 5, "h6": 6}
_INLINE_TAGS: Final = """
    a abbr acronym b bdi bdo big cite code data del dfn em font i img ins kbd label mark math mi mn mo mrow msub msup mfrac nobr
    output q ruby rb rt s samp small span strike strong sub sup time tt u var wbr picture source meter progress
"""
_INLINE: Final = frozenset(_INLINE_TAGS.split())
_CELLS: Final = frozenset({"td", "th"})
_SPACE_ZH = re.compile(rf"(?<=[{HAN}，。；：、！？）】》”])[ \t\f]*\n\s*(?=[{HAN}，。；：、！？（【《“])")
_SPACE = re.compile(r"\s+")
_PERMALINK = re.compile(r"\s*[¶#§🔗]\s*$")
_LISTS: Final = frozenset({"ul", "ol", "menu"})
_DEEPEST_INDENT: Final = 6
_WIDEST_SPAN: Final = 50  # rows that one cell may cover


class Walker:
    """Turns a tree into blocks. Inline text gathers in `_line` until a block-level tag ends it."""

    def __init__(self, assembly: Assembly) -> None:
        self.out = assembly
        self._line: list[str] = []
        self._heading = 0
        self._prefix = ""  # of the list item that is about to begin
        self._tight = False  # whether the next block follows the one before without a blank line
        self._lists: list[int] = []  # for each list around us its next number, 0 for bullets

    def walk(self, root: LexborNode) -> None:
        """Every block below `root`, in document order."""
        stack: list[tuple[LexborNode, bool]] = [(root, False)]
        while stack:
            node, leaving = stack.pop()
            if leaving:
                self._leave(node)
            elif node.is_text_node:
                self._line.append(node.text_content or "")
            elif node.is_element_node and self._enter(node):
                stack.append((node, True))
                child = node.last_child
                while child is not None:
                    stack.append((child, False))
                    child = child.prev
        self._flush()

    def _enter(self, node: LexborNode) -> bool:
        """Begin a tag; False where its children have been dealt with."""
        tag = node.tag or ""
        if tag == "br":
            self._line.append("\0")
        elif tag in {"ruby", "rt"} or tag in _INLINE:
            return tag != "rt"
        elif tag == "pre":
            self._flush()
            self.out.block(node.text(deep=True))
        elif tag == "table" and (rows := table_rows(node)):
            self._flush()
            self.out.rows(rows)
        else:
            self._begin(node, tag)
            return True
        return False

    def _begin(self, node: LexborNode, tag: str) -> None:
        self._flush()
        self._heading = _HEADINGS.get(tag, 0)
        if tag in _LISTS:
            self._lists.append(number(node, "start", 1) if tag == "ol" else 0)
            self._tight = len(self._lists) > 1
        elif tag == "li":
            self._prefix = self._marker()

    def _marker(self) -> str:
        if not self._lists:
            return "- "
        indent = "  " * min(len(self._lists) - 1, _DEEPEST_INDENT)
        if not self._lists[-1]:
            return indent + "- "
        self._lists[-1] += 1
        return f"{indent}{self._lists[-1] - 1}. "

    def _leave(self, node: LexborNode) -> None:
        tag = node.tag or ""
        if tag in _INLINE or tag == "ruby":
            return
        self._flush()
        if tag in _LISTS and self._lists:
            self._lists.pop()
            self._tight = bool(self._lists)
        elif tag == "li":
            self._prefix, self._tight = "", True
        elif tag in _HEADINGS:
            self._heading = 0
        elif tag in {"dt", "dl"}:
            self._tight = tag == "dt"

    def _flush(self) -> None:
        """End the line: append it as a heading, a list item or a paragraph."""
        lines = [flatten(part) for part in "".join(self._line).split("\0")]
        self._line.clear()
        text = "\n".join(line for line in lines if line)
        if not text:
            return
        if self._heading:
            self.out.heading(self._heading, _PERMALINK.sub("", text))
        else:
            self.out.block(self._prefix + text, gap="\n" if self._tight else "\n\n")
        self._prefix, self._tight = "", False


def flatten(text: str) -> str:
    """White space as a browser shows it; none where a source line breaks between Chinese characters."""
    return _SPACE.sub(" ", _SPACE_ZH.sub("", text)).strip()


def words(node: LexborNode) -> str:
    """All text below `node` on one line; block-level tags and `br` set words apart, inline ones do not."""
    parts: list[str] = []
    for part in node.traverse(include_text=True):
        if part.is_text_node:
            parts.append(part.text_content or "")
        elif part.is_element_node and part.tag not in _INLINE:
            parts.append(" ")
    return flatten("".join(parts))


def table_rows(table: LexborNode) -> list[str]:
    """A data table's rows as `a | b`, its caption first; nothing for a table that only lays out the page."""
    if table.css_first("table table, h1, h2, h3") is not None:
        return []
    cells = _grid(table)
    rows = [" | ".join(row) for row in cells if any(row)]
    if max(map(len, cells), default=0) < 2:
        return []
    if len(rows) < 3 and table.css_first("th") is None and table.css_first("ul, ol, pre, p + p") is not None:
        return []
    caption = table.css_first("caption")
    return [text for text in [words(caption) if caption is not None else ""] if text] + rows


def _grid(table: LexborNode) -> list[list[str]]:
    """Rows of cells; one that covers several rows is repeated in each, so that every row reads by itself."""
    grid: list[list[str]] = []
    covering: dict[int, tuple[int, str]] = {}  # by column: how many more rows, and the text
    for row in table.css("tr"):
        cells: list[str] = []
        for cell in [node for node in row.iter() if node.tag in _CELLS]:
            _fill(cells, covering)
            rows = min(number(cell, "rowspan", 1), _WIDEST_SPAN)
            cells.append(words(cell))
            if rows > 1:
                covering[len(cells) - 1] = (rows - 1, cells[-1])
        _fill(cells, covering)
        grid.append(cells)
    return grid


def _fill(cells: list[str], covering: dict[int, tuple[int, str]]) -> None:
    """Append what cells of rows above cover from here on."""
    while len(cells) in covering:
        left, text = covering.pop(len(cells))
        if left > 1:
            covering[len(cells)] = (left - 1, text)
        cells.append(text)


def number(node: LexborNode, attribute: str, default: int) -> int:
    """A small positive number in an attribute."""
    value = node.attributes.get(attribute) or ""
    return int(value) if value.isascii() and value.isdigit() and 0 < len(value) < 7 and int(value) else default
