"""Values that a statement filters by, held against those that are stored: why nothing was found. A
value is taken for another only where one stored value alone is plainly the same in another
spelling, and that is said; else the nearest are offered.
"""

from __future__ import annotations

import difflib
import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from citewell.sql.engines.engine import Column, Schema, Table
from citewell.sql.parse_sql import parse_sql
from citewell.sql.question_words import QUOTED

OFFERED = 3
NEAR = 0.6  # difflib's own ratio of what is worth a look (its documentation's cutoff)
# above it a misspelling: Netherland/Netherlands has 0.95, Austria/Australia 0.88 is kept apart by
# the next line
SAME = 0.85
AHEAD = 0.05  # by so much the best must lead the second
_HAN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff]")


@dataclass(frozen=True, slots=True)
class Filter:
    """`column = 'value'` of a statement; `folded`: compared without regard to case."""

    table: Table
    column: Column
    value: str
    folded: bool = False

    @property
    def all_values(self) -> Sequence[str] | None:
        """All values of the column; None where not all are known."""
        whole = self.column.distinct is not None and self.column.distinct <= len(self.column.values)
        return self.column.values if whole else None


@dataclass(frozen=True, slots=True)
class Absent:
    """A value its column lacks. `same`: the one meant, or empty; `nearest`: best first."""

    column: str
    value: str
    same: str = ""
    nearest: tuple[str, ...] = ()


def extract_filters(sql: str, schema: Schema) -> list[Filter]:
    """Texts that a statement compares columns with, by `=` and `IN`; empty if unreadable."""
    tree = parse_sql(sql, schema.dialect)
    if tree is None:
        return []
    from sqlglot import exp

    named = _map_tables(tree, schema)
    found = []
    for compared in tree.find_all(exp.EQ, exp.In, bfs=False):
        sides = [
            compared.this,
            *([compared.expression] if isinstance(compared, exp.EQ) else compared.expressions),
        ]
        columns = [column for side in sides for column in side.find_all(exp.Column)]
        texts = [side.this for side in sides if isinstance(side, exp.Literal) and side.is_string]
        place = _resolve_column(columns[0], named) if len(columns) == 1 and texts else None
        if place is not None:
            folded = any(isinstance(side, exp.Lower | exp.Upper) for side in sides)
            found += [Filter(*place, text, folded) for text in texts]
    return found


def find_absent(found: Filter, stored: Iterable[str]) -> Absent | None:
    """None where the value is stored."""
    values = list(dict.fromkeys(stored))
    if found.value in values or (
        found.folded and any(v.casefold() == found.value.casefold() for v in values)
    ):
        return None
    rated = sorted(
        ((measure_likeness(found.value, value), value) for value in values),
        key=lambda pair: -pair[0],
    )
    nearest = tuple(value for rate, value in rated[:OFFERED] if rate >= NEAR)
    alone = len(rated) < 2 or rated[0][0] - rated[1][0] >= AHEAD
    same = rated[0][1] if rated and rated[0][0] >= SAME and alone else ""
    return Absent(found.column.name, found.value, same, nearest)


def find_replaced_name(question: str, sql: str, schema: Schema) -> Absent | None:
    """A name that the question puts in quotation marks, where the statement compares with another
    one that nobody said: a small model takes a stored name for one that is not there. `same` is
    what it took; it may be a translation, so it is only told.
    """
    folded, said = sql.casefold(), question.casefold()
    lost = [
        each[1:-1].strip()
        for each in QUOTED.findall(question)
        if each[1:-1].strip().casefold() not in folded
    ]
    own = [each for each in extract_filters(sql, schema) if each.value.casefold() not in said]
    return Absent(own[0].column.name, lost[0], own[0].value) if lost and own else None


def measure_likeness(one: str, other: str) -> float:
    """1 for the same letters but case, width and spaces; 0 for other figures; else shared."""
    a, b = _fold_value(one), _fold_value(other)
    if a == b:
        return 1.0
    if re.findall(r"\d+", a) != re.findall(r"\d+", b) or not a or not b:
        return 0.0
    if _HAN.search(a) and len(a) >= 2 and (a in b or (len(b) >= 2 and b in a)):
        return 0.9  # 上海 and 上海市
    ratio = difflib.SequenceMatcher(None, a, b).ratio()
    if ratio >= SAME and (a[0] != b[0] or abs(len(a) - len(b)) > 1):
        return SAME - 0.01  # Austria and Australia: worth offering, not worth taking
    words_a, words_b = set(one.casefold().split()), set(other.casefold().split())
    # Math and Mathematics
    begins = min(len(a), len(b)) >= 4 and (a.startswith(b) or b.startswith(a))
    return max(ratio, 0.8 if begins or words_a <= words_b or words_b <= words_a else 0.0)


def replace_literal(sql: str, dialect: str, old: str, new: str) -> str:
    """The statement with one text in the place of another, wherever it is compared with."""
    from sqlglot import exp

    tree = parse_sql(sql, dialect)
    if tree is None:
        return sql
    for literal in list(tree.find_all(exp.Literal)):
        if literal.is_string and literal.this == old:
            literal.replace(exp.Literal.string(new))
    return str(tree.sql(dialect=dialect))


def build_lookup(found: Filter, dialect: str) -> str:
    """The statement that reads all values of the column."""
    from sqlglot import exp

    column = exp.column(found.column.name, quoted=True)
    schema, _, name = found.table.name.rpartition(".")
    table = exp.table_(name, db=schema or None, quoted=True)
    statement = (
        exp.select(column).distinct().from_(table).where(column.copy().is_(exp.null()).not_())
    )
    return str(statement.sql(dialect=dialect))


def list_tables(sql: str, schema: Schema) -> list[str]:
    """Names of the schema's tables that a statement reads, in order."""
    tree = parse_sql(sql, schema.dialect)
    if tree is None:
        return []
    return list(dict.fromkeys(table.name for table in _map_tables(tree, schema).values()))


def list_remarks(sql: str, schema: Schema, shown: Sequence[str] = ()) -> list[str]:
    """`Unit price: in €`: what is remarked of the tables that a statement reads, and of the columns
    that it names or that are `shown`. A sum has no name that tells its unit; the column that it is
    of has.
    """
    tree = parse_sql(sql, schema.dialect)
    if tree is None:
        return []
    from sqlglot import exp

    spoken = {
        name.casefold() for name in [*(column.name for column in tree.find_all(exp.Column)), *shown]
    }
    found: list[str] = []
    for table in _map_tables(tree, schema).values():
        said = [
            (each.name, each.comment) for each in table.columns if each.name.casefold() in spoken
        ]
        found += [
            f"{name}: {comment}"
            for name, comment in [(table.name, table.comment), *said]
            if comment
        ]
    return list(dict.fromkeys(found))


def _fold_value(text: str) -> str:
    return re.sub(r"[\s_\-.]+", "", unicodedata.normalize("NFKC", text).casefold())


def _map_tables(tree: Any, schema: Schema) -> dict[str, Table]:
    """Tables of the schema that the statement names, by the name or alias it has for them."""
    from sqlglot import exp

    known = {table.name.casefold(): table for table in schema.tables}
    found = {}
    for table in tree.find_all(exp.Table):
        full = ".".join(part for part in (table.db, table.name) if part).casefold()
        if (there := known.get(full) or known.get(table.name.casefold())) is not None:
            found[table.alias_or_name.casefold()] = there
    return found


def _resolve_column(column: Any, named: dict[str, Table]) -> tuple[Table, Column] | None:
    """The table and column that are meant."""
    among = (
        [named[column.table.casefold()]]
        if column.table.casefold() in named
        else list(named.values())
    )
    for table in among:
        for each in table.columns:
            if each.name.casefold() == column.name.casefold():
                return table, each
    return None
