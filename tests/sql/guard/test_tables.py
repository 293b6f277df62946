"""Nothing reaches an engine but through the guard."""

from __future__ import annotations

import ast

import pytest
from tests.conftest import REPOSITORY

from citewell.errors import StatementRefused
from citewell.sql import run_statement as tables
from citewell.sql.engines.engine import Dialect, Limits, Rows, Schema, Writing, Written

SOURCE = REPOSITORY / "src" / "citewell"
HOW = Writing("csv", Schema("mysql", ()), "", "en")


class Recorded:
    """An engine that keeps what it is told to run."""

    def __init__(self, dialect: Dialect) -> None:
        self.dialect: Dialect = dialect
        self.told: list[str] = []

    async def inspect(self) -> Schema:
        return Schema(self.dialect, ())

    async def run(self, sql: str, limits: Limits) -> Rows:
        self.told.append(sql)
        return Rows(("a",), ("number",), ((1,),))

    async def export(self, sql: str, limits: Limits, path: str, how: Writing) -> Written:
        self.told.append(f"export {sql}")
        return Written(1, truncated=False)

    async def explain(self, sql: str, limits: Limits) -> None:
        self.told.append(f"explain {sql}")

    async def close(self) -> None: ...


async def test_query_and_explain_run_what_the_guard_gave_back() -> None:
    engine = Recorded("postgres")
    assert (await tables.run_query(engine, "SELECT 1; -- x", Limits())).rows == ((1,),)
    await tables.explain_query(engine, "SELECT /* y */ 2", Limits())
    await tables.export_query(engine, "SELECT 3;", Limits(), "x.csv", HOW)
    assert engine.told == ["SELECT 1", "explain SELECT   2", "export SELECT 3"]


async def test_nothing_refused_reaches_the_engine() -> None:
    engine = Recorded("mysql")
    for way in (tables.run_query, tables.explain_query):
        with pytest.raises(StatementRefused):
            await way(engine, "SELECT SLEEP(5)", Limits())
    with pytest.raises(StatementRefused):
        await tables.export_query(engine, "DROP TABLE a", Limits(), "x.csv", HOW)
    assert engine.told == []


def calls(tree: ast.AST) -> set[tuple[str, str]]:
    """(what it is called on, name) of the calls `x.run(...)`, `x.explain(...)`, `x.export(...)`."""
    return {
        (ast.unparse(node.func.value), node.func.attr)
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in ("run", "explain", "export")
    }


def test_tables_is_the_only_way_to_an_engine() -> None:
    """No other module calls `run`, `export` or `explain` on something that may be an engine: on a
    name that is not a module's.
    """
    known = {
        ("asyncio", "run"),
        ("subprocess", "run"),
        ("anyio", "run"),
        ("uvicorn", "run"),
        ("data.GRAPH", "run"),
    }
    found = {}
    for path in SOURCE.rglob("*.py"):
        name = path.relative_to(SOURCE).as_posix()
        if name == "sql/run_statement.py" or name.startswith("sql/engines/"):
            continue
        tree = ast.parse(path.read_text("utf-8"))
        imported = {
            alias.asname or alias.name
            for node in ast.walk(tree)
            if isinstance(node, ast.Import | ast.ImportFrom)
            for alias in node.names
        }
        odd = {
            call
            for call in calls(tree) - known
            if call[0] not in imported or "engine" in call[0].lower()
        }
        odd -= {call for call in odd if call[0] == "tables"}
        uses_engines = "sql.engines" in path.read_text("utf-8") or any(
            "engine" in call[0].lower() for call in odd
        )
        if odd and uses_engines:
            found[name] = odd
    assert found == {}


def test_this_test_would_see_another_way() -> None:
    assert calls(ast.parse("async def f(engine):\n    return await engine.run('x', 1)")) == {
        ("engine", "run")
    }
