"""The tree of a statement. Its parser is heavy, and only a question about tables needs it."""

from __future__ import annotations

from typing import Any


def parse_sql(sql: str, dialect: str) -> Any:
    """None where it cannot be read."""
    import sqlglot
    from sqlglot.errors import SqlglotError

    try:
        return sqlglot.parse_one(sql, dialect=dialect)
    except (SqlglotError, RecursionError):
        return None
