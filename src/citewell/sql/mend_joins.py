"""The joins of a model's statement: one that nothing needs is left out, one by a column of a third
table goes by that table.

The one rule: tables are joined only by keys that the schema declares.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from citewell.sql.engines.engine import Table
from citewell.sql.schema_link import Linked

if TYPE_CHECKING:
    from sqlglot import exp

Sources = dict[str, Table]  # by alias, in small letters


def rejoin_tables(select: exp.Expr, sources: Sources, tables: dict[str, Table]) -> None:
    """`shop JOIN visit ON shop.id = visit.shop_id` where only `sale` has a `shop_id`: that table in
    the place of the joined one, or between the two where more is asked of it.
    """
    from sqlglot import exp

    for join in list(select.args.get("joins") or []):
        on = join.args.get("on")
        if not isinstance(on, exp.EQ) or not (
            isinstance(on.this, exp.Column) and isinstance(on.expression, exp.Column)
        ):
            continue
        for lacking, other in ((on.this, on.expression), (on.expression, on.this)):
            alias, there = lacking.table.lower(), sources.get(other.table.lower())
            if (
                alias not in sources
                or there is None
                or alias == other.table.lower()
                or has_column(sources[alias], lacking.name)
            ):
                continue
            if _repair_by_key(lacking, other, there, sources[alias]):
                continue
            key = (other.name.lower(), lacking.name.lower())
            fitting = [
                table
                for table in tables.values()
                if table not in sources.values()
                and "." not in table.name
                and key in {(one.lower(), two.lower()) for one, two in list_join_keys(there, table)}
            ]
            inside = [
                each
                for each in _list_columns(select)
                if each.table.lower() == alias and each is not lacking
            ]
            if (
                len(fitting) == 1
                and join.this.alias_or_name.lower() == alias
                and all(has_column(fitting[0], e.name) for e in inside)
            ):
                _replace_table(join, fitting[0], [lacking, *inside], sources)
            elif len(fitting) == 1 and fitting[0].name.lower() not in sources:
                _put_between(select, join, fitting[0], lacking, sources)


def _repair_by_key(lacking: exp.Column, other: exp.Column, there: Table, here: Table) -> bool:
    """`channel.Channel = cartoon.Channel` where the latter is a key that leads to `channel.id`:
    whether it is put right.
    """
    from sqlglot import exp

    own = {
        mine for theirs, mine in list_join_keys(there, here) if theirs.lower() == other.name.lower()
    }
    if len(own) != 1:
        return False
    (name,) = own
    lacking.set("this", exp.to_identifier(name, quoted=should_quote(name)))
    return True


def repair_subqueries(select: exp.Expr, sources: Sources, tables: dict[str, Table]) -> None:
    """The same of `Channel NOT IN (SELECT Channel FROM cartoon ...)`."""
    from sqlglot import exp

    for inside in select.find_all(exp.In):
        column, query = inside.this, inside.args.get("query")
        inner = query.unnest() if query is not None else None
        if not (
            isinstance(column, exp.Column)
            and isinstance(inner, exp.Select)
            and inside.parent_select is select
        ):
            continue
        source = inner.args.get("from_") or inner.args.get("from")
        shown = inner.expressions[0].unalias() if len(inner.expressions) == 1 else None
        there = tables.get(source.this.name.lower()) if source is not None else None
        here = (
            sources.get(column.table.lower())
            if column.table
            else next(iter(sources.values()), None)
        )
        if (
            isinstance(shown, exp.Column)
            and there
            and here
            and not any(has_column(table, column.name) for table in sources.values())
        ):
            _repair_by_key(column, shown, there, here)


def _replace_table(
    join: exp.Join, table: Table, columns: list[exp.Column], sources: Sources
) -> None:
    from sqlglot import exp

    before = join.this.alias_or_name.lower()
    alias = before if join.this.alias or table.name.lower() in sources else table.name.lower()
    join.this.set("this", exp.to_identifier(table.name, quoted=should_quote(table.name)))
    for column in columns:
        qualify_column(column, alias)
    del sources[before]
    sources[alias] = table


def _put_between(
    select: exp.Expr, join: exp.Join, table: Table, lacking: exp.Column, sources: Sources
) -> None:
    """`pets JOIN student ON pets.student_id = student.id` with `has_pet` between them, which has a
    key to either.
    """
    from sqlglot import exp

    alias, name = lacking.table.lower(), table.name.lower()
    ways = list_join_keys(sources[alias], table)
    start: Any = select.args.get("from_") or select.args.get("from")
    joined = join.this.alias_or_name.lower() == alias
    if len(ways) != 1 or (not joined and alias != start.this.alias_or_name.lower()):
        return
    own, theirs = ways[0]
    on = exp.EQ(
        this=exp.column(exp.to_identifier(own, quoted=should_quote(own)), table=lacking.table),
        expression=exp.column(exp.to_identifier(theirs, quoted=should_quote(theirs)), table=name),
    )
    between = exp.Join(
        this=exp.to_table(f'"{table.name}"' if should_quote(table.name) else table.name), on=on
    )
    qualify_column(lacking, name)
    if joined:  # the new table first: what was joined then hangs on it
        first = join.args["on"].copy()
        join.set("on", on)
        between.set("on", first)
    joins = list(select.args["joins"])
    joins.insert(joins.index(join), between)
    select.set("joins", joins)
    sources[name] = table


def prune_joins(select: exp.Expr, sources: Sources, linked: Linked) -> None:
    """Leave out inner joins of tables that the question says nothing of, where nothing but the join
    itself uses a column.
    """
    from sqlglot import exp

    joins: list[Any] = list(select.args.get("joins") or [])
    stars = [node for node in select.expressions if isinstance(node, exp.Star)]
    if stars or any(join.side or join.kind not in {"", "INNER"} for join in joins):
        return
    if linked.leaning and (
        select.args.get("group") or any(each.find(exp.AggFunc) for each in select.expressions)
    ):
        return  # a join multiplies what is counted: a word that stands for nothing may ask for that
    _turn_join(select, joins, sources, linked)
    for join in reversed(joins):
        alias = join.this.alias_or_name.lower()
        if isinstance(join.args.get("on"), exp.EQ) and _is_needless(
            select, join, alias, sources, linked
        ):
            joins.remove(join)
            del sources[alias]
    select.set("joins", joins)


def _turn_join(select: exp.Expr, joins: list[Any], sources: Sources, linked: Linked) -> None:
    """`FROM visit JOIN museum` the other way round, where it is the visit that nothing needs."""
    from sqlglot import exp

    start: Any = select.args.get("from_") or select.args.get("from")
    alias = start.this.alias_or_name.lower() if start is not None else ""
    using = [join for join in joins if _has_alias_column(join, alias)]
    if (
        len(using) != 1
        or using[0] is not joins[0]
        or not isinstance(using[0].args.get("on"), exp.EQ)
    ):
        return
    if _is_needless(select, using[0], alias, sources, linked):
        first, second = start.this, using[0].this
        start.set("this", second.copy())
        using[0].set("this", first.copy())


def _is_needless(
    select: exp.Expr, join: exp.Join, alias: str, sources: Sources, linked: Linked
) -> bool:
    """Whether the question says nothing of a table, and nothing but this join uses one of its
    columns.
    """
    if alias not in sources or linked.is_table_needed(
        sources[alias], [table for each, table in sources.items() if each != alias]
    ):
        return False
    rest = [column for column in _list_columns(select) if not _is_inside(column, join)]
    return not any(
        column.table.lower() == alias
        or (not column.table and has_column(sources[alias], column.name))
        for column in rest
    )


def _has_alias_column(node: exp.Expr, alias: str) -> bool:
    from sqlglot import exp

    return any(column.table.lower() == alias for column in node.find_all(exp.Column))


def _is_inside(node: exp.Expr, outer: exp.Expr) -> bool:
    at: Any = node
    while at is not None:
        if at is outer:
            return True
        at = at.parent
    return False


def join_table(column: exp.Column, select: exp.Expr, sources: Sources, table: Table) -> None:
    """Join `table` by the one key that connects it with a source."""
    from sqlglot import exp

    ways = [
        (alias, source, own, other)
        for alias, source in sources.items()
        for own, other in list_join_keys(source, table)
    ]
    if len(ways) != 1 or "." in table.name or not isinstance(select, exp.Select):
        return
    alias, _, own, other = ways[0]
    on = exp.EQ(
        this=exp.column(exp.to_identifier(own, quoted=should_quote(own)), table=alias),
        expression=exp.column(
            exp.to_identifier(other, quoted=should_quote(other)), table=table.name.lower()
        ),
    )
    joined = exp.to_table(f'"{table.name}"' if should_quote(table.name) else table.name)
    select.join(exp.alias_(joined, table.name.lower(), table=True), on=on, copy=False)
    sources[table.name.lower()] = table
    qualify_column(column, table.name.lower())


def list_join_keys(one: Table, other: Table) -> list[tuple[str, str]]:
    """Pairs of columns by which the two are joined: foreign keys of either."""
    forth = [
        (key.columns[0], key.target_columns[0])
        for key in one.foreign_keys
        if key.table.lower() == other.name.lower() and len(key.columns) == 1 and key.target_columns
    ]
    back = [
        (key.target_columns[0], key.columns[0])
        for key in other.foreign_keys
        if key.table.lower() == one.name.lower() and len(key.columns) == 1 and key.target_columns
    ]
    return forth + back


def _list_columns(select: exp.Expr) -> list[exp.Column]:
    from sqlglot import exp

    return list(select.find_all(exp.Column))


def has_column(table: Table, name: str) -> bool:
    return any(column.name.lower() == name.lower() for column in table.columns)


def qualify_column(column: exp.Column, alias: str) -> None:
    from sqlglot import exp

    column.set("table", exp.to_identifier(alias))


def should_quote(name: str) -> bool:
    return not (name.isascii() and name.isidentifier())
