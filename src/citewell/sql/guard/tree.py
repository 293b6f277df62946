"""The tree of a statement, held node by node against what may be in it. Every node, every function
name and every table is looked at, however deep; what is not on a list is refused.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Container
from typing import TYPE_CHECKING

from citewell.errors import StatementRefused
from citewell.messages import Text
from citewell.sql.engines.engine import Dialect
from citewell.sql.guard.allowed_functions import FUNCTIONS, TABLES, VALUE_WORDS
from citewell.sql.guard.bounds import get_function_names
from citewell.sql.guard.dots import check_dots
from citewell.sql.guard.nodes import ARGUMENTS, NODES, QUERIES
from citewell.text.split_words import split_words

if TYPE_CHECKING:
    from sqlglot import exp

_DO = Text("Write a plain query that only reads the tables.")
# Tables of the engine itself: settings, other sessions, users, files.
_SYSTEM: dict[Dialect, re.Pattern[str]] = {
    "sqlite": re.compile(
        r"(sqlite_(?!(master|schema)$)|pragma_|dbstat$|fts3tokenize|json_each$|json_tree$|"
        r"bytecode$|tables_used$)"
    ),
    "duckdb": re.compile(r"(duckdb_|pragma_|pg_|sqlite_|which_secret)"),
    "postgres": re.compile(r"pg_"),
    "mysql": re.compile(r"seq_\d+_to_\d+"),  # MariaDB counts as far as the name says
}
_SYSTEM_SCHEMAS = split_words(
    "pg_catalog pg_toast pg_temp information_schema mysql performance_schema sys system"
)
# of information_schema, which shows what the role may read; in MySQL of all databases
_CATALOGUE = {"tables", "columns"}
# What DuckDB would take for a file or an address.
_PATH = re.compile(
    r"[/\\*?]|://|\.(csv|tsv|txt|json|jsonl|ndjson|parquet|xlsx?|db|duckdb|sqlite3?|arrow|"
    r"feather|gz|zst|avro|dat)$",
    re.IGNORECASE,
)


def check_tree(tree: exp.Expr, dialect: Dialect, texts: Container[int] = ()) -> None:
    """Raises StatementRefused with the first thing not listed. `texts`: where quotes begin."""
    from sqlglot import exp

    if type(tree).__name__ not in QUERIES:
        raise StatementRefused(
            Text("The statement is {node}, not a query.", node=_describe_node(tree)), hint=_DO
        )
    for node in tree.walk():
        kind = type(node).__name__
        if kind not in NODES:
            raise StatementRefused(
                Text("{node} is not taken in a query.", node=_describe_node(node)), hint=_DO
            )
        if (known := ARGUMENTS.get(kind)) is not None:
            for name, value in node.args.items():
                if value and name not in known:
                    raise StatementRefused(
                        Text(
                            "A query with {name} is not taken.",
                            name=name.rstrip("_").replace("_", " "),
                        ),
                        hint=_DO,
                    )
        if isinstance(node, exp.Anonymous | exp.AnonymousAggFunc):
            _check_anonymous(node, dialect)
        elif isinstance(node, exp.Table):
            _check_table(node, dialect, texts)
        elif isinstance(node, exp.CTE | exp.Exists) and type(node.this).__name__ not in QUERIES:
            raise StatementRefused(
                Text("{node} where a query belongs.", node=_describe_node(node.this)), hint=_DO
            )
        elif isinstance(node, exp.DataType):
            _check_type(node, dialect)
        elif (
            isinstance(node, exp.In) and node.args.get("field") is not None and dialect == "sqlite"
        ):
            raise StatementRefused(
                Text("IN before a name, which SQLite takes for a table."),
                hint=Text("Write IN (SELECT ... FROM table)."),
            )
        elif isinstance(node, exp.Pivot) and dialect == "duckdb":
            _check_pivot(node)
        elif isinstance(node, exp.PropertyEQ) and dialect != "duckdb":
            raise StatementRefused(
                Text("An assignment (:=)."), hint=Text("A query sets no variables.")
            )
    if dialect == "postgres":
        check_dots(tree)


def count_column_lists(tree: exp.Expr) -> Counter[str]:
    """How often a name stands before a list of columns: `WITH t(a, b) AS`, `AS t(a, b)`."""
    from sqlglot import exp

    return Counter(
        alias.name.lower() for alias in tree.find_all(exp.TableAlias) if alias.args.get("columns")
    )


def _describe_node(node: exp.Expr) -> str:
    """A node as a person would call it: `Delete` -> DELETE, with the words of a command."""
    name = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", type(node).__name__).upper()
    return f"{name} {node.name}".strip()[:60]


def _check_anonymous(node: exp.Expr, dialect: Dialect) -> None:
    name = node.this
    if not isinstance(name, str) or name.lower() not in FUNCTIONS[dialect]:
        said = name if isinstance(name, str) else name.sql()
        raise StatementRefused(
            Text("The function {said} is not one that is known only to compute.", said=said),
            hint=Text("Use the common functions of this database."),
        )


def _check_table(table: exp.Table, dialect: Dialect, texts: Container[int]) -> None:
    from sqlglot import exp

    if isinstance(table.this, exp.Func):
        if not get_function_names(table.this) & TABLES[dialect]:
            raise StatementRefused(
                Text("A function as a table: {this}.", this=table.this.sql(dialect)[:60]),
                hint=Text("Name a table of the source after FROM."),
            )
        return
    if not isinstance(table.this, exp.Identifier) or table.this.meta.get("start") in texts:
        raise StatementRefused(
            Text("A text or a value stands where a table is named."),
            hint=Text("Name a table of the source after FROM."),
        )
    name, schema = table.name.lower(), table.db.lower()
    if dialect == "postgres" and name in VALUE_WORDS and not schema and not table.this.quoted:
        raise StatementRefused(
            Text("The value {name} as a table.", name=name),
            hint=Text("Name a table of the source after FROM."),
        )
    if dialect == "duckdb" and any(
        _PATH.search(part) for part in (table.name, table.db, table.catalog)
    ):
        raise StatementRefused(
            Text("The table {name} looks like a file.", name=table.name),
            hint=Text("Name a table of the source after FROM."),
        )
    if (
        schema in _SYSTEM_SCHEMAS
        or table.catalog.lower() in _SYSTEM_SCHEMAS
        or _SYSTEM[dialect].match(name)
    ):
        if (
            schema == "information_schema"
            and name in _CATALOGUE
            and dialect in ("duckdb", "postgres")
        ):
            return
        raise StatementRefused(
            Text(
                "{table} belongs to the database itself.",
                table=(schema + "." if schema else "") + name,
            ),
            hint=Text("Ask the tables of the source."),
        )


def _check_pivot(pivot: exp.Pivot) -> None:
    """Without its values DuckDB makes a type of them first, a statement that writes."""
    from sqlglot import exp

    if pivot.args.get("unpivot") or pivot.args.get("fields"):
        return
    listed = [isinstance(on, exp.In) and not on.args.get("query") for on in pivot.expressions]
    if not listed or not all(listed):
        raise StatementRefused(
            Text("A PIVOT whose values are not listed."),
            hint=Text("Write them: PIVOT orders ON status IN ('open', 'paid') USING sum(amount)."),
        )


def _check_type(kind: exp.DataType, dialect: Dialect) -> None:
    """Types of one's own (enumerations) where the dialect has them; no objects' (regclass)."""
    from sqlglot import exp

    name = str(kind.args.get("kind") or "").lower()
    if kind.this == exp.DataType.Type.USERDEFINED and (
        dialect not in ("duckdb", "postgres") or re.match(r"(reg|pg_)", name)
    ):
        raise StatementRefused(
            Text("The type {name} is not taken.", name=name), hint=Text("Cast to a common type.")
        )
    if kind.this in (exp.DataType.Type.XML, exp.DataType.Type.UNKNOWN) or name.startswith("reg"):
        raise StatementRefused(
            Text("A type that is not taken."), hint=Text("Cast to a common type.")
        )
