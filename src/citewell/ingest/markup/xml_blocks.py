"""XML that is a text (JATS, DocBook, DITA, TEI): titles, paragraphs, lists, tables and code, by the
names of its tags.

The one rule: an element of no known name is gone through, so nothing is lost for being called
otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from citewell.ingest.assemble import Assembly
from citewell.ingest.markup.xml_tree import find, tag, words
from citewell.ingest.tables.table_text import ACROSS, table_lines
from citewell.ingest.web.html_blocks import flatten

TITLES: Final = frozenset({"title", "head", "heading", "article-title", "bridgehead"})
SECTIONS: Final = frozenset(
    {
        "sec",
        "section",
        "sect1",
        "sect2",
        "sect3",
        "sect4",
        "sect5",
        "chapter",
        "part",
        "appendix",
        "app",
        "ack",
        "abstract",
        "topic",
        "book",
        "article",
        "preface",
        "div",
        "div1",
        "div2",
        "div3",
        "refsect1",
        "refsect2",
        "glossary",
        "bibliography",
        "sub-article",
        "response",
        "boxed-text",
        "notes",
        "fn-group",
        "ref-list",
    }
)
PARAGRAPHS: Final = frozenset(
    {
        "p",
        "para",
        "simpara",
        "formalpara",
        "ab",
        "lg",
        "verse-group",
        "disp-quote",
        "attrib",
        "caption",
        "subtitle",
        "label",
        "term",
        "def",
        "def-item",
        "note",
        "shortdesc",
        "summary",
        "description",
        "speech",
    }
)
_ITEMS: Final = frozenset({"list-item", "listitem", "item", "li"})
_LISTS: Final = frozenset(
    {"list", "itemizedlist", "orderedlist", "ul", "ol", "variablelist", "simplelist"}
)
_TABLES: Final = frozenset({"table", "informaltable"})
_CODE: Final = frozenset(
    {"code", "programlisting", "preformat", "codeblock", "screen", "literallayout"}
)
_FIGURES: Final = frozenset({"fig", "figure", "table-wrap", "supplementary-material", "media"})
_FORMULAS: Final = frozenset({"disp-formula", "display-formula", "equation", "informalequation"})
_NEVER: Final = frozenset(
    {
        "object-id",
        "graphic",
        "inline-graphic",
        "alternatives-id",
        "permissions",
        "processing-meta",
        "index",
        "indexterm",
    }
)
_NOT_SHOWN: Final = frozenset({"tex-math", "annotation", "object-id", "indexterm", "fn"})
_BLOCKS: Final = (
    PARAGRAPHS | SECTIONS | _ITEMS | _LISTS | _TABLES | _CODE | _FIGURES | _FORMULAS | TITLES
)


class Walker:
    """Goes through a tree once. `_level` is the depth of the sections around."""

    def __init__(self, assembly: Assembly) -> None:
        self.out = assembly

    def walk(self, element: Any, level: int = 1) -> None:
        """Append what stands in `element`, its sections at `level`."""
        name = tag(element)
        if name in _NEVER:
            return
        if name in _TABLES:
            self.out.rows(table_lines(_grid(element), header=_header(element)))
        elif name in _CODE:
            self.out.block(words(element))
        elif name in _FIGURES:
            self._figure(element, level)
        elif name in _LISTS:
            self.out.rows(list(_list_lines(element, "")))
        elif name in _FORMULAS:
            self.out.block(flatten(words(element, _NOT_SHOWN)))
        elif name in PARAGRAPHS or not _has_blocks(element):
            self._paragraph(element, level)
        else:
            self._section(element, level)

    def _section(self, element: Any, level: int) -> None:
        """An element with others in it; a title of its own makes it a section."""
        heading = "" if tag(element) == "info" else title_of(element)
        if heading:
            self.out.heading(
                level,
                heading,
                element.get("id") or element.get("{http://www.w3.org/XML/1998/namespace}id") or "",
            )
        self._loose(element.text)
        for child in element:
            if not ((heading or tag(element) == "info") and tag(child) in TITLES | {"label"}):
                self.walk(child, level + 1 if heading else level)
            self._loose(child.tail)

    def _loose(self, text: str | None) -> None:
        if text and text.strip():
            self.out.block(flatten(text))

    def _paragraph(self, element: Any, level: int) -> None:
        """A paragraph, and after it the lists and tables that stand in it."""
        inner = [
            child
            for child in element
            if tag(child) in _BLOCKS - TITLES - {"label", "term", "def", "description"}
        ]
        if (
            inner
            and not flatten(element.text or "")
            and all(not (child.tail or "").strip() for child in element)
        ):
            for child in element:
                self.walk(child, level)
            return
        self.out.block(
            flatten(words(element, frozenset(tag(child) for child in inner) | _NOT_SHOWN))
        )
        for child in inner:
            self.walk(child, level)

    def _figure(self, element: Any, level: int) -> None:
        """The label and caption in one paragraph, then what else is in it."""
        label, caption = find(element, "label"), find(element, "caption")
        said = [
            flatten(words(each)) for each in (label, find(element, "title")) if each is not None
        ]
        said += [flatten(words(each)) for each in (caption if caption is not None else [])]
        self.out.block(" ".join(filter(None, said)))
        for child in element:
            if tag(child) not in {"label", "caption", "title"} and len(child):
                self.walk(child, level)


def _list_lines(element: Any, indent: str) -> Iterator[str]:
    ordered = element.get("list-type") == "order" or tag(element) in {"orderedlist", "ol"}
    number = 0
    for child in element:
        if tag(child) in TITLES:
            yield flatten(words(child))
        if tag(child) not in _ITEMS | {"varlistentry", "member"}:
            continue
        number += 1
        inner = [each for each in child.iter() if tag(each) in _LISTS]
        text = flatten(_spaced(child))
        if text:
            yield f"{indent}{f'{number}.' if ordered else '-'} {text}"
        for each in inner:
            if _list_above(each, child):
                yield from _list_lines(each, indent + "  ")


def _list_above(element: Any, item: Any) -> bool:
    """Whether no other list stands between `element` and `item`."""
    above = element.getparent()
    while above is not None and above is not item:
        if tag(above) in _LISTS:
            return False
        above = above.getparent()
    return True


def _spaced(item: Any) -> str:
    """The words of a list item without the lists in it, its paragraphs set apart."""
    parts = [item.text or ""]
    for child in item:
        if tag(child) not in _LISTS:
            parts += [words(child, _LISTS), " " if tag(child) in _BLOCKS else ""]
        parts.append(child.tail or "")
    return "".join(parts)


def title_of(element: Any) -> str:
    """The title of a section, with its number where that is told apart; empty where it has none."""
    title = next((child for child in element if tag(child) in TITLES), None)
    if title is None:
        info = find(element, "info")
        title = find(info, "title") if info is not None else None
    label = find(element, "label")
    said = [flatten(words(each)) for each in (label, title) if each is not None]
    return " ".join(said) if title is not None else ""


def _has_blocks(element: Any) -> bool:
    return any(tag(each) in _BLOCKS for each in element.iter() if each is not element)


def _grid(table: Any) -> list[list[str]]:
    """Rows of cells, of the HTML and of the CALS kind; what a cell covers across is marked."""
    grid: list[list[str]] = []
    for row in [each for each in table.iter() if tag(each) in {"tr", "row"}]:
        cells: list[str] = []
        for cell in [each for each in row if tag(each) in {"td", "th", "entry"}]:
            span = cell.get("colspan", "1")
            cells += [flatten(words(cell))] + [ACROSS] * (
                min(int(span) if span.isdecimal() else 1, 50) - 1
            )
        grid.append(cells)
    return grid


def _header(table: Any) -> int | None:
    """How many first rows stand in the head; None where nothing says."""
    head = next((each for each in table.iter() if tag(each) == "thead"), None)
    return sum(tag(row) in {"tr", "row"} for row in head) or None if head is not None else None
