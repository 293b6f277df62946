"""Asking tables: guard first, then engine. This is the only way to an engine's `run`, `export` and
`explain`; tests/sql/guard hold the source to it.
"""

from __future__ import annotations

from collections.abc import Collection

from citewell.sql.engines.engine import Engine, Limits, Rows, Writing, Written
from citewell.sql.guard.check import check_statement
from citewell.sql.guard.scope import check_scope


async def run_query(
    engine: Engine, sql: str, limits: Limits, tables: Collection[str] | None = None
) -> Rows:
    """`tables`: those of the source, by name; others that the login may read are refused then.
    Raises StatementRefused before anything runs, else what the engine raises.
    """
    return await engine.run(_guard_statement(engine, sql, tables), limits)


async def export_query(
    engine: Engine,
    sql: str,
    limits: Limits,
    path: str,
    how: Writing,
    tables: Collection[str] | None = None,
) -> Written:
    """The rows written into the new file `path`; else as `run_query`."""
    return await engine.export(_guard_statement(engine, sql, tables), limits, path, how)


async def explain_query(
    engine: Engine, sql: str, limits: Limits, tables: Collection[str] | None = None
) -> None:
    """Whether guard and engine take it; planned, not run. As `run_query`."""
    await engine.explain(_guard_statement(engine, sql, tables), limits)


def _guard_statement(engine: Engine, sql: str, tables: Collection[str] | None) -> str:
    checked = check_statement(sql, engine.dialect)
    if tables is not None:
        check_scope(checked, engine.dialect, tables)
    return checked
