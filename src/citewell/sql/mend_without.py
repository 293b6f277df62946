"""What a question wants that has *none* of something: `students who do not have a cat` is not a
join with `pet <> 'cat'`, which finds those who have another pet too.

The one rule: a condition is turned round only where the question denies and the joined rows are
several to each one listed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from citewell.sql.engines.engine import Table

if TYPE_CHECKING:
    from sqlglot import exp

_DENIES = re.compile(
    r"\b(?:not|no|never|without|except|neither|none)\b|n['’]t\b|没|不(?!同)|未|除|无", re.IGNORECASE
)


def is_denial(question: str) -> bool:
    return bool(_DENIES.search(question))


def rewrite_as_exclusion(select: exp.Expr, sources: Mapping[str, Table]) -> exp.Expr:
    """`SELECT a.x FROM a JOIN b ... WHERE b.y <> 'v'` as `SELECT a.x FROM a WHERE NOT a.key IN
    (SELECT a.key FROM a JOIN b ... WHERE b.y = 'v')`; else as it was. `sources`: the tables by
    their aliases, all of them.
    """
    from sqlglot import exp

    where = select.args.get("where")
    if not isinstance(select, exp.Select) or where is None or not _is_joined_list(select):
        return select
    conditions = list(where.this.flatten()) if isinstance(where.this, exp.And) else [where.this]
    of = [(each, _find_alias(each, sources)) for each in conditions]
    listed = {
        _find_owner(column, sources)
        for each in select.expressions
        for column in each.find_all(exp.Column)
    }
    denied = [
        (each, positive)
        for each, alias in of
        if alias not in listed and (positive := _extract_positive(each)) is not None
    ]
    if len(listed) != 1 or len(denied) != 1 or "" in listed:
        return select
    (main,), (condition, positive) = listed, denied[0]
    if any(alias != main for each, alias in of if each is not condition) or not _has_several_rows(
        main, sources
    ):
        return select
    key = _get_key(sources[main])
    if not key:
        return select
    source = _copy_source(select, main)
    column = exp.column(
        exp.to_identifier(key, quoted=not key.isidentifier()), table=source.alias_or_name
    )
    inner = select.copy()
    inner.set("expressions", [column.copy()])
    inner.set("where", exp.Where(this=positive))
    for part in ("order", "distinct"):
        inner.set(part, None)
    outer = select.copy()
    outer.set("from_", exp.From(this=source))
    outer.set("joins", None)
    kept = [each.copy() for each, _ in of if each is not condition]
    outer.set(
        "where",
        exp.Where(
            this=exp.and_(*kept, exp.Not(this=exp.In(this=column, query=exp.Subquery(this=inner))))
        ),
    )
    return outer


def _is_joined_list(select: exp.Select) -> bool:
    from sqlglot import exp

    if not select.args.get("joins") or any(
        select.args.get(part) for part in ("group", "having", "qualify", "with_", "with")
    ):
        return False
    if any(join.side or join.kind not in {"", "INNER"} for join in select.args["joins"]):
        return False
    return not any(each.find(exp.AggFunc, exp.Window, exp.Star) for each in select.expressions)


def _extract_positive(condition: exp.Expr) -> exp.Expr | None:
    """What a condition denies: `y = 'v'` of `y <> 'v'`; None where it denies nothing."""
    from sqlglot import exp

    inner = condition.unnest()
    if (
        isinstance(inner, exp.NEQ)
        and isinstance(inner.this, exp.Column)
        and isinstance(inner.expression, exp.Literal)
    ):
        return exp.EQ(this=inner.this.copy(), expression=inner.expression.copy())
    denied = inner.this.unnest() if isinstance(inner, exp.Not) else None
    if isinstance(denied, exp.EQ | exp.Like) and isinstance(denied.expression, exp.Literal):
        return denied.copy()
    if (
        isinstance(denied, exp.In)
        and isinstance(denied.this, exp.Column)
        and not denied.args.get("query")
    ):
        return denied.copy()
    return None


def _find_alias(condition: exp.Expr, sources: Mapping[str, Table]) -> str:
    """The one source that a condition is about; empty where there are several."""
    from sqlglot import exp

    owners = {_find_owner(column, sources) for column in condition.find_all(exp.Column)}
    return owners.pop() if len(owners) == 1 else ""


def _find_owner(column: exp.Column, sources: Mapping[str, Table]) -> str:
    if column.table:
        return column.table.lower() if column.table.lower() in sources else ""
    having = [
        alias
        for alias, table in sources.items()
        if any(e.name.lower() == column.name.lower() for e in table.columns)
    ]
    return having[0] if len(having) == 1 else ""


def _has_several_rows(main: str, sources: Mapping[str, Table]) -> bool:
    """Whether another source has a key that leads to the listed one: several of its rows may belong
    to one.
    """
    name = sources[main].name.lower()
    return any(
        key.table.lower() == name
        for alias, table in sources.items()
        if alias != main
        for key in table.foreign_keys
    ) and not any(
        key.table.lower() == table.name.lower()
        for table in sources.values()
        for key in sources[main].foreign_keys
    )


def _get_key(table: Table) -> str:
    return table.primary_key[0] if len(table.primary_key) == 1 else ""


def _copy_source(select: exp.Expr, alias: str) -> exp.Expr:
    """The table itself, as FROM or a JOIN has it."""
    from sqlglot import exp

    start = select.args.get("from_") or select.args.get("from")
    assert isinstance(start, exp.From)
    parts = [start.this, *(join.this for join in select.args.get("joins") or [])]
    found: exp.Expr = next(part for part in parts if part.alias_or_name.lower() == alias)
    return found.copy()
