"""Figures of tables: a claim's figure must stand in the row and under the column that the claim names.

A row of a parsed table reads `Model: BERT | HOVER: 68.4 | FEVEROUS: 74.7`. The one rule: a claim that names neither row nor
column of the table is not judged by it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from citewell.skills.audit_words import GENERIC, Finding, Line, figures_in, plain, tokens
from citewell.skills.verify import COVERED

VALUE = re.compile(
    r"[-+±]?(\d[\d,]*(?:\.\d+)?)\s*(?:%|[A-Za-zµ]{1,4}|毫秒|秒|分钟|小时|天)?"
)  # a cell that is a figure, with its unit
_PARTS = re.compile(
    r"[;；。、]|(?<!\d)[,，]|[,，](?!\d{3}(?!\d))|\b(?:and|but|while|whereas|than|versus|vs\.?|ahead\s+of|compared\s+(?:with|to))\b|而|和|与|比",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Cell:
    """A figure with the words of its row (its cells without figures) and of its column."""

    number: str
    row: frozenset[str]
    column: frozenset[str]
    line: Line


def cells(evidence: Sequence[Line]) -> list[Cell]:
    """All figures of the tables in the passages."""
    found = []
    for line in evidence:
        pairs = [part.rpartition(": ")[::2] for part in line.text.split(" | ")] if " | " in line.text else []
        values = [(column, value.strip(), VALUE.fullmatch(value.strip())) for column, value in pairs]
        labels = frozenset(word for _, value, figure in values if not figure for word in tokens(value))
        found += [
            Cell(value[: figure.end(1)].replace(",", ""), labels, tokens(column), line)
            for column, value, figure in values
            if column and labels and figure
        ]
    return found


def misplaced(claim: str, evidence: Sequence[Line]) -> list[Finding]:
    """Figures of the claim that the table has in another row or under another column."""
    table = cells(evidence)
    found = []
    for number, near, whole in _figures(claim, evidence):
        there = [cell for cell in table if cell.number == number]
        if there and not any(_fits(cell, near, whole, table) for cell in there) and not _told(number, near, evidence, table):
            found.append(Finding(f"the table has {number} in another row or column"))
    return found


def _told(number: str, near: frozenset[str], evidence: Sequence[Line], table: Sequence[Cell]) -> bool:
    """Whether running text has the figure too, beside what the claim speaks of."""
    labels = {word for cell in table for word in cell.row} & near
    lines = [tokens(line.text) for line in evidence if " | " not in line.text and number in _plain(line.text)]
    return any(not labels or labels & words for words in lines)


def _plain(text: str) -> set[str]:
    return {figure.plain for figure in figures_in(text)}


def placed(claim: str, evidence: Sequence[Line]) -> list[Line]:
    """The rows that hold all figures of the claim where it says; empty where one is not there, or it says more."""
    table = cells(evidence)
    rows: list[Line] = []
    held: frozenset[str] = GENERIC
    for number, near, whole in _figures(claim, evidence):
        fitting = [
            c for c in table if c.number == number and _fits(c, near, whole, table) and near & c.row and whole & c.column
        ]
        if not fitting:
            return []
        held |= fitting[0].row | fitting[0].column | tokens(fitting[0].line.source.context)
        rows += [cell.line for cell in fitting[:1] if cell.line not in rows]
    words = tokens(plain(claim))
    return rows if len(words & held) >= COVERED * len(words) else []


def _figures(claim: str, evidence: Sequence[Line]) -> list[tuple[str, frozenset[str], frozenset[str]]]:
    """Each figure with the words of its part and of all the claim; those of a row's label (N=5, 2020) are none."""
    claim = masked = plain(claim)
    values = {v.strip() for line in evidence if " | " in line.text for v in re.findall(r": ([^|]+)", line.text)}
    for label in sorted((v for v in values if re.match(r"[^\W\d]", v)), key=len, reverse=True):
        masked = masked.replace(label, re.sub(r"\d", "_", label))
    found, start = [], 0
    cuts = [*(m.span() for m in _PARTS.finditer(claim)), (len(claim), len(claim))]
    for end, after in cuts:
        figures = figures_in(masked[start:end])
        found += [(f.plain, tokens(claim[start:end]), tokens(claim)) for f in figures]
        start = after if figures else start
    return found


def _fits(cell: Cell, near: frozenset[str], whole: frozenset[str], table: Sequence[Cell]) -> bool:
    """Whether the claim names this row and column, or no other of the table."""
    rows = {other.row for other in table}
    columns = {other.column for other in table if other.row == cell.row}
    return _named(cell.row, rows, near, whole) and _named(cell.column, columns, near, whole)


def _named(label: frozenset[str], labels: set[frozenset[str]], near: frozenset[str], whole: frozenset[str]) -> bool:
    """No other label holds more of the words beside the figure, or, where these name none, of the claim's words."""
    common = frozenset.intersection(*labels) if len(labels) > 1 else frozenset()
    for words in (near, whole):
        best = max(len((other - common) & words) for other in labels)
        if best:
            return len((label - common) & words) == best
    return True
