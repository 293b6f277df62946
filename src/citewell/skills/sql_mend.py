"""What a small model gets wrong in SQL that the schema can put right without asking it again: a column written with another
table's alias, a table that was forgotten in the joins, a join that nothing needs, a stored value in other letters.

Measured with the built-in model (docs/evaluation.md, "Tables"): most of its failures are of these kinds.
The one rule: a statement is changed only where the schema leaves one way to read it; else it stays as it was.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from citewell.retrieve.engines.base import Dialect, Schema, Table
from citewell.skills.link import Linked
from citewell.skills.sql_both import parted, says_both

if TYPE_CHECKING:
    from sqlglot import exp

Sources = dict[str, Table]  # by alias, in small letters


def mended(sql: str, schema: Schema, linked: Linked | None = None, question: str = "") -> str:
    """`sql` with what the schema puts right; as it was where it cannot be parsed or nothing is wrong. `linked`: what the
    question speaks of; a join of a table of which it says something that no other table has is never left out. None: no join
    is.
    """
    import sqlglot  # heavy: only a question about tables needs it
    from sqlglot.errors import SqlglotError

    sql = named(sql, schema)
    try:
        tree = sqlglot.parse_one(sql, dialect=schema.dialect)
        before = tree.sql(dialect=schema.dialect)
        _mend(tree, schema, linked)
        tree = parted(tree, both=says_both(question))
        after = tree.sql(dialect=schema.dialect)
    except (SqlglotError, RecursionError):
        return sql
    return sql if after == before else after


def named(sql: str, schema: Schema) -> str:
    """Names of the schema that need quotes (`金额（元）`, `Unit price`) in those of its dialect, where they stand bare or in
    those of another: no parser would read them.
    """
    mark = "`" if schema.dialect == "mysql" else '"'
    other = '"' if mark == "`" else "`"
    names = {name for table in schema.tables for name in (table.name, *(column.name for column in table.columns))}
    odd = sorted((name for name in names if _odd(name) and not name.isidentifier()), key=len, reverse=True)
    parts = re.split(r"('(?:[^']|'')*'|\"[^\"]*\"|`[^`]*`)", sql)
    for at, part in enumerate(parts):
        if at % 2:
            if part[0] == other == "`" or (part[0] == other and part[1:-1] in names):
                parts[at] = mark + part[1:-1] + mark
        elif odd:
            either = "|".join(map(re.escape, odd))
            parts[at] = re.sub(rf"(?<!\w)(?:{either})(?!\w)", lambda found: mark + found[0] + mark, part)
    return "".join(parts)


def _mend(tree: exp.Expr, schema: Schema, linked: Linked | None) -> None:
    from sqlglot import exp

    tables = {table.name.lower(): table for table in schema.tables}
    for select in list(tree.find_all(exp.Select)):
        sources, whole = _sources(select, tables)
        if not sources or not whole:
            continue  # of a subquery or a table that is not there: its columns are not ours to know
        _rejoin(select, sources, tables)
        for column in list(_own_columns(select)):
            if _is_text(column, tables.values()):
                column.replace(exp.Literal.string(column.name))
                continue
            _rename(column, [*sources.values(), *tables.values()])
            _bind(column, select, sources, tables, joins=False)
        if linked is not None:
            _prune(select, sources, linked)
        for column in _own_columns(select):
            _bind(column, select, sources, tables, joins=True)
        for column, literal in _compared(select):
            _respell(column, literal, sources)


def _sources(select: exp.Expr, tables: dict[str, Table]) -> tuple[Sources, bool]:
    """The tables of FROM and JOIN, and whether that is all there is."""
    from sqlglot import exp

    found: Sources = {}
    parts: list[Any] = [select.args.get("from_") or select.args.get("from"), *(select.args.get("joins") or [])]
    for part in filter(None, parts):
        source = part.this
        table = tables.get(_full_name(source)) if isinstance(source, exp.Table) else None
        if table is None:
            return found, False
        found[source.alias_or_name.lower()] = table
    return found, True


def _full_name(source: exp.Table) -> str:
    return ".".join(part.name for part in source.parts).lower()


def _own_columns(select: exp.Expr) -> Iterator[exp.Column]:
    """Columns of this SELECT, not of those within it."""
    from sqlglot import exp

    for node in select.walk(prune=lambda node: node is not select and isinstance(node, exp.Select)):
        if isinstance(node, exp.Column) and not isinstance(node.this, exp.Star):
            yield node


def _has(table: Table, name: str) -> bool:
    return any(column.name.lower() == name.lower() for column in table.columns)


def _is_text(column: exp.Column, tables: Iterable[Table]) -> bool:
    """`city = "Paris"`: double quotes are for names, and there is none like it; models that read much MySQL write texts so."""
    from sqlglot import exp

    if (
        not column.this.args.get("quoted")
        or column.table
        or not isinstance(column.parent, exp.EQ | exp.NEQ | exp.In | exp.Like)
    ):
        return False
    if column is column.parent.this:
        return False
    return not any(_letters(each.name) == _letters(column.name) for table in tables for each in table.columns)


def _rename(column: exp.Column, tables: Iterable[Table]) -> None:
    """`pet_type` where there is only `PetType`."""
    from sqlglot import exp

    names = list(dict.fromkeys(each.name for table in tables for each in table.columns))
    if any(name.lower() == column.name.lower() for name in names):
        return
    alike = [name for name in names if _letters(name) == _letters(column.name)]
    if len(alike) == 1:
        column.set("this", exp.to_identifier(alike[0], quoted=_odd(alike[0])))


def _letters(name: str) -> str:
    return "".join(character for character in name.casefold() if character.isalnum())


def _bind(column: exp.Column, select: exp.Expr, sources: Sources, tables: dict[str, Table], *, joins: bool) -> None:
    """Give the column the source that has it, where there is one; with `joins` bring its table in, where a key leads there."""
    alias, name = column.table.lower(), column.name
    if (alias and alias not in sources) and alias in tables and _has(tables[alias], name):
        if joins:
            _join(column, select, sources, tables[alias])
        return
    if alias not in sources and alias:
        return  # of an outer query
    if (alias in sources and _has(sources[alias], name)) or (not alias and any(_has(t, name) for t in sources.values())):
        return
    if not alias and _is_alias(select, name):
        return
    others = [each for each, table in sources.items() if _has(table, name)]
    if len(others) == 1:
        _qualify(column, others[0])
        return
    outside = [table for table in tables.values() if table not in sources.values() and _has(table, name)]
    if joins and not others and len(outside) == 1:
        _join(column, select, sources, outside[0])


def _is_alias(select: exp.Expr, name: str) -> bool:
    return any(each.alias.lower() == name.lower() for each in getattr(select, "expressions", []))


def _qualify(column: exp.Column, alias: str) -> None:
    from sqlglot import exp

    column.set("table", exp.to_identifier(alias))


def _join(column: exp.Column, select: exp.Expr, sources: Sources, table: Table) -> None:
    """Join `table` by the one key that connects it with a source."""
    from sqlglot import exp

    ways = [(alias, source, own, other) for alias, source in sources.items() for own, other in _keys(source, table)]
    if len(ways) != 1 or "." in table.name or not isinstance(select, exp.Select):
        return
    alias, _, own, other = ways[0]
    on = exp.EQ(
        this=exp.column(exp.to_identifier(own, quoted=_odd(own)), table=alias),
        expression=exp.column(exp.to_identifier(other, quoted=_odd(other)), table=table.name.lower()),
    )
    joined = exp.to_table(f'"{table.name}"' if _odd(table.name) else table.name)
    select.join(exp.alias_(joined, table.name.lower(), table=True), on=on, copy=False)
    sources[table.name.lower()] = table
    _qualify(column, table.name.lower())


def _odd(name: str) -> bool:
    return not (name.isascii() and name.isidentifier())


def _keys(one: Table, other: Table) -> list[tuple[str, str]]:
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


def _rejoin(select: exp.Expr, sources: Sources, tables: dict[str, Table]) -> None:
    """`shop JOIN visit ON shop.id = visit.shop_id` where only `sale` has a `shop_id`: that table in the place of the joined
    one, where nothing else is asked of it.
    """
    from sqlglot import exp

    joins: list[Any] = list(select.args.get("joins") or [])
    for join in joins:
        on, alias = join.args.get("on"), join.this.alias_or_name.lower()
        if not isinstance(on, exp.EQ) or not (isinstance(on.this, exp.Column) and isinstance(on.expression, exp.Column)):
            continue
        sides = sorted((on.this, on.expression), key=lambda column: column.table.lower() != alias)
        own, other = sides
        there = sources.get(other.table.lower())
        if own.table.lower() != alias or there is None or other.table.lower() == alias or _has(sources[alias], own.name):
            continue
        inside = [column for column in _columns_below(select) if column.table.lower() == alias and column is not own]
        key = (other.name.lower(), own.name.lower())
        fitting = [
            table
            for table in tables.values()
            if table not in sources.values()
            and key in {(one.lower(), two.lower()) for one, two in _keys(there, table)}
            and all(_has(table, column.name) for column in inside)
        ]
        if len(fitting) == 1 and "." not in fitting[0].name:
            taken = alias if join.this.alias or fitting[0].name.lower() in sources else fitting[0].name.lower()
            join.this.set("this", exp.to_identifier(fitting[0].name, quoted=_odd(fitting[0].name)))
            join.this.set("alias", exp.TableAlias(this=exp.to_identifier(taken)) if taken == alias else None)
            for column in (own, *inside):
                _qualify(column, taken)
            del sources[alias]
            sources[taken] = fitting[0]


def _prune(select: exp.Expr, sources: Sources, linked: Linked) -> None:
    """Leave out inner joins of tables that the question says nothing of, where nothing but the join itself uses a column."""
    from sqlglot import exp

    joins: list[Any] = list(select.args.get("joins") or [])
    if select.args.get("group") or any(_own_aggregates(select)):
        return  # a join multiplies what is counted, and may be there for that
    if any(isinstance(node, exp.Star) and not isinstance(node.parent, exp.Count) for node in select.expressions):
        return
    for join in reversed(joins):
        alias = join.this.alias_or_name.lower()
        if join.side or join.kind not in {"", "INNER"} or alias not in sources:
            continue
        if linked.needs(sources[alias].name, [table.name for each, table in sources.items() if each != alias]):
            continue
        if not isinstance(join.args.get("on"), exp.EQ) or any(_uses(each, alias) for each in joins if each is not join):
            continue
        rest = [column for column in _columns_below(select) if not _inside(column, join)]
        if any(not column.table or column.table.lower() == alias for column in rest):
            if any(column.table.lower() == alias for column in rest):
                continue
            if any(not column.table and _has(sources[alias], column.name) for column in rest):
                continue
        joins.remove(join)
        del sources[alias]
    select.set("joins", joins)


def _own_aggregates(select: exp.Expr) -> Iterator[exp.Expr]:
    """Of this SELECT, not of those within it."""
    from sqlglot import exp

    for node in select.walk(prune=lambda node: node is not select and isinstance(node, exp.Select)):
        if isinstance(node, exp.AggFunc):
            yield node


def _columns_below(select: exp.Expr) -> list[exp.Column]:
    from sqlglot import exp

    return list(select.find_all(exp.Column))


def _uses(node: exp.Expr, alias: str) -> bool:
    from sqlglot import exp

    return any(column.table.lower() == alias for column in node.find_all(exp.Column))


def _inside(node: exp.Expr, outer: exp.Expr) -> bool:
    at: Any = node
    while at is not None:
        if at is outer:
            return True
        at = at.parent
    return False


def _compared(select: exp.Expr) -> Iterator[tuple[exp.Column, exp.Literal]]:
    """Columns that are compared with a text for being equal, each with the text."""
    from sqlglot import exp

    for node in select.find_all(exp.EQ, exp.NEQ):
        for one, other in ((node.this, node.expression), (node.expression, node.this)):
            if isinstance(one, exp.Column) and isinstance(other, exp.Literal) and other.is_string:
                yield one, other
    for inside in select.find_all(exp.In):
        if isinstance(inside.this, exp.Column):
            yield from ((inside.this, each) for each in inside.expressions if isinstance(each, exp.Literal) and each.is_string)


def _respell(column: exp.Column, literal: exp.Literal, sources: Sources) -> None:
    """The stored value that the text is, but for its letters' case and the white space around it."""
    tables = [sources[column.table.lower()]] if column.table.lower() in sources else list(sources.values())
    named = [each for table in tables for each in table.columns if each.name.lower() == column.name.lower()]
    if len(named) != 1 or literal.name in named[0].values:
        return
    alike = [value for value in named[0].values if _folded(value) == _folded(literal.name)]
    if len(alike) == 1:
        literal.set("this", alike[0])


def _folded(text: str) -> str:
    return " ".join(text.casefold().split())


def tables_read(sql: str, dialect: Dialect) -> int:
    """How many times a statement names a table; 0 where it cannot be parsed."""
    import sqlglot
    from sqlglot import exp
    from sqlglot.errors import SqlglotError

    try:
        return len(list(sqlglot.parse_one(sql, dialect=dialect).find_all(exp.Table)))
    except (SqlglotError, RecursionError):
        return 0
