"""The tables as declared, as a home of SQLite comes to them and as PostgreSQL has them agree; and
databases of other versions.
"""

# ruff: noqa: ASYNC240 a test that looks at a file keeps nobody waiting

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import Connection, Float, inspect, text
from tests.store.earlier import be_earlier

from citewell.errors import StorageError
from citewell.store.db import Database
from citewell.store.migrations import revisions
from citewell.store.schema.metadata import metadata

# of one database alone: full text and vectors, and the record of SQLite's own steps
OWN = ("word", "vector_index", "migrations", "sqlite_sequence")
HEAD = revisions.get_head()
NEXT = """
from alembic import op

revision, down_revision = "9999", "{head}"


def upgrade():
    op.execute("ALTER TABLE folders ADD COLUMN colour TEXT NOT NULL DEFAULT ''")
"""


def find_differences(connection: Connection) -> list[Any]:
    """But the order of arrival, and what is only another word in SQLite: REAL for Double, the key
    that is never NULL, references that name no column (`list_references` has those).
    """
    sqlite = connection.dialect.name == "sqlite"

    def is_compared(_: Any, name: str | None, kind: str, *__: object) -> bool:
        foreign = sqlite and kind == "foreign_key_constraint"
        arrival = kind == "column" and name == "rowid"
        return not (foreign or arrival)

    def is_read(name: str | None, kind: str, _: object) -> bool:
        return kind != "table" or not str(name).startswith(OWN)

    def is_other_type(*types: Any) -> bool | None:
        return False if all(isinstance(each, Float) for each in types[3:5]) else None

    options = {
        "include_name": is_read,
        "include_object": is_compared,
        "compare_type": is_other_type,
    }
    found = compare_metadata(MigrationContext.configure(connection, opts=options), metadata)
    return [each for each in found if not (sqlite and is_of_key(each))]


def is_of_key(difference: Any) -> bool:
    [(kind, _, table, column, *_)] = difference if isinstance(difference, list) else [difference]
    return kind == "modify_nullable" and bool(metadata.tables[table].c[column].primary_key)


def list_references(connection: Connection) -> set[tuple[str, str, str, str]]:
    """Of a file of SQLite: table, column, table that it speaks of, what becomes of it."""
    return {
        (table.name, str(row[3]), str(row[2]), str(row[6]))
        for table in metadata.sorted_tables
        for row in connection.execute(text(f"PRAGMA foreign_key_list({table.name})")).all()
    }


async def test_all_agree(path: Path, postgres_database: str) -> None:
    for url in ("", postgres_database):
        async with Database(path, url) as db:
            assert await db.read(find_differences) == []
            if not url:
                assert await db.read(list_references) == {
                    (
                        table.name,
                        key.parent.name,
                        key.column.table.name,
                        key.ondelete or "NO ACTION",
                    )
                    for table in metadata.sorted_tables
                    for key in table.foreign_keys
                }


async def test_a_server_without_pgvector_says_so(path: Path, postgres_database: str) -> None:
    """The user may not make the extension."""
    import psycopg

    with psycopg.connect(postgres_database, autocommit=True) as connection:
        connection.execute("DROP ROLE IF EXISTS plain")
        connection.execute("CREATE ROLE plain LOGIN")
        connection.execute("GRANT CREATE ON SCHEMA public TO plain")
    url = postgres_database.replace("postgres@", "plain@", 1)
    with pytest.raises(StorageError, match="pgvector") as caught:
        await Database(path, url).open()
    assert "CREATE EXTENSION vector" in caught.value.hint
    assert (await look(path, url)).state == "empty"
    with psycopg.connect(postgres_database, autocommit=True) as connection:
        connection.execute("DROP OWNED BY plain; DROP ROLE plain")


async def test_rows_have_an_order_of_arrival(path: Path, home_url: str) -> None:
    """In PostgreSQL too, for every table that is declared with it."""
    async with Database(path, home_url) as db:
        found = await db.read(
            lambda c: {
                table.name
                for table in metadata.sorted_tables
                if any(each["name"] == "rowid" for each in inspect(c).get_columns(table.name))
            }
        )
    assert found == {table.name for table in metadata.sorted_tables if "rowid" in table.c}


@pytest.fixture
def next_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A Citewell that knows one revision more."""
    folder = tmp_path / "a % folder"
    shutil.copytree(revisions.FOLDER, folder)
    (folder / "versions" / "r9999_colours.py").write_text(NEXT.format(head=HEAD), "utf-8")
    monkeypatch.setattr(revisions, "FOLDER", folder)
    monkeypatch.setattr(revisions, "REVISIONS", (*revisions.REVISIONS, "9999"))


def list_folder_columns(connection: Connection) -> set[str]:
    return {str(each["name"]) for each in inspect(connection).get_columns("folders")}


async def test_a_file_comes_to_the_next_schema_by_itself(
    path: Path, request: pytest.FixtureRequest
) -> None:
    """And is then refused by the version before."""
    async with Database(path) as db:
        assert "colour" not in await db.read(list_folder_columns)
    monkeypatch = request.getfixturevalue("monkeypatch")
    with monkeypatch.context():
        request.getfixturevalue("next_version")
        assert (await look(path)).state == "older"
        opened = await asyncio.gather(*(Database(path).open() for _ in range(3)))
        assert "colour" in await opened[0].read(list_folder_columns)
        for each in opened:
            await each.close()
        assert (await look(path)).state == "current"
    monkeypatch.undo()
    assert (await look(path)).state == "later"
    with pytest.raises(StorageError, match="a later Citewell wrote this database"):
        await Database(path).open()


async def look(path: Path, url: str = "") -> Any:
    return await Database(path, url).look()


async def test_an_older_database_of_postgres_waits_for_the_command(
    path: Path, home_url: str, request: pytest.FixtureRequest
) -> None:
    """Two upgrades at once do it once; the version before is refused afterwards."""
    request.getfixturevalue("next_version")
    schema = await look(path, home_url)
    assert (schema.state, schema.revision, schema.known) == ("older", HEAD, "9999")
    with pytest.raises(StorageError, match="is older") as caught:
        await Database(path, home_url).open()
    assert "citewell db upgrade" in caught.value.hint
    await asyncio.gather(*(Database(path, home_url).upgrade() for _ in range(2)))
    async with Database(path, home_url) as db:
        assert "colour" in await db.read(list_folder_columns)
    request.getfixturevalue("monkeypatch").undo()
    with pytest.raises(StorageError, match="a later Citewell wrote this database"):
        await Database(path, home_url).open()


async def test_the_version_before_works_with_what_was_only_added(
    path: Path, home_url: str, request: pytest.FixtureRequest, caplog: pytest.LogCaptureFixture
) -> None:
    """It stays up, and starts, where each further revision is additive; it upgrades nothing."""
    monkeypatch = request.getfixturevalue("monkeypatch")
    async with Database(path, home_url) as before:
        with monkeypatch.context():
            request.getfixturevalue("next_version")
            monkeypatch.setattr(revisions, "ADDITIVE", revisions.ADDITIVE | {"9999"})
            await Database(path, home_url).upgrade()
            async with Database(path, home_url) as after:
                put = "INSERT INTO folders (folder_id, user_id, name, created_at) "
                put += "VALUES ('f', 'ann', 'Trips', 1.0)"
                await before.write(lambda c: c.execute(text(put)))
                count = "SELECT count(*) FROM folders WHERE colour = ''"
                assert await after.read(lambda c: c.execute(text(count)).scalar_one()) == 1
        monkeypatch.undo()
        assert (await look(path, home_url)).state == "ahead"
        async with Database(path, home_url) as again:
            assert await again.read(lambda c: c.execute(text(count)).scalar_one()) == 1
        assert "which works with it" in caplog.text
        with pytest.raises(StorageError, match="a later Citewell wrote this database"):
            await Database(path, home_url).upgrade()


@pytest.mark.parametrize("knows", range(1, len(revisions.REVISIONS)))
async def test_a_version_that_knows_fewer_revisions(
    path: Path, home_url: str, knows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It starts where it takes locks as the others do, which came with revision 0005."""
    monkeypatch.setattr(revisions, "REVISIONS", revisions.REVISIONS[:knows])
    schema = await look(path, home_url)
    assert (schema.state, schema.known) == ("ahead" if knows >= 5 else "later", f"{knows:04}")
    if knows >= 5:
        async with Database(path, home_url) as db:
            assert await db.read(revisions.judge_revision) == "ahead"


async def test_somebody_elses_database_is_left_alone(path: Path, postgres_database: str) -> None:
    import psycopg

    with psycopg.connect(postgres_database, autocommit=True) as connection:
        connection.execute("CREATE TABLE theirs (id int)")
    for call in (
        Database(path, postgres_database).server.open,
        Database(path, postgres_database).server.upgrade,
    ):
        with pytest.raises(StorageError, match="not Citewell's"):
            await asyncio.to_thread(call)
    assert (await look(path, postgres_database)).tables == 1
    assert (await look(path)).state == "empty"
    assert not path.exists()


async def test_a_home_of_the_last_release_is_taken_over(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its own steps come first, then the baseline is noted; rows stay."""
    from citewell.store.migrations.migration_list import MIGRATIONS

    with monkeypatch.context() as released:
        be_earlier(released, MIGRATIONS[:23])
        async with Database(path) as db:
            put = "INSERT INTO folders VALUES ('f', 'ann', 'Trips', 1.0)"
            await db.write(lambda c: c.execute(text(put)))
            assert not await db.read(lambda c: inspect(c).has_table("alembic_version"))
    schema = await look(path)
    assert (schema.state, schema.revision) == ("older", "23")
    async with Database(path) as db:
        assert await db.read(revisions.get_revision) == revisions.get_head()
        kept = await db.read(lambda c: c.execute(text("SELECT name FROM folders")).scalar_one())
        assert kept == "Trips"
        assert await db.read(find_differences) == []
