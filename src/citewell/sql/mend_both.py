"""Two conditions that no row meets at once, in a question that wants what has rows of either kind:
`year = 2014 AND year = 2015` becomes an INTERSECT, and so does `year IN (2014, 2015)` where the
question says both.

The one rule: only conditions on one column are parted, and only in a plain list.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlglot import exp

_BOTH = re.compile(r"\bboth\b.*\band\b|既.*[又也]|同时", re.IGNORECASE | re.DOTALL)


def has_both_wording(question: str) -> bool:
    return bool(_BOTH.search(question))


def split_to_intersect(tree: exp.Expr, *, both: bool) -> exp.Expr:
    """The tree as an INTERSECT of two where one row cannot be meant; else as it was. `both`: the
    question says so.
    """
    from sqlglot import exp

    if (
        isinstance(tree, exp.Union | exp.Intersect)
        and tree.args.get("distinct")
        and tree.this == tree.expression
    ):
        once: exp.Expr = tree.this  # a statement with itself: its rows, each once
        return once.distinct() if isinstance(once, exp.Select) else once
    where = tree.args.get("where")
    if not isinstance(tree, exp.Select) or where is None or not _is_plain_list(tree):
        return tree
    conditions = list(where.this.flatten()) if isinstance(where.this, exp.And) else [where.this]
    for at, one in enumerate(conditions):
        ways: list[list[exp.Expr]] = [
            [one, other] for other in conditions[at + 1 :] if _is_exclusive(one, other)
        ]
        ways += [kinds for kinds in [_split_alternatives(one)] if both and len(kinds) == 2]
        if ways and not _has_column(tree, ways[0][0].this):
            rest = [
                each
                for each in conditions
                if each is not one and all(each is not other for other in ways[0])
            ]
            first, second = (_copy_with_conditions(tree, [*rest, each]) for each in ways[0])
            return exp.intersect(first, second, copy=False)
    return tree


def _is_plain_list(select: exp.Select) -> bool:
    """Rows as they stand: nothing counted, grouped or cut."""
    from sqlglot import exp

    if any(
        select.args.get(part)
        for part in ("group", "having", "limit", "offset", "qualify", "with_", "with")
    ):
        return False
    return not any(each.find(exp.AggFunc, exp.Window, exp.Star) for each in select.expressions)


def _copy_with_conditions(select: exp.Select, conditions: list[exp.Expr]) -> exp.Select:
    """A copy with these conditions and without an order, which parts of an INTERSECT cannot
    have.
    """
    from sqlglot import exp

    copy = select.copy()
    copy.set("order", None)
    copy.set("where", exp.Where(this=exp.and_(*conditions)))
    return copy


def _has_column(select: exp.Select, column: exp.Expr) -> bool:
    """Whether the list has the column itself: the same row is meant then."""
    from sqlglot import exp

    return any(
        shown.name.lower() == column.name.lower()
        for each in select.expressions
        for shown in each.find_all(exp.Column)
    )


def _split_alternatives(condition: exp.Expr) -> list[exp.Expr]:
    """`a IN (x, y)` and `(a = x OR a = y)` as the conditions that they join; empty for any
    other.
    """
    from sqlglot import exp

    inner = condition.unnest()
    if isinstance(inner, exp.In) and isinstance(inner.this, exp.Column):
        values = inner.expressions
        return [
            exp.EQ(this=inner.this.copy(), expression=each.copy())
            for each in values
            if isinstance(each, exp.Literal)
        ]
    if isinstance(inner, exp.Or):
        sides = [each.unnest() for each in inner.flatten()]
        columns = {
            each.this.sql()
            for each in sides
            if isinstance(each, exp.EQ | exp.LT | exp.GT | exp.LTE | exp.GTE)
        }
        return (
            sides
            if len(columns) == 1 and all(isinstance(each.this, exp.Column) for each in sides)
            else []
        )
    return []


def _is_exclusive(one: exp.Expr, other: exp.Expr) -> bool:
    """Whether no value of one column meets both."""
    from sqlglot import exp

    if not (
        isinstance(one.this, exp.Column)
        and isinstance(other.this, exp.Column)
        and one.this.sql() == other.this.sql()
    ):
        return False
    values = (one.args.get("expression"), other.args.get("expression"))
    if not all(isinstance(each, exp.Literal) for each in values):
        return False
    if isinstance(one, exp.EQ) and isinstance(other, exp.EQ):
        return values[0] != values[1]
    low, high = (one, other) if isinstance(one, exp.GT | exp.GTE) else (other, one)
    if not (isinstance(low, exp.GT | exp.GTE) and isinstance(high, exp.LT | exp.LTE)):
        return False
    figures = [each.args["expression"] for each in (low, high)]
    return all(each.is_number for each in figures) and float(figures[0].name) > float(
        figures[1].name
    )
