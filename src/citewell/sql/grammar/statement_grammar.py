"""A grammar of the statements that can be put to a schema, for a model that is held to it while it
writes: llguidance's dialect of Lark, which llama.cpp reads. What the grammar lets through, the
engine runs: tables joined by a key or not at all, columns of the tables that are read, texts that
are stored or stand in the question, sums of figures only.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType

from citewell.sql.column_uses import drop_nested, is_day, is_figure
from citewell.sql.engines.engine import Column, Schema, Table
from citewell.sql.grammar.grammar_literals import (
    DATE_PARTS,
    TERMINALS,
    list_days,
    write_date_conditions,
    write_question_words,
)
from citewell.sql.join_paths import JoinPath, find_join_paths, group_comparable, list_join_columns
from citewell.sql.schema_text import get_quote_mark, quote_name, quote_path
from citewell.sql.values_in_question import find_stored_values


def build_grammar(
    schema: Schema, question: str, spoken: Mapping[str, float] = MappingProxyType({})
) -> str:
    """Of the statements over `schema` whose texts are stored or stand in `question`. `spoken`: how
    much the question speaks of each table; it decides which are joined where there is no room for
    all.
    """
    return _Grammar(schema, question, spoken).build()


class _Grammar:
    def __init__(self, schema: Schema, question: str, spoken: Mapping[str, float]) -> None:
        self._schema = schema = drop_nested(schema)
        self._mark = get_quote_mark(schema.dialect)
        self._question = question
        self._paths = find_join_paths(schema, spoken)
        self._group = group_comparable(schema)
        self._days = list_days(question)
        self._stored = find_stored_values(question, schema)
        self._lines: list[str] = []

    def build(self) -> str:
        groups = sorted(set(self._group.values()))
        over = range(len(self._paths))
        selects = [f"{kind}{n}" for kind in ("list", "sums", "groups") for n in over]
        self._add("start", [*selects, *(f"column{g} SETS column{g}" for g in groups)])
        self._add_question()
        for number, path in enumerate(self._paths):
            self._add_path(number, path)
        for group in groups:
            self._add_group(group)
        self._add_columns()
        return TERMINALS + "\n".join(self._lines) + "\n"

    def _add(self, name: str, ways: Iterable[str]) -> None:
        self._lines.append(f"{name}: " + "\n  | ".join(dict.fromkeys(ways)))

    def _add_question(self) -> None:
        self._lines += write_question_words(self._question, [each.value for each in self._stored])
        self._lines.append("""LIKE: "'" "%"? SAID "%"? "'" """.rstrip())
        if self._days:
            days = " | ".join(f"/[12][0-9]{{3}}-{each}/" for each in self._days)
            self._lines.append(f"""ONDAY: "'" ({days}) "'" """.rstrip())

    def _add_path(self, n: int, path: JoinPath) -> None:
        """Statements over one set of tables."""
        kinds = ("own", "of") if len(path.tables) == 1 else ("of",)
        tables = [f"{kind}{self._number(table)}" for table in path.tables for kind in kinds]
        figures = [
            f"figure_{kind}{self._number(table)}"
            for table in path.tables
            for kind in kinds
            if any(is_figure(each, self._schema.dialect) for each in table.columns)
        ]
        self._add(f"from{n}", self._write_orders(path))
        self._add(f"col{n}", [f"col_{name}" for name in tables])
        self._add(f"edge{n}", [f"edge_{name}" for name in tables])
        self._add(f"key{n}", [f"key_{name}" for name in tables])
        self._add_figures(n, figures)
        self._add(f"where{n}", [f'" WHERE " if{n} (ALSO if{n})*'])
        self._add(f"case{n}", [f'"CASE WHEN " if{n} (ALSO if{n})* " THEN "'])
        pairs = [f"figure{n} COMPARE figure{n}"] if figures else []
        self._add(f"if{n}", [f"if_{name}" for name in tables] + pairs)
        having = f'" HAVING " total{n} (COMPARE NUMBER | " BETWEEN " NUMBER " AND " NUMBER)'
        self._add(f"by{n}", [f'" GROUP BY " key{n} (", " key{n})* ({having})?'])
        self._add_selects(n)

    def _add_figures(self, n: int, figures: Sequence[str]) -> None:
        """What is shown of each row, and what of several rows together."""
        total = ['"count(*)"', f'"count(" ("DISTINCT "? col{n} | case{n} "1 END") ")"']
        shown = [f"key{n}"]
        if figures:
            self._add(f"figure{n}", figures)
            shown.append(f"figure{n} SIGN (figure{n} | FACTOR)")
            total.append(f'("sum(" | "avg(" | "min(" | "max(") figure{n} (SIGN figure{n})? ")"')
            total.append(
                f'("sum(" | "avg(") case{n} figure{n} (SIGN figure{n})? (" ELSE 0")? " END)"'
            )
        self._add(f"total{n}", total)
        whole = f'(total{n} | "(SELECT " total{n} from{n} ")")'
        edge = f'("min(" | "max(") edge{n} ")"'
        self._add(f"sum{n}", [f"total{n} (SIGN FACTOR)? (SIGN {whole})?", edge])
        self._add(f"shown{n}", shown)
        self._add(f"item{n}", [f"key{n}", f"sum{n}"])

    def _add_selects(self, n: int) -> None:
        rest = f"from{n} where{n}?"
        order = '" ORDER BY " {0}{1} WAY? (", " {0}{1} WAY?)? LIMIT?'
        rows, grouped = order.format("shown", n), order.format("item", n)
        shown = f'shown{n} (", " shown{n})* {rest}'
        self._add(
            f"list{n}",
            [
                f'"SELECT " {shown} ({rows} | LIMIT)?',
                f'"SELECT " "DISTINCT " {shown} (" ORDER BY 1" WAY?)?',
            ],
        )
        self._add(f"sums{n}", [f'"SELECT " sum{n} NAMED? (", " sum{n} NAMED?)* {rest}'])
        self._add(f"groups{n}", [f'"SELECT " item{n} (", " item{n})* {rest} by{n} ({grouped})?'])

    def _list_places(self, path: JoinPath) -> list[tuple[Table, Column, str]]:
        """Columns, each as a statement over the path writes it."""
        ways = (True, False) if len(path.tables) == 1 else (False,)
        return [
            (table, column, self._write_column(table, column, alone=alone))
            for table in path.tables
            for alone in ways
            for column in table.columns
        ]

    def _number(self, table: Table) -> int:
        return self._schema.tables.index(table)

    def _write_column(self, table: Table, column: Column, *, alone: bool) -> str:
        name = self._quote_name(column.name)
        return name if alone else f"before{self._number(table)} {name}"

    def _write_orders(self, path: JoinPath) -> list[str]:
        """The FROM of a path, in each order."""
        known = {table.name: table for table in path.tables}
        return [
            " ".join(
                [
                    f'" FROM " {self._quote_path(first)} AS?',
                    *(self._write_join(known[before], known[name]) for before, name in steps),
                ]
            )
            for first, steps in path.orders
        ]

    def _write_join(self, before: Table, table: Table) -> str:
        """`JOIN table ON ...`, the two sides either way round."""
        ways: list[str] = []
        for pairs in list_join_columns(before, table):
            sides = [
                (self._write_full(before, mine), self._write_full(table, theirs))
                for mine, theirs in pairs
            ]
            ways += [
                ' " AND " '.join(f'{mine} " = " {theirs}' for mine, theirs in sides),
                ' " AND " '.join(f'{theirs} " = " {mine}' for mine, theirs in sides),
            ]
        joined = " | ".join(dict.fromkeys(ways))
        return f'JOIN {self._quote_path(table.name)} AS? " ON " ({joined})'

    def _write_full(self, table: Table, column: str) -> str:
        return f"before{self._number(table)} {self._quote_name(column)}"

    def _quote_name(self, name: str) -> str:
        return _quote_any_case(quote_name(name, self._mark))

    def _quote_path(self, name: str) -> str:
        return _quote_any_case(quote_path(name, self._mark))

    def _add_group(self, group: int) -> None:
        """Statements that give one column of those that may be held against each other, and those
        that give one value of it.
        """
        columns, values = [], []
        for n, path in enumerate(self._paths):
            for table, column, name in self._list_places(path):
                if self._group[table.name, column.name] != group:
                    continue
                text, rest = name, f"from{n} where{n}?"
                columns.append(f'"SELECT " "DISTINCT "? {text} {rest} by{n}?')
                one = f'(" ORDER BY " shown{n} | by{n} " ORDER BY " sum{n}) WAY? FIRST'
                values.append(f'"SELECT " {text} {rest} {one}')
                if column.kind != "bool":
                    average = '"avg(" | ' if is_figure(column, self._schema.dialect) else ""
                    values.append(f'"SELECT " ({average}"min(" | "max(") {text} ")" {rest}')
        self._add(f"column{group}", columns)
        self._add(f"value{group}", values)

    def _add_columns(self) -> None:
        """The columns of each table and the conditions on them, alone and behind their table."""
        for table in self._schema.tables:
            number = self._number(table)
            dotted = _quote_any_case(f"{quote_path(table.name, self._mark)}.")
            self._add(f"before{number}", [dotted, "ALIAS"])
            literals = [
                self._add_literal(f"{number}_{at}", column)
                for at, column in enumerate(table.columns)
            ]
            for kind, alone in (("own", True), ("of", False)):
                self._add_table(f"{kind}{number}", table, literals, alone=alone)

    def _add_table(self, name: str, table: Table, literals: list[str], *, alone: bool) -> None:
        texts = [self._write_column(table, column, alone=alone) for column in table.columns]
        self._add(f"col_{name}", texts)
        ordered = [t for c, t in zip(table.columns, texts, strict=True) if c.kind != "bool"]
        self._add(f"edge_{name}", ordered or [_quote("1")])
        parts = [
            f"{_quote(before)} {text} {_quote(after)}"
            for column, text in zip(table.columns, texts, strict=True)
            if is_day(column, self._schema.dialect)
            for before, after in DATE_PARTS[self._schema.dialect]
        ]
        self._add(f"key_{name}", [f"col_{name}", *parts])
        pairs, dialect = zip(table.columns, texts, strict=True), self._schema.dialect
        if figures := [text for column, text in pairs if is_figure(column, dialect)]:
            self._add(f"figure_{name}", figures)
        ways = [
            way
            for column, text, literal in zip(table.columns, texts, literals, strict=True)
            for way in self._write_conditions(table, column, text, literal)
        ]
        self._add(f"if_{name}", ways)

    def _write_conditions(self, table: Table, column: Column, text: str, literal: str) -> list[str]:
        group, name = self._group[table.name, column.name], text
        ways = [
            f'{name} AMONG column{group} ")"',
            f'{name} COMPARE "(" value{group} ")"',
            f'{name} SAME "(" column{group} ")"',  # `make_runnable` makes IN of it
            f"{name} NULLS",
        ]
        if literal == "DAY":
            ways += [f"{name} RANGE DAY", f'{name} " BETWEEN " DAY " AND " DAY']
            # a month or a year is no day: only a day that is said is asked for
            ways += [f"{name} SAME ONDAY"] if self._days else []
            return [*ways, *write_date_conditions(text, self._schema.dialect)]
        if not literal:
            return ways
        ways.append(f'{name} AMONG {literal} (", " {literal})* ")"')
        if is_figure(column, self._schema.dialect) or is_day(column, self._schema.dialect):
            ways += [f"{name} COMPARE {literal}", f'{name} " BETWEEN " {literal} " AND " {literal}']
        else:
            ways.append(f"{name} SAME {literal}")
        if column.kind == "text":
            ways.append(f'{name} (" LIKE " | " NOT LIKE ") LIKE')
        return (
            [*ways, *write_date_conditions(text, self._schema.dialect)]
            if is_day(column, self._schema.dialect)
            else ways
        )

    def _add_literal(self, place: str, column: Column) -> str:
        """The rule of what a column may be compared with; none where empty."""
        if column.kind == "number":
            return "NUMBER"
        if column.kind == "bool":
            return "YES_LITE" if self._schema.dialect == "sqlite" else "YES"
        if column.kind == "date" and self._schema.dialect != "sqlite":
            return "DAY" if is_day(column, self._schema.dialect) else ""
        name = f"TEXT{place}"
        stored = [_quote(value.replace("'", "''")) for value in column.values if "\n" not in value]
        said = "REST" if len(column.values) >= (column.distinct or 1_000_000) else "SAID"
        self._add(name, [f"""\"'" ({" | ".join([*dict.fromkeys(stored), said])}) "'" """.strip()])
        if not is_figure(column, self._schema.dialect):
            return name
        self._add(f"literal{place}", [name, "NUMBER"])
        return f"literal{place}"


def _quote_any_case(name: str) -> str:
    """A name: bare in any case, quoted as it is."""
    return _quote(name) if name.startswith(('"', "`")) else f"{_quote(name)}i"


def _quote(text: str) -> str:
    """A piece of a statement as the grammar writes it."""
    return json.dumps(text, ensure_ascii=False)
