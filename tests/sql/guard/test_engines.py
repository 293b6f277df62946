"""The lists on the engines themselves: every safe statement runs through guard and engine, and
every attack thrown at the engine with no guard before it, at the server as its superuser, changes
nothing, reads no file and is ended in time.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from citewell.errors import StatementRefused
from citewell.sql import run_statement as tables
from citewell.sql.engines.engine import Dialect
from citewell.sql.guard.check import check_statement
from guard_sets import DIALECTS, LIMITS, Scene, open_folder, scene, statements

# What an engine alone does not stop, asked as the server's superuser: there the guard, or a role
# without the right, is the line. docs/guard.md lists them.
ONLY_GUARD: dict[Dialect, dict[str, str]] = {
    "sqlite": {},
    "duckdb": {},
    "postgres": {},
    "mysql": {
        "into_outfile": "changed",
        "into_outfile_early": "changed",
        "into_dumpfile": "changed",
        "load_file": "read",
    },
}


# Passed by the guard and refused by the engine: SQLite takes a text in double quotes for a text
# only where no column has that name, so a misspelt column would answer in silence; the engine says
# that it is no column. `sql/mend.py` writes such texts of a model in single quotes before they come
# here.
ENGINE_REFUSES = {"sqlite-double_quoted_text"}


@pytest.fixture
def folder() -> Iterator[Path]:
    with open_folder() as path:
        yield path


@pytest.fixture(params=DIALECTS)
def made(request: pytest.FixtureRequest, folder: Path) -> Iterator[Scene]:
    servers = {"postgres": "postgres_database", "mysql": "mysql_database"}
    dialect: Dialect = request.param
    url = request.getfixturevalue(servers[dialect]) if dialect in servers else ""
    stage = scene(dialect, folder, url)
    yield stage
    stage.close()


async def test_safe_statements_run(made: Scene) -> None:
    for item in statements("safe"):
        if item.dialect == made.dialect and str(item) not in ENGINE_REFUSES:
            thrown = await made.throw(item, check_statement)
            assert thrown.effect == "ran", f"{item}: {thrown.told}"


async def test_attacks_have_no_effect_without_the_guard(made: Scene) -> None:
    """None changes anything or outlives its limit; those that tell something they should not are
    known by name.
    """
    effects = {}
    for item in statements("attacks"):
        if item.dialect == made.dialect:
            thrown = await made.throw(item)
            if thrown.effect in ("changed", "read", "late", "lost"):
                effects[item.name] = thrown.effect
    assert effects == ONLY_GUARD[made.dialect]
    assert (await made.engine.run("SELECT COUNT(*) FROM orders", LIMITS)).rows == ((3,),)


async def test_attacks_stop_before_the_engine(made: Scene) -> None:
    before = made.state()
    for item in statements("attacks"):
        if item.dialect == made.dialect:
            with pytest.raises(StatementRefused):
                await tables.run_query(
                    made.engine, item.sql.replace("{folder}", str(made.folder)), LIMITS
                )
    assert made.state() == before


async def test_several_ask_at_once(made: Scene) -> None:
    rows = await asyncio.gather(
        *(tables.run_query(made.engine, "SELECT COUNT(*) FROM orders", LIMITS) for _ in range(3))
    )
    assert [row.rows for row in rows] == [((3,),)] * 3
