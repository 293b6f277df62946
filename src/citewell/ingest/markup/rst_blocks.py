"""From docutils' tree to blocks, one kind of node a method.

The one rule: a node of an unknown kind is gone through; only comments, targets and docutils' own
messages say nothing.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from citewell.ingest.assemble import Assembly
from citewell.ingest.tables.table_text import ACROSS, format_table_lines

if TYPE_CHECKING:
    from docutils import nodes

_SILENT: Final = frozenset(
    {
        "comment",
        "target",
        "substitution_definition",
        "pending",
        "raw",
        "meta",
        "decoration",
        "generated",
    }
)
_CODE: Final = frozenset({"literal_block", "doctest_block", "math_block", "line_block"})
_NOTES: Final = frozenset(
    {"note", "warning", "tip", "hint", "important", "caution", "danger", "error", "attention"}
)
_INSERTS = re.compile(r"\s*\.\. (?:\|[^|]+\| )?(?:include|raw|csv-table)::")
_LINES = re.compile(r"\s*\n\s*")


class Reader:
    """Goes through the tree once; `_level` is the depth of the sections around."""

    def __init__(self, assembly: Assembly) -> None:
        self.out = assembly
        self._level = 0
        self._prefix = ""  # of the list item that is about to begin
        self._tight = False
        self._depth = 0  # of lists

    def read(self, node: Any) -> None:
        """Append what `node` says."""
        kind = node.tagname
        if kind in _SILENT:
            return
        method = getattr(self, f"_{kind}", None)
        if method is not None:
            method(node)
        elif kind in _CODE:
            self._add_block(_format_line_block(node) if kind == "line_block" else node.astext())
        elif _is_line(node):
            self._add_block(_get_flat_text(node))
        else:
            if kind in _NOTES:
                self._prefix = f"{self._prefix}{kind.capitalize()}: "
            for child in node.children:
                self.read(child)

    def _system_message(self, node: nodes.system_message) -> None:
        """Its words are docutils' own, but what it could not read stands in it as it is: a broken
        table, say.
        """
        for child in node.children:
            if child.tagname == "literal_block" and not _INSERTS.match(child.astext()):
                self._add_block(child.astext())

    def _section(self, node: nodes.section) -> None:
        self._level += 1
        for child in node.children:
            self.read(child)
        self._level -= 1

    def _title(self, node: nodes.title) -> None:
        """A section's title is a heading; a table's or a box's is a line."""
        if node.parent.tagname in {"section", "document"}:
            ids = node.parent.get("ids") or [""]
            self.out.heading(max(1, self._level), _get_flat_text(node), str(ids[0]))
        else:
            self._add_block(_get_flat_text(node))

    def _bullet_list(self, node: nodes.bullet_list) -> None:
        self._add_items(node, lambda _: "- ")

    def _enumerated_list(self, node: nodes.enumerated_list) -> None:
        first = int(node.get("start", 1))
        self._add_items(node, lambda number: f"{first + number}. ")

    def _add_items(self, node: Any, marker: Any) -> None:
        self._depth += 1
        for number, item in enumerate(node.children):
            self._prefix = "  " * (self._depth - 1) + marker(number)
            self._tight = number > 0 or self._depth > 1
            for child in item.children:
                self.read(child)
            self._prefix = ""
        self._depth -= 1
        self._tight = self._depth > 0

    def _field_list(self, node: nodes.field_list) -> None:
        for child in node.children:
            self.read(child)
        self._tight = False

    _option_list = _field_list

    def _definition_list_item(self, node: nodes.definition_list_item) -> None:
        terms = [
            _get_flat_text(each) for each in node.children if each.tagname in {"term", "classifier"}
        ]
        self._add_block(" : ".join(terms))
        self._tight = True
        for child in node.children:
            if child.tagname == "definition":
                self.read(child)

    def _field(self, node: nodes.field) -> None:
        name, body = (
            node.children[0].astext(),
            _get_flat_text(node.children[1]) if len(node.children) > 1 else "",
        )
        self._add_block(f"{name}: {body}" if body else name)
        self._tight = True

    def _option_list_item(self, node: nodes.option_list_item) -> None:
        options = ", ".join(
            _format_option(each)
            for child in node.children
            for each in child.children
            if each.tagname == "option"
        )
        said = " ".join(
            _get_flat_text(child) for child in node.children if child.tagname == "description"
        )
        self._add_block(f"{options}  {said}")
        self._tight = True

    def _image(self, node: nodes.image) -> None:
        self._add_block(str(node.get("alt", "")))

    def _footnote(self, node: nodes.footnote) -> None:
        label = next((child.astext() for child in node.children if child.tagname == "label"), "")
        self._prefix = f"[{label}] " if label else ""
        for child in node.children:
            if child.tagname != "label":
                self.read(child)

    _citation = _footnote

    def _table(self, node: nodes.table) -> None:
        for title in (child for child in node.children if child.tagname == "title"):
            self._add_block(_get_flat_text(title))
        for group in (child for child in node.children if child.tagname == "tgroup"):
            head = [
                each for part in group.children if part.tagname == "thead" for each in part.children
            ]
            body = [
                each for part in group.children if part.tagname == "tbody" for each in part.children
            ]
            rows = _build_grid([*head, *body])
            self.out.rows(format_table_lines(rows, header=len(head) or None))
        self._tight = False

    def _add_block(self, text: str) -> None:
        if text.strip():
            self.out.block(self._prefix + text, gap="\n" if self._tight else "\n\n")
            self._prefix, self._tight = "", False


def _format_option(node: Any) -> str:
    """`--file=NAME`, as it is written."""
    return "".join(child.astext() for child in node.children)


def _build_grid(rows: list[Any]) -> list[list[str]]:
    """Cells by row; one that covers several is repeated downwards and marked across."""
    grid: list[list[str]] = []
    covering: dict[int, tuple[int, str]] = {}
    for row in rows:
        cells: list[str] = []
        for entry in row.children:
            _fill_spanned_cells(cells, covering)
            for text in [_get_flat_text(entry)] + [ACROSS] * int(entry.get("morecols", 0)):
                cells.append(text)
                if entry.get("morerows"):
                    covering[len(cells) - 1] = (int(entry["morerows"]), text)
        _fill_spanned_cells(cells, covering)
        grid.append(cells)
    return grid


def _fill_spanned_cells(cells: list[str], covering: dict[int, tuple[int, str]]) -> None:
    while len(cells) in covering:
        left, text = covering.pop(len(cells))
        if left > 1:
            covering[len(cells)] = (left - 1, text)
        cells.append(text)


def _is_line(node: Any) -> bool:
    """Whether a node holds running text: text, or nothing but inline tags around it."""
    from docutils import nodes

    return isinstance(node, nodes.TextElement) or any(
        isinstance(child, nodes.Text) for child in node.children
    )


def _get_flat_text(node: Any) -> str:
    """The words of a node on one line, without docutils' messages."""
    from docutils import nodes

    parts = [
        text.astext()
        for text in node.findall(nodes.Text)
        if text.parent.tagname not in {"system_message", "raw", "comment"}
    ]
    blocks = node.tagname in {"entry", "field_body", "definition", "description"}
    return _LINES.sub(" ", (" " if blocks and len(node.children) > 1 else "").join(parts)).strip()


def _format_line_block(node: Any) -> str:
    return "\n".join(
        _format_line_block(child) if child.tagname == "line_block" else child.astext()
        for child in node.children
    )
