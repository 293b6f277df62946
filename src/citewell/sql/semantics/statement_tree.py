"""What of a parsed statement the description is held against: the tables that a SELECT reads, its
columns and conditions. A name is followed within its own SELECT, never through another one.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from citewell.sql.engines.engine import Schema, Table
from citewell.sql.schema_text import quote_name
from citewell.sql.semantics.described_schema import get_table_name


class Named(NamedTuple):
    """A table that a SELECT reads; `quoted`: its name, or alias, is written in quotation marks."""

    table: Table
    quoted: bool


Sources = dict[str, Named]


def list_places(select: Any) -> list[Any]:
    """FROM and JOINs of one SELECT."""
    first = select.args.get("from_")
    return [*([first] if first is not None else []), *select.args.get("joins", [])]


def map_sources(select: Any, schema: Schema) -> Sources:
    """The tables that a SELECT itself reads, by the name or alias under which it knows them."""
    from sqlglot import exp

    known = {table.name.casefold(): table for table in schema.tables}
    found: Sources = {}
    for place in list_places(select):
        table, called = place.this, place.this.args.get("alias")
        if isinstance(table, exp.Subquery):  # the rows of one table
            inner = table.this
            only = list_places(inner) if isinstance(inner, exp.Select) and inner.is_star else []
            table = only[0].this if len(only) == 1 else table
        if not isinstance(table, exp.Table):
            continue
        full = ".".join(part for part in (table.db, table.name) if part).casefold()
        there = known.get(full) or known.get(table.name.casefold())
        if there is not None and isinstance(table.this, exp.Identifier):
            name = called.this if called is not None else table.this
            found[name.name] = Named(there, bool(name.quoted))
    return found


def write_alias(alias: str, sources: Sources) -> Any:
    from sqlglot import exp

    return exp.to_identifier(alias, quoted=sources[alias].quoted)


def write_column(name: str, alias: Any) -> Any:
    """In quotation marks where its name needs them."""
    from sqlglot import exp

    plain = name.isascii() and name.islower() and quote_name(name) == name
    return exp.Column(this=exp.to_identifier(name, quoted=not plain), table=alias)


def owns_node(select: Any, node: Any) -> bool:
    return node.parent_select is select


def resolve_column(column: Any, sources: Sources) -> tuple[str, str] | None:
    """Alias and folded name of a column."""
    said, name = get_table_name(column).casefold(), column.name.casefold()
    for alias, (table, _) in sources.items():
        if said in {"", alias.casefold(), table.name.casefold()} and any(
            each.name.casefold() == name for each in table.columns
        ):
            return alias, name
    return None


def split_where(select: Any) -> list[Any]:
    where = select.args.get("where")
    return split_conditions(where.this) if where is not None else []


def split_conditions(tree: Any) -> list[Any]:
    """The conditions that hold together."""
    from sqlglot import exp

    return list(tree.flatten()) if isinstance(tree, exp.And) else [tree]


def fold_expression(tree: Any, sources: Sources) -> str:
    """An expression as it is compared with another: full names of tables, no case, no marks."""
    from sqlglot import exp

    tree = tree.copy()
    for column in tree.find_all(exp.Column):
        found = resolve_column(column, sources)
        table = sources[found[0]].table.name if found is not None else column.table
        column.set("table", exp.to_identifier(table.casefold(), quoted=True))
        column.set("db", None)
        column.set("this", exp.to_identifier(column.name.casefold(), quoted=True))
    while isinstance(tree, exp.Paren):
        tree = tree.this
    return str(tree.sql())
