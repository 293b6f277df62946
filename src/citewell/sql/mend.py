"""What a small model gets wrong in SQL that the schema can put right without asking it again: a
column written with another table's alias, a table that was forgotten in the joins, a join that
nothing needs, a stored value in other letters.

Measured with the built-in model (docs/evaluation.md, "Tables"): most of its failures are of these
kinds. The one rule: a statement is changed only where the schema leaves one way to read it; else it
stays as it was.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from citewell.sql.engines.engine import Dialect, Schema, Table
from citewell.sql.mend_both import has_both_wording, split_to_intersect
from citewell.sql.mend_joins import (
    Sources,
    has_column,
    join_table,
    prune_joins,
    qualify_column,
    rejoin_tables,
    repair_subqueries,
    should_quote,
)
from citewell.sql.mend_without import is_denial, rewrite_as_exclusion
from citewell.sql.schema_link import Linked

if TYPE_CHECKING:
    from sqlglot import exp


def mend_statement(
    sql: str, schema: Schema, linked: Linked | None = None, question: str = ""
) -> str:
    """`sql` with what the schema puts right; as it was where it cannot be parsed or nothing is
    wrong. `linked`: what the question speaks of; a join of a table of which it says something that
    no other table has is never left out. None: no join is.
    """
    import sqlglot  # heavy: only a question about tables needs it
    from sqlglot.errors import SqlglotError

    sql = quote_names(sql, schema)
    try:
        tree = sqlglot.parse_one(sql, dialect=schema.dialect)
        before = tree.sql(dialect=schema.dialect)
        _mend_tree(tree, schema, linked)
        tree = split_to_intersect(tree, both=has_both_wording(question))
        if is_denial(question):
            tree = rewrite_as_exclusion(
                tree,
                _collect_sources(tree, {table.name.lower(): table for table in schema.tables})[0],
            )
        after = tree.sql(dialect=schema.dialect)
    except (SqlglotError, RecursionError):
        return sql
    return sql if after == before else after


def quote_names(sql: str, schema: Schema) -> str:
    """Names of the schema that need quotes (`金额（元）`, `Unit price`) in those of its dialect,
    where they stand bare or in those of another: no parser would read them.
    """
    mark = "`" if schema.dialect == "mysql" else '"'
    other = '"' if mark == "`" else "`"
    names = {
        name
        for table in schema.tables
        for name in (table.name, *(column.name for column in table.columns))
    }
    quoted = sorted(
        (name for name in names if should_quote(name) and not name.isidentifier()),
        key=len,
        reverse=True,
    )
    parts = re.split(r"('(?:[^']|'')*'|\"[^\"]*\"|`[^`]*`)", sql)
    for at, part in enumerate(parts):
        if at % 2:
            if part[0] == other == "`" or (part[0] == other and part[1:-1] in names):
                parts[at] = mark + part[1:-1] + mark
        elif quoted:
            either = "|".join(map(re.escape, quoted))
            parts[at] = re.sub(
                rf"(?<!\w)(?:{either})(?!\w)", lambda found: mark + found[0] + mark, part
            )
    return "".join(parts)


def _mend_tree(tree: exp.Expr, schema: Schema, linked: Linked | None) -> None:
    from sqlglot import exp

    tables = {table.name.lower(): table for table in schema.tables}
    for select in list(tree.find_all(exp.Select)):
        sources, whole = _collect_sources(select, tables)
        if not sources or not whole:
            continue  # of a subquery or a table that is not there: its columns are not ours to know
        rejoin_tables(select, sources, tables)
        repair_subqueries(select, sources, tables)
        for column in list(_find_own_columns(select)):
            if _is_text(column, tables.values()):
                column.replace(exp.Literal.string(column.name))
                continue
            _rename_column(column, [*sources.values(), *tables.values()])
            _bind_column(column, select, sources, tables, joins=False)
        if linked is not None:
            prune_joins(select, sources, linked)
        for column in _find_own_columns(select):
            _bind_column(column, select, sources, tables, joins=True)
        for column, literal in _find_comparisons(select):
            _respell_value(column, literal, sources)


def _collect_sources(select: exp.Expr, tables: dict[str, Table]) -> tuple[Sources, bool]:
    """The tables of FROM and JOIN, and whether that is all there is."""
    from sqlglot import exp

    found: Sources = {}
    parts: list[Any] = [
        select.args.get("from_") or select.args.get("from"),
        *(select.args.get("joins") or []),
    ]
    for part in filter(None, parts):
        source = part.this
        table = tables.get(_get_full_name(source)) if isinstance(source, exp.Table) else None
        if table is None:
            return found, False
        found[source.alias_or_name.lower()] = table
    return found, True


def _get_full_name(source: exp.Table) -> str:
    return ".".join(part.name for part in source.parts).lower()


def _find_own_columns(select: exp.Expr) -> Iterator[exp.Column]:
    """Columns of this SELECT, not of those within it."""
    from sqlglot import exp

    for node in select.walk(prune=lambda node: node is not select and isinstance(node, exp.Select)):
        if isinstance(node, exp.Column) and not isinstance(node.this, exp.Star):
            yield node


def _is_text(column: exp.Column, tables: Iterable[Table]) -> bool:
    """`city = "Paris"`: double quotes are for names, and there is none like it; models that read
    much MySQL write texts so.
    """
    from sqlglot import exp

    if (
        not column.this.args.get("quoted")
        or column.table
        or not isinstance(column.parent, exp.EQ | exp.NEQ | exp.In | exp.Like)
    ):
        return False
    if column is column.parent.this:
        return False
    return not any(
        _fold_letters(each.name) == _fold_letters(column.name)
        for table in tables
        for each in table.columns
    )


def _rename_column(column: exp.Column, tables: Iterable[Table]) -> None:
    """`pet_type` where there is only `PetType`."""
    from sqlglot import exp

    names = list(dict.fromkeys(each.name for table in tables for each in table.columns))
    if any(name.lower() == column.name.lower() for name in names):
        return
    alike = [name for name in names if _fold_letters(name) == _fold_letters(column.name)]
    if len(alike) == 1:
        column.set("this", exp.to_identifier(alike[0], quoted=should_quote(alike[0])))


def _fold_letters(name: str) -> str:
    return "".join(character for character in name.casefold() if character.isalnum())


def _bind_column(
    column: exp.Column, select: exp.Expr, sources: Sources, tables: dict[str, Table], *, joins: bool
) -> None:
    """Give the column the source that has it, where there is one; with `joins` bring its table in,
    where a key leads there.
    """
    alias, name = column.table.lower(), column.name
    if (alias and alias not in sources) and alias in tables and has_column(tables[alias], name):
        if joins:
            join_table(column, select, sources, tables[alias])
        return
    if alias not in sources and alias:
        return  # of an outer query
    if (alias in sources and has_column(sources[alias], name)) or (
        not alias and any(has_column(t, name) for t in sources.values())
    ):
        return
    if not alias and _is_alias(select, name):
        return
    others = [each for each, table in sources.items() if has_column(table, name)]
    if len(others) == 1:
        if not _is_self_join(column, others[0]):
            qualify_column(column, others[0])
        return
    outside = [
        table
        for table in tables.values()
        if table not in sources.values() and has_column(table, name)
    ]
    if joins and not others and len(outside) == 1:
        join_table(column, select, sources, outside[0])


def _is_self_join(column: exp.Column, alias: str) -> bool:
    """Whether a join would then compare a column with itself."""
    from sqlglot import exp

    pair = column.parent
    if not isinstance(pair, exp.EQ) or not isinstance(pair.parent, exp.Join):
        return False
    other = pair.expression if column is pair.this else pair.this
    return isinstance(other, exp.Column) and (other.table.lower(), other.name.lower()) == (
        alias,
        column.name.lower(),
    )


def _is_alias(select: exp.Expr, name: str) -> bool:
    return any(each.alias.lower() == name.lower() for each in getattr(select, "expressions", []))


def _find_comparisons(select: exp.Expr) -> Iterator[tuple[exp.Column, exp.Literal]]:
    """Columns that are compared with a text for being equal, each with the text."""
    from sqlglot import exp

    for node in select.find_all(exp.EQ, exp.NEQ):
        for one, other in ((node.this, node.expression), (node.expression, node.this)):
            if isinstance(one, exp.Column) and isinstance(other, exp.Literal) and other.is_string:
                yield one, other
    for inside in select.find_all(exp.In):
        if isinstance(inside.this, exp.Column):
            yield from (
                (inside.this, each)
                for each in inside.expressions
                if isinstance(each, exp.Literal) and each.is_string
            )


def _respell_value(column: exp.Column, literal: exp.Literal, sources: Sources) -> None:
    """The stored value that the text is, but for its letters' case and the white space around
    it.
    """
    tables = (
        [sources[column.table.lower()]]
        if column.table.lower() in sources
        else list(sources.values())
    )
    named = [
        each
        for table in tables
        for each in table.columns
        if each.name.lower() == column.name.lower()
    ]
    if len(named) != 1 or literal.name in named[0].values:
        return
    alike = [value for value in named[0].values if _fold_text(value) == _fold_text(literal.name)]
    if len(alike) == 1:
        literal.set("this", alike[0])


def _fold_text(text: str) -> str:
    return " ".join(text.casefold().split())


def count_tables_read(sql: str, dialect: Dialect) -> int:
    """How many times a statement names a table; 0 where it cannot be parsed."""
    import sqlglot
    from sqlglot import exp
    from sqlglot.errors import SqlglotError

    try:
        return len(list(sqlglot.parse_one(sql, dialect=dialect).find_all(exp.Table)))
    except (SqlglotError, RecursionError):
        return 0
