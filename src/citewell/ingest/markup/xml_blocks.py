"""XML that is a text (JATS, DocBook, DITA, TEI): titles, paragraphs, lists, tables and code, by the
names of its tags. An element of no known name is gone through, so nothing is lost for being called
otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from citewell.ingest.assemble import Assembly
from citewell.ingest.markup.xml_tree import extract_text, find_element, get_tag
from citewell.ingest.tables.header import ACROSS
from citewell.ingest.tables.table_text import format_table_lines
from citewell.ingest.web.html_blocks import collapse_whitespace
from citewell.text.split_words import split_words

TITLES: Final = frozenset({"title", "head", "heading", "article-title", "bridgehead"})
SECTIONS: Final = split_words(
    """
    sec section sect1 sect2 sect3 sect4 sect5 chapter part appendix app ack abstract topic book
    article preface div div1 div2 div3 refsect1 refsect2 glossary bibliography sub-article
    response boxed-text notes fn-group ref-list
    """
)
PARAGRAPHS: Final = split_words(
    """
    p para simpara formalpara ab lg verse-group disp-quote attrib caption subtitle label term
    def def-item note shortdesc summary description speech
    """
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
_NEVER: Final = split_words(
    "object-id graphic inline-graphic alternatives-id permissions processing-meta index indexterm"
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
        name = get_tag(element)
        if name in _NEVER:
            return
        if name in _TABLES:
            self.out.rows(
                format_table_lines(_build_grid(element), header=_count_header_rows(element))
            )
        elif name in _CODE:
            self.out.block(extract_text(element))
        elif name in _FIGURES:
            self._add_figure(element, level)
        elif name in _LISTS:
            self.out.rows(list(_format_list(element, "")))
        elif name in _FORMULAS:
            self.out.block(collapse_whitespace(extract_text(element, _NOT_SHOWN)))
        elif name in PARAGRAPHS or not _has_blocks(element):
            self._add_paragraph(element, level)
        else:
            self._add_section(element, level)

    def _add_section(self, element: Any, level: int) -> None:
        """An element with others in it; a title of its own makes it a section."""
        heading = "" if get_tag(element) == "info" else get_title(element)
        if heading:
            self.out.heading(
                level,
                heading,
                element.get("id") or element.get("{http://www.w3.org/XML/1998/namespace}id") or "",
            )
        self._add_loose_text(element.text)
        for child in element:
            if not (
                (heading or get_tag(element) == "info") and get_tag(child) in TITLES | {"label"}
            ):
                self.walk(child, level + 1 if heading else level)
            self._add_loose_text(child.tail)

    def _add_loose_text(self, text: str | None) -> None:
        if text and text.strip():
            self.out.block(collapse_whitespace(text))

    def _add_paragraph(self, element: Any, level: int) -> None:
        """A paragraph, and after it the lists and tables that stand in it."""
        inner = [
            child
            for child in element
            if get_tag(child) in _BLOCKS - TITLES - {"label", "term", "def", "description"}
        ]
        if (
            inner
            and not collapse_whitespace(element.text or "")
            and all(not (child.tail or "").strip() for child in element)
        ):
            for child in element:
                self.walk(child, level)
            return
        self.out.block(
            collapse_whitespace(
                extract_text(element, frozenset(get_tag(child) for child in inner) | _NOT_SHOWN)
            )
        )
        for child in inner:
            self.walk(child, level)

    def _add_figure(self, element: Any, level: int) -> None:
        """The label and caption in one paragraph, then what else is in it."""
        label, caption = find_element(element, "label"), find_element(element, "caption")
        said = [
            collapse_whitespace(extract_text(each))
            for each in (label, find_element(element, "title"))
            if each is not None
        ]
        said += [
            collapse_whitespace(extract_text(each))
            for each in (caption if caption is not None else [])
        ]
        self.out.block(" ".join(filter(None, said)))
        for child in element:
            if get_tag(child) not in {"label", "caption", "title"} and len(child):
                self.walk(child, level)


def _format_list(element: Any, indent: str) -> Iterator[str]:
    ordered = element.get("list-type") == "order" or get_tag(element) in {"orderedlist", "ol"}
    number = 0
    for child in element:
        if get_tag(child) in TITLES:
            yield collapse_whitespace(extract_text(child))
        if get_tag(child) not in _ITEMS | {"varlistentry", "member"}:
            continue
        number += 1
        inner = [each for each in child.iter() if get_tag(each) in _LISTS]
        text = collapse_whitespace(_format_item(child))
        if text:
            yield f"{indent}{f'{number}.' if ordered else '-'} {text}"
        for each in inner:
            if _is_direct_item(each, child):
                yield from _format_list(each, indent + "  ")


def _is_direct_item(element: Any, item: Any) -> bool:
    """Whether no other list stands between `element` and `item`."""
    above = element.getparent()
    while above is not None and above is not item:
        if get_tag(above) in _LISTS:
            return False
        above = above.getparent()
    return True


def _format_item(item: Any) -> str:
    """The words of a list item without the lists in it, its paragraphs set apart."""
    parts = [item.text or ""]
    for child in item:
        if get_tag(child) not in _LISTS:
            parts += [extract_text(child, _LISTS), " " if get_tag(child) in _BLOCKS else ""]
        parts.append(child.tail or "")
    return "".join(parts)


def get_title(element: Any) -> str:
    """The title of a section, with its number where that is told apart; empty where it has none."""
    title = next((child for child in element if get_tag(child) in TITLES), None)
    if title is None:
        info = find_element(element, "info")
        title = find_element(info, "title") if info is not None else None
    label = find_element(element, "label")
    said = [collapse_whitespace(extract_text(each)) for each in (label, title) if each is not None]
    return " ".join(said) if title is not None else ""


def _has_blocks(element: Any) -> bool:
    return any(get_tag(each) in _BLOCKS for each in element.iter() if each is not element)


def _build_grid(table: Any) -> list[list[str]]:
    """Rows of cells, of the HTML and of the CALS kind; what a cell covers across is marked."""
    grid: list[list[str]] = []
    for row in [each for each in table.iter() if get_tag(each) in {"tr", "row"}]:
        cells: list[str] = []
        for cell in [each for each in row if get_tag(each) in {"td", "th", "entry"}]:
            span = cell.get("colspan", "1")
            cells += [collapse_whitespace(extract_text(cell))] + [ACROSS] * (
                min(int(span) if span.isdecimal() else 1, 50) - 1
            )
        grid.append(cells)
    return grid


def _count_header_rows(table: Any) -> int | None:
    """How many first rows stand in the head; None where nothing says."""
    head = next((each for each in table.iter() if get_tag(each) == "thead"), None)
    return sum(get_tag(row) in {"tr", "row"} for row in head) or None if head is not None else None
