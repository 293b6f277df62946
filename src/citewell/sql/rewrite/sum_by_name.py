"""Rows that a small model forgets to sum up in a statement that runs. Where a sum says other
than single rows, which one is shown is said.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from citewell.sql.column_label import split_name
from citewell.sql.engines.engine import Dialect
from citewell.sql.parse_sql import parse_sql
from citewell.text.split_words import split_words

_SINGLE = re.compile(
    r"\b(?:single|individual|one[- ]time|in one)\b|单[笔个次项条]|一次", re.IGNORECASE
)
# What adds up over rows; an age, a rating or a price of one piece does not.
_ADDS_UP = split_words(
    """
    cost costs amount amounts revenue sales spend spending spent expense expenses profit income
    turnover quantity qty
    """
)
_ADDS_UP_ZH = re.compile(r"(?:费用|金额|成本|支出|花费|销售额|销量|收入|营收|利润|数量)")


@dataclass(frozen=True, slots=True)
class Summed:
    """The statement that sums `figure` for each `name`, best first, where one row answered."""

    sql: str
    name: str
    figure: str


def sum_by_name(question: str, sql: str, dialect: Dialect) -> Summed | None:
    """For `SELECT name ... ORDER BY figure LIMIT 1`, where the figure is one that adds up and the
    question does not ask for a single row; None for any other.
    """
    from sqlglot import exp

    tree = _parse_plain_select(sql, dialect) if not _SINGLE.search(question) else None
    order = tree.args.get("order") if tree is not None else None
    if (
        tree is None
        or order is None
        or len(order.expressions) != 1
        or not _is_limit_one(tree.args.get("limit"))
    ):
        return None
    figure = _get_column(order.expressions[0].this)
    columns = [_get_column(each) for each in tree.expressions]
    if figure is None or None in columns or not is_additive(figure.name):
        return None
    names = [
        each
        for each in columns
        if each is not None and each.name.casefold() != figure.name.casefold()
    ]
    if len(names) != 1:
        return None
    total = exp.Sum(this=figure.copy())
    asked = tree.copy()
    asked.set("expressions", [names[0].copy(), total])
    way = order.expressions[0].args.get("desc")
    asked.set("order", exp.Order(expressions=[exp.Ordered(this=total.copy(), desc=way)]))
    asked = asked.where(figure.copy().is_(exp.null()).not_()).group_by(names[0].copy())
    return Summed(str(asked.sql(dialect=dialect)), names[0].name, figure.name)


def is_additive(column: str) -> bool:
    """Whether figures of a column may be summed up, by its name."""
    return bool(
        _ADDS_UP & {part.lower() for part in split_name(column)} or _ADDS_UP_ZH.search(column)
    )


def _is_limit_one(limit: Any) -> bool:
    count = limit.args.get("expression") if limit is not None else None
    return count is not None and str(count) == "1"


def _parse_plain_select(sql: str, dialect: Dialect) -> Any:
    """The tree of a SELECT without groups, aggregates, windows, set operations, DISTINCT."""
    from sqlglot import exp

    tree = parse_sql(sql, dialect)
    if isinstance(tree, exp.Select):
        _ungroup_edges(tree)
    if not isinstance(tree, exp.Select) or any(
        tree.args.get(part) for part in ("distinct", "group", "having", "qualify", "offset")
    ):
        return None
    parts = [*tree.expressions, *([tree.args["order"]] if tree.args.get("order") else [])]
    inside = any(part.find(exp.AggFunc, exp.Window, exp.Query, exp.Star) for part in parts)
    return None if inside else tree


def _ungroup_edges(select: Any) -> None:
    """`SELECT name, min(cost) ... GROUP BY name ORDER BY min(cost) LIMIT 1` names what the single
    row with the lowest cost does: it is made that.
    """
    from sqlglot import exp

    group, order = select.args.get("group"), select.args.get("order")
    if group is None or order is None or not _is_limit_one(select.args.get("limit")):
        return
    edges = {edge for edge in order.find_all(exp.Min, exp.Max) if _get_column(edge.this)}
    names = {each for each in select.expressions if _get_column(each) is not None}
    if len(edges) == 1 and len(names) == 1 and names == set(group.expressions):
        select.set("group", None)
        for edge in list(select.find_all(exp.Min, exp.Max)):
            if edge in edges:
                edge.replace(edge.this.copy())


def _get_column(expression: Any) -> Any:
    """The column that stands there, under another name or not; None for any other expression."""
    from sqlglot import exp

    inner = expression.unalias()
    return inner if isinstance(inner, exp.Column) else None
