"""The tables of functions against the catalogues of the engines: nothing allowed has an effect,
nothing else is let through.
"""

from __future__ import annotations

import sqlite3

import duckdb
import psycopg

from citewell.errors import StatementRefused
from citewell.sql.engines.engine import Dialect
from citewell.sql.guard.allowed_functions import FUNCTIONS, GRAMMAR, TYPES
from citewell.sql.guard.check import check_statement
from citewell.text.split_words import split_words

# Another value at each call, and nothing else.
RANDOM = {
    "random",
    "gen_random_uuid",
    "uuid",
    "uuidv4",
    "uuidv7",
    "clock_timestamp",
    "array_sample",
    "array_shuffle",
}
SAMPLING = {"bernoulli", "system"}  # methods of TABLESAMPLE
# Grammar, not functions of PostgreSQL's catalogue.
FORMS = split_words(
    """
        all any some cast coalesce current_date current_time current_timestamp greatest least
        grouping localtime localtimestamp nullif trim json_array json_arrayagg json_exists
        json_objectagg json_query json_scalar json_serialize json_value
"""
)
SQLITE_INNOCUOUS, SQLITE_DIRECTONLY = 0x200000, 0x80000


def passes(name: str, dialect: Dialect) -> bool:
    for sql in (f"SELECT {name}(a, 1) FROM orders", f"SELECT * FROM {name}('a') AS x"):
        try:
            check_statement(sql, dialect)
        except StatementRefused:
            continue
        return True
    return False


def test_postgres(postgres_url: str) -> None:
    with psycopg.connect(postgres_url) as connection:
        rows = connection.execute(
            "SELECT proname, bool_or(provolatile = 'v'), bool_or(prosecdef) FROM pg_proc"
            " WHERE pronamespace = 'pg_catalog'::regnamespace GROUP BY proname"
        ).fetchall()
    volatile = {name: bool(changes or other) for name, changes, other in rows}
    allowed = FUNCTIONS["postgres"]
    assert allowed - volatile.keys() == FORMS, "a function of that name would be somebody's own"
    assert {name for name in allowed if volatile.get(name)} <= RANDOM | SAMPLING
    assert [
        name
        for name in volatile
        if name not in allowed | GRAMMAR | TYPES and passes(name, "postgres")
    ] == []
    assert len(volatile) > 2_000


def test_duckdb() -> None:
    with duckdb.connect() as connection:
        rows = connection.execute(
            "SELECT lower(function_name), stability = 'VOLATILE', function_type FROM "
            "duckdb_functions()"
        ).fetchall()
    volatile = {name for name, changes, _ in rows if changes}
    allowed = FUNCTIONS["duckdb"]
    assert volatile & allowed <= RANDOM
    names = {name for name, _, _ in rows if name.isidentifier()}
    assert [
        name for name in names if name not in allowed | GRAMMAR | TYPES and passes(name, "duckdb")
    ] == []
    readers = {name for name, _, kind in rows if kind == "table"} - {
        "generate_series", "range", "unnest", "json_each", "json_tree", "repeat", "summary",
    }  # fmt: skip
    assert readers & allowed == set()
    assert len(names) > 800


def test_sqlite() -> None:
    with sqlite3.connect(":memory:") as connection:
        flags = {
            name: flag
            for name, *_, flag in connection.execute("SELECT * FROM pragma_function_list")
        }
    allowed = FUNCTIONS["sqlite"]
    assert [name for name in allowed & flags.keys() if flags[name] & SQLITE_DIRECTONLY] == []
    odd = {
        name
        for name in allowed & flags.keys()
        if not flags[name] & SQLITE_INNOCUOUS and not name.startswith("json")
    }
    assert odd <= {"match"}  # an overloaded operator, which fails outside a full-text table
    assert [
        name
        for name in flags
        if name.isidentifier() and name not in allowed | GRAMMAR | TYPES and passes(name, "sqlite")
    ] == []
