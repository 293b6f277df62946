"""How long texts become that a statement puts together: in each round of a recursion, and from one
derived table to the next. A column of a stored table counts as one character, so what is measured
is how often its text is repeated. A recursion in which a text comes into itself twice doubles it in
each round, and no bound on its counter helps.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import UnionType
from typing import TYPE_CHECKING

from citewell.errors import StatementRefused
from citewell.messages import Text
from citewell.sql.guard.allowed_functions import AMPLIFYING, GROWING, REPEATING
from citewell.sql.guard.bounds import MOST_ROWS, evaluate_number, get_function_names
from citewell.sql.guard.text_length import (
    ONE,
    Columns,
    Length,
    Tables,
    check_length,
    estimate_growth,
    find_longest,
    get_column_length,
    is_doubling,
)

if TYPE_CHECKING:
    from sqlglot import exp

STORED: Columns = {"": ONE}


def check_growth(tree: exp.Expr, rounds: Mapping[str, float]) -> None:
    """`rounds`: of each recursion whose counter is bounded in the text. Raises StatementRefused."""
    try:
        _Growth(rounds).query(tree, {})
    except RecursionError:
        raise StatementRefused(
            Text("The statement is nested too deeply."), hint=Text("Flatten it with WITH.")
        ) from None


class _Growth:
    def __init__(self, rounds: Mapping[str, float]) -> None:
        self._rounds = rounds

    def query(self, tree: exp.Expr, tables: Tables, outer: Tables | None = None) -> Length:
        """The longest text that a query hands over."""
        from sqlglot import exp

        known = self._collect_ctes(tree, tables, outer)
        if isinstance(tree, exp.Subquery):
            found = self.query(tree.this, known, outer)
        elif isinstance(tree, exp.SetOperation):
            found = self.query(tree.left, known, outer).get_larger(
                self.query(tree.right, known, outer)
            )
        elif isinstance(tree, exp.Select):
            found = self._measure_select(tree, known, outer or {})
        else:
            found = self._sum_lengths(tree, known, outer or {})
        return check_length(found)

    def _collect_ctes(self, tree: exp.Expr, tables: Tables, outer: Tables | None = None) -> Tables:
        """With those of its WITH."""
        from sqlglot import exp

        known = dict(tables)
        for cte in tree.ctes if isinstance(tree, exp.Query) else ():
            itself = _has_table(cte.this, cte.alias.lower())
            known[cte.alias.lower()] = {
                "": self._measure_recursion(cte, known)
                if itself
                else self.query(cte.this, known, outer)
            }
        return known

    def _measure_select(self, select: exp.Select, tables: Tables, outer: Tables) -> Length:
        sources = self._collect_sources(select, tables, outer)
        found = ONE
        for projection in select.expressions:
            found = found.get_larger(self._measure_length(projection, tables, sources))
        # what is made there is made, and thrown away
        for clause in ("where", "having", "order", "group", "qualify"):
            if (part := select.args.get(clause)) is not None:
                for each in part.iter_expressions():
                    check_length(self._measure_length(each, tables, sources))
        return found

    def _collect_sources(self, select: exp.Select, tables: Tables, outer: Tables) -> Tables:
        from sqlglot import exp

        found = dict(outer)
        parts = [
            select.args.get("from_"),
            *(select.args.get("joins") or []),
            *(select.args.get("laterals") or []),
        ]
        for part in parts:
            if part is None:
                continue
            table = part.this
            while isinstance(table, exp.Paren | exp.Lateral) and not isinstance(
                table.this, exp.Query
            ):
                table = table.this
            columns = STORED
            if isinstance(table, exp.Table) and not isinstance(table.this, exp.Identifier):
                columns = {"": self._measure_length(table.this, tables, found)}  # a function
            elif isinstance(table, exp.Table) and not table.args.get("db"):
                columns = tables.get(table.name.lower(), STORED)
            elif isinstance(
                inner := table.this if isinstance(table, exp.Lateral) else table, exp.Query
            ):
                columns = {"": self.query(inner, tables, found)}
            found[(part.this.alias_or_name or table.alias_or_name).lower()] = columns
        return found

    def _measure_length(self, node: exp.Expr, tables: Tables, sources: Tables) -> Length:
        """The longest that an expression can be."""
        from sqlglot import exp

        if isinstance(node, exp.Literal):
            return Length(float(len(node.this))) if node.is_string else ONE
        if isinstance(node, exp.Column) and not isinstance(node.this, exp.Star):
            return get_column_length(node, sources)
        if isinstance(node, exp.Star | exp.Column):
            return find_longest(each for columns in sources.values() for each in columns.values())
        if isinstance(node, exp.Query):
            return self.query(node, tables, sources)
        arithmetic = (
            exp.Add | exp.Sub | exp.Mul | exp.Div | exp.IntDiv | exp.Mod | exp.Pow | exp.Neg
        )
        measures = (
            arithmetic
            | exp.Predicate
            | exp.Connector
            | exp.Not
            | exp.Length
            | exp.Count
            | exp.Sum
            | exp.Avg
        )
        if isinstance(node, measures):
            for each in _flatten_chain(node, measures):
                check_length(self._measure_length(each, tables, sources))
            return ONE  # a number, or yes and no
        if isinstance(node, exp.Case | exp.If | exp.Coalesce | exp.Nullif):
            return self._measure_choice(node, tables, sources)
        if isinstance(node, exp.Func):
            return self._measure_function(node, tables, sources)
        return self._sum_lengths(node, tables, sources)

    def _sum_lengths(self, node: exp.Expr, tables: Tables, sources: Tables) -> Length:
        from sqlglot import exp

        found = Length()
        for each in _flatten_chain(node, exp.DPipe):
            found = found.add(self._measure_length(each, tables, sources))
        return found

    def _measure_choice(self, node: exp.Expr, tables: Tables, sources: Tables) -> Length:
        """One of several; the conditions are no part of it."""
        from sqlglot import exp

        if isinstance(node, exp.Coalesce | exp.Nullif):
            parts = list(node.iter_expressions())
        else:
            chosen = [node.args.get(name) for name in ("true", "false", "default")]
            parts = [*(each for each in chosen if each is not None), *(node.args.get("ifs") or [])]
        return find_longest(self._measure_length(each, tables, sources) for each in parts)

    def _measure_function(self, function: exp.Func, tables: Tables, sources: Tables) -> Length:
        from sqlglot import exp

        names = get_function_names(function)
        if isinstance(function, exp.Replace | exp.RegexpReplace):
            other = function.args.get("replacement")
            text = self._measure_length(function.this, tables, sources)
            put = self._measure_length(other, tables, sources) if other is not None else Length()
            return text.multiply(max(1.0, put.whole)).add(put if put.of else Length())
        found = self._sum_lengths(function, tables, sources)
        if names & GROWING.keys():
            parts = list(function.iter_expressions())
            place = GROWING[next(iter(names & GROWING.keys()))]
            times = evaluate_number(parts[place]) if len(parts) > place else None
            if times is None:
                return found
            first = self._measure_length(parts[0], tables, sources)
            return (
                first.multiply(max(1.0, times)) if names & REPEATING else first.add(Length(times))
            )
        return found.multiply(2.0) if names & AMPLIFYING else found

    def _measure_recursion(self, cte: exp.CTE, tables: Tables) -> Length:
        """Refuses one that doubles a text, or that adds to a text for too many rounds."""
        from sqlglot import exp

        name = cte.alias.lower()
        first = cte.this.find(exp.Select)
        names = [
            each.lower()
            for each in cte.alias_column_names or (first.named_selects if first is not None else [])
        ]
        own = {"": ONE, **{each: Length(0.0, {each: 1.0}) for each in names}}
        steps: dict[str, Length] = {}
        for member in _list_members(cte.this):
            if not _has_table(member, name):
                continue
            known = self._collect_ctes(member, {**tables, name: own})
            sources = self._collect_sources(member, known, {})
            columns = (
                names
                if len(names) == len(member.expressions)
                else [str(n) for n in range(len(member.expressions))]
            )
            for column, projection in zip(columns, member.expressions, strict=True):
                steps[column] = steps.get(column, Length()).get_larger(
                    self._measure_length(projection, known, sources)
                )
        if is_doubling(steps):
            raise StatementRefused(
                Text(
                    "The recursion {alias} makes a text twice as long in each round.",
                    alias=cte.alias,
                ),
                hint=Text("Take each text on once in a round, as path || '/' || name does."),
            )
        return estimate_growth(cte.alias, steps, min(self._rounds.get(name, 0.0), float(MOST_ROWS)))


def _has_table(tree: exp.Expr, name: str) -> bool:
    """Whether the tree reads a table of that name."""
    from sqlglot import exp

    return any(
        each.name.lower() == name and not each.args.get("db") for each in tree.find_all(exp.Table)
    )


def _flatten_chain(node: exp.Expr, kinds: type | UnionType) -> Iterator[exp.Expr]:
    """A node's parts, replaced by their parts where of these kinds: chains of any length."""
    left = list(node.iter_expressions())
    while left:
        each = left.pop()
        if isinstance(each, kinds):
            left.extend(each.iter_expressions())
        else:
            yield each


def _list_members(tree: exp.Expr) -> Iterator[exp.Select]:
    """Of a union, each that is put together."""
    from sqlglot import exp

    if isinstance(tree, exp.SetOperation):
        yield from _list_members(tree.left)
        yield from _list_members(tree.right)
    elif isinstance(tree, exp.Subquery | exp.Paren):
        yield from _list_members(tree.this)
    elif isinstance(tree, exp.Select):
        yield tree
