"""The rows of a paper's tables with their cells, and what of them a question names. A row is read
only where its cells are told with their columns, as the parsers write tables they are sure of.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from citewell.ingest.paper.shape import Float
from citewell.text.tokens import tokenize_for_index, tokenize_query

NAMED: Final = 0.6  # share of a label's words, the common ones counting less, that names it
HALF_NAMED: Final = 0.3  # the same of a column, which is often told in part
_FIGURE = re.compile(r"[-−]?\d+(?:,\d{3})*(?:\.\d+)?")
_CELL = re.compile(r"([^|:]{1,80}): ([^|]*)")
_ASIDE = re.compile(r"[(（][^)）]*[)）]")


@dataclass(frozen=True, slots=True)
class Row:
    """`kind`: the label column's head. `cells` by column; its words: `start` to `end`."""

    kind: str
    label: str
    cells: Mapping[str, str]
    start: int
    end: int

    def find_figure(self, column: str) -> str:
        """The first figure of a cell as it stands there, empty where it has none."""
        found = _FIGURE.search(self.cells.get(column, ""))
        return found[0] if found else ""

    def get_value(self, column: str) -> float:
        """Of a cell that has a figure."""
        return parse_figure(self.find_figure(column))


def parse_figure(text: str) -> float:
    return float(text.replace(",", "").replace("−", "-"))


def read_rows(table: Float, text: str) -> list[Row]:
    """The rows of a table whose cells are told with their columns; empty of any other."""
    if table.kind != "table" or table.body is None:
        return []
    rows, start = [], table.body[0]
    for line in re.finditer(r"[^\n]+", text[start : table.body[1]]):
        cells = [(name.strip(" -"), value.strip()) for name, value in _CELL.findall(line[0])]
        if len(cells) > 1:
            (kind, label), *rest = cells
            rows.append(
                Row(kind, label.lstrip("- "), dict(rest), start + line.start(), start + line.end())
            )
    return rows


def list_figure_columns(rows: Sequence[Row]) -> list[str]:
    """The columns that have a figure in every row."""
    names = dict.fromkeys(name for row in rows for name in row.cells)
    return [name for name in names if all(row.find_figure(name) for row in rows)]


def remove_totals(rows: Sequence[Row]) -> list[Row]:
    """Without a last row that sums up the others in some column."""
    *others, last = rows
    for name in list_figure_columns(rows):
        figures = [row.get_value(name) for row in others]
        if len(figures) > 1 and abs(sum(figures) - last.get_value(name)) < 1e-6:
            return others
    return list(rows)


def find_column(question: str, rows: Sequence[Row]) -> str:
    """The column of figures that the question names most of; empty where it is none or several."""
    shares = measure_named(list_figure_columns(rows), question)
    best = max(shares.values(), default=0.0)
    named = [name for name, share in shares.items() if share == best and share >= HALF_NAMED]
    return named[0] if len(named) == 1 else ""


def find_value(question: str, rows: Sequence[Row]) -> tuple[str, str]:
    """Column and words of the longest cell without a figure that the question names whole; empty
    where it is none, or several.
    """
    cells = {(name, value.casefold()) for row in rows for name, value in row.cells.items()}
    asked = {*tokenize_query(question), *tokenize_for_index(question)}
    words = {c: set(tokenize_for_index(c[1])) for c in cells if not _FIGURE.search(c[1])}
    named = {cell: held for cell, held in words.items() if held and held <= asked}
    most = max(map(len, named.values()), default=0)
    longest = [cell for cell, held in named.items() if len(held) == most]
    return longest[0] if len(longest) == 1 else ("", "")


def find_number(question: str, column: str) -> str:
    """The one figure of the question outside the column's name; empty for several or none."""
    own = {each.lstrip("-−") for each in _FIGURE.findall(column)}
    found = [each for each in _FIGURE.findall(question) if each.lstrip("-−") not in own]
    return found[0] if len(found) == 1 else ""


def is_named(label: str, question: str) -> bool:
    return measure_named([label], question)[label] >= NAMED


def measure_named(labels: Iterable[str], question: str) -> dict[str, float]:
    """Of each label the share of its words that are in the question; what other labels have too
    tells little. What stands in brackets is no part of a name.
    """
    asked = {*tokenize_query(question), *tokenize_for_index(question)}
    words = {label: set(tokenize_for_index(_ASIDE.sub("", label) or label)) for label in labels}
    common = Counter(word for each in words.values() for word in each)
    shares = {}
    for label, each in words.items():
        told, whole = (sum(1 / common[word] for word in held) for held in (each & asked, each))
        shares[label] = told / whole if whole else 0.0
    return shares


def mask_names(question: str, names: Mapping[str, str]) -> str:
    """The question with letters in place of what it names, as the examples have them. `names`:
    each letter with a name; longer names first, so that none is cut by another.
    """
    for letter, name in sorted(names.items(), key=lambda each: -len(each[1])):
        plain = _ASIDE.sub("", name).strip()
        if plain:
            question = re.sub(re.escape(plain), letter, question, flags=re.IGNORECASE)
    return question
