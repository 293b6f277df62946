"""What a grammar cannot tell: a GROUP BY that names all that is shown beside sums, as most engines
demand, sums shown with what they are grouped by, and values held against all that a SELECT gives,
where it may give several. No group is joined or lost by it but where a shown column tells rows of
one group apart, which no engine but SQLite would run.
"""

from __future__ import annotations

from typing import Any

from citewell.sql.engines.engine import Dialect
from citewell.sql.parse_sql import parse_sql


def make_runnable(sql: str, dialect: Dialect) -> str:
    """A statement that the grammar let through, as every engine runs it; as it was where it cannot
    be parsed.
    """
    if (tree := parse_sql(sql, dialect)) is None:
        return sql
    changed = [_compare_with_all(tree), _show_groups(tree)]
    if dialect != "sqlite":
        changed.append(_complete_grouping(tree))
    return str(tree.sql(dialect=dialect)) if any(changed) else sql


def _show_groups(tree: Any) -> bool:
    """`SELECT sum(cost) ... GROUP BY month` with the months, without which nobody can read it."""
    from sqlglot import exp

    group = tree.args.get("group") if isinstance(tree, exp.Select) else None
    if group is None or tree.args.get("limit"):
        return False
    if not all(each.find(exp.AggFunc) for each in tree.expressions):
        return False
    keys = [key.copy() for key in group.expressions]
    tree.set("expressions", [*keys, *tree.expressions])
    return True


def _compare_with_all(tree: Any) -> bool:
    """`= (SELECT ...)` as `IN (SELECT ...)` where it may give several rows: no LIMIT, no sum."""
    from sqlglot import exp

    found = [
        each
        for each in tree.find_all(exp.EQ, exp.NEQ)
        if isinstance(each.expression, exp.Subquery)
        and isinstance(each.expression.this, exp.Select)
        and not each.expression.this.args.get("limit")
        and not any(shown.find(exp.AggFunc) for shown in each.expression.this.expressions)
    ]
    for each in found:
        among = exp.In(this=each.this.copy(), query=each.expression.copy())
        each.replace(among if isinstance(each, exp.EQ) else exp.Not(this=among))
    return bool(found)


def _complete_grouping(tree: Any) -> bool:
    """`SELECT name, count(*) ... GROUP BY id` with `GROUP BY id, name`."""
    from sqlglot import exp

    added = False
    for select in tree.find_all(exp.Select):
        group, order = select.args.get("group"), select.args.get("order")
        if group is None or group.args.get("all"):
            continue
        named = {each.alias.casefold() for each in select.expressions if each.alias}
        ordered = [each.this for each in (order.expressions if order else [])]
        keys = [
            *(each.unalias() for each in select.expressions),
            # but the name of what is shown, which stands for that
            *(
                e
                for e in ordered
                if not isinstance(e, exp.Column) or e.sql().casefold() not in named
            ),
        ]
        for key in keys:
            plain = key.find(exp.Column) and not key.find(exp.AggFunc, exp.Query)
            if plain and key not in group.expressions:
                group.append("expressions", key.copy())
                added = True
    return added
