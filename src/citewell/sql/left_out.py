"""What a join leaves out of counts of groups: a stadium without concerts has no row where concerts
of each stadium are counted, and so is not the one with the fewest.
"""

from __future__ import annotations

from typing import Any

from citewell.sql.engines.engine import Schema
from citewell.sql.parse_sql import parse_sql
from citewell.sql.semantics.statement_tree import (
    Sources,
    list_places,
    map_sources,
    resolve_column,
    split_where,
)


def find_left_out(sql: str, schema: Schema) -> tuple[str, str] | None:
    """The table whose groups are counted, and the statement that counts those that have none; None
    where all groups are there, or those with few are not asked for.
    """
    from sqlglot import exp

    tree = parse_sql(sql, schema.dialect)
    if not isinstance(tree, exp.Select) or not _counts_groups(tree):
        return None
    sources, joins = map_sources(tree, schema), tree.args.get("joins", [])
    if not joins or len(sources) != len(joins) + 1 or any(each.side for each in joins):
        return None
    key = _choose_key(tree, sources)
    found = resolve_column(key, sources) if key is not None else None
    if found is None:
        return None
    alias = found[0]
    joined = tree.copy()
    for part in ("group", "having", "order", "limit", "offset"):
        joined.set(part, None)
    joined.set("expressions", [key.copy()])
    own = [each for each in split_where(tree) if _list_aliases(each, sources) == {alias}]
    place = next(each.this for each in list_places(tree) if each.this.alias_or_name == alias)
    asked = exp.select(exp.Count(this=exp.Distinct(expressions=[key.copy()]))).from_(place.copy())
    lacks = exp.Not(this=exp.In(this=key.copy(), query=exp.Subquery(this=joined)))
    asked = asked.where(*(each.copy() for each in own), lacks)
    return sources[alias].table.name, str(asked.sql(dialect=schema.dialect))


def _counts_groups(tree: Any) -> bool:
    """Whether groups are counted, and those with few or none would be shown."""
    from sqlglot import exp

    having, order, limit = (tree.args.get(part) for part in ("having", "order", "limit"))
    if tree.args.get("group") is None or not any(e.find(exp.Count) for e in (tree, order) if e):
        return False
    if having is not None and not having.find(exp.LT, exp.LTE):
        return False
    return limit is None or (order is not None and not order.expressions[0].args.get("desc"))


def _choose_key(tree: Any, sources: Sources) -> Any:
    """The column that tells the groups apart: the only one, or their table's key; None where the
    groups are not of one table.
    """
    from sqlglot import exp

    keys = tree.args["group"].expressions
    places = [resolve_column(key, sources) for key in keys if isinstance(key, exp.Column)]
    if len(places) < len(keys) or len({place and place[0] for place in places}) != 1:
        return None
    chosen = [key for key in keys if _is_key(key, sources)] or keys
    return _follow_join(tree, chosen[0], sources) if len(chosen) == 1 else None


def _is_key(column: Any, sources: Sources) -> bool:
    place = resolve_column(column, sources)
    own = sources[place[0]].table.primary_key if place else ()
    return place is not None and [place[1]] == [name.casefold() for name in own]


def _follow_join(tree: Any, key: Any, sources: Sources) -> Any:
    """`stadium.id` for `concert.stadium_id`, which it is joined to."""
    from sqlglot import exp

    place = resolve_column(key, sources)
    for equal in (each for join in tree.args["joins"] for each in join.find_all(exp.EQ)):
        for one, other in ((equal.this, equal.expression), (equal.expression, equal.this)):
            columns = isinstance(one, exp.Column) and isinstance(other, exp.Column)
            if columns and resolve_column(one, sources) == place and _is_key(other, sources):
                return other
    return key


def _list_aliases(tree: Any, sources: Sources) -> set[str]:
    from sqlglot import exp

    found = [resolve_column(column, sources) for column in tree.find_all(exp.Column)]
    return {each[0] if each else "" for each in found}
