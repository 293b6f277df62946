"""The log of administration: every change is in it with its transaction, and nobody changes it
unseen.
"""

from __future__ import annotations

import asyncio
import logging
import stat
from pathlib import Path

import pytest
from sqlalchemy import Connection

from citewell.errors import Conflict, InvalidInput, StorageError
from citewell.store.db import Database
from citewell.store.library.collection_store import Collections
from citewell.store.migrations.steps_025_audit_count import m025_audit_count
from citewell.store.source_rows import Source
from citewell.store.sources import Sources
from citewell.store.users.actor import ACTOR, Actor
from citewell.store.users.audit import Audit, record_event
from citewell.store.users.home_key import FILE
from citewell.store.users.users import Users


async def filled(db: Database) -> Audit:
    """Seven entries of all kinds, by two people."""
    ACTOR.set(Actor("boss", "http"))
    users = Users(db)
    await users.add_with_token("ann", "editor")
    await users.set_role("ann", "admin")
    await Collections(db, "test").create("notes", "ann")
    ACTOR.set(Actor("os:root", "cli"))
    await Sources(db).put(
        Source(name="shop", dialect="postgres", location="postgresql://h/d"),
        "postgresql://u:pw@h/d",
    )
    await Sources(db).remove("shop")
    await Collections(db, "test").delete("notes")
    return Audit(db)


async def tampered(db: Database, *statements: str) -> None:
    """As by somebody who may write to the database, and has taken the triggers away."""
    triggers = (
        ("DROP TRIGGER audit_unchanged", "DROP TRIGGER audit_kept")
        if db.dialect == "sqlite"
        else ("DROP TRIGGER audit_unchanged ON audit",)
    )

    def run(connection: Connection) -> None:
        for each in (*triggers, *statements):
            connection.exec_driver_sql(each)

    await db.write(run)


async def test_what_is_administered_is_in_it(db: Database) -> None:
    audit = await filled(db)
    told = [
        (each.who, each.channel, each.action, each.subject) for each in reversed(await audit.list())
    ]
    token = told[1][3]
    assert told == [
        ("boss", "http", "user.add", "ann"),
        ("boss", "http", "token.make", token),
        ("boss", "http", "user.role", "ann"),
        ("boss", "http", "collection.add", "notes"),
        ("os:root", "cli", "source.add", "shop"),
        ("os:root", "cli", "source.remove", "shop"),
        ("os:root", "cli", "collection.remove", "notes"),
    ]
    added = (await audit.list())[3]
    assert added.detail == {"shared": False, "person": "ann"}
    assert [each.seq for each in await audit.list(2, before=4)] == [3, 2]
    found = await audit.verify()
    assert (found.entries, found.last, found.damage) == (7, 7, [])


async def test_what_did_not_happen_is_not_in_it(db: Database) -> None:
    """An entry is part of its transaction."""
    users = Users(db)
    await users.add("ann", "admin")
    with pytest.raises(Conflict):
        await users.add("ANN", "reader")
    with pytest.raises(Conflict):
        await users.set_role("ann", "reader")
    assert len(await Audit(db).list()) == 1


async def test_a_line_of_the_log_is_written_once_and_only_of_what_is_kept(
    db: Database, caplog: pytest.LogCaptureFixture
) -> None:
    """Of transactions that came between one another, too: PostgreSQL has them run again."""
    caplog.set_level(logging.INFO, "citewell.audit")

    def fail(connection: Connection) -> None:
        record_event(connection, "home.backup", "home", "nowhere")
        raise InvalidInput("no")

    with pytest.raises(InvalidInput):
        await db.write(fail)
    users = Users(db)
    await asyncio.gather(*(users.add(f"u{n}", "reader") for n in range(8)))
    said = [record for record in caplog.records if record.name == "citewell.audit"]
    lines = sorted(record.getMessage() for record in said)
    entries = await Audit(db).list()
    assert [line.split(":")[0] for line in lines] == [f"audit {n}" for n in range(1, 9)]
    assert all(any(entry.mac in line for line in lines) for entry in entries)


@pytest.mark.parametrize(
    ("statements", "found"),
    [
        (["UPDATE audit SET action = 'user.remove' WHERE seq = 3"], [(3, "changed")]),
        (["UPDATE audit SET at = at + 1 WHERE seq = 1"], [(1, "changed")]),
        (["DELETE FROM audit WHERE seq = 4"], [(5, "missing"), (5, "changed")]),
        (["DELETE FROM audit WHERE seq > 5"], [(5, "cut")]),
        (
            ["UPDATE audit SET seq = 9 WHERE seq = 2", "UPDATE audit SET seq = 2 WHERE seq = 3"],
            None,
        ),
        (["UPDATE audit_names SET name = 'eve' WHERE name = 'boss'"], [(1, "renamed")]),
        (
            [
                (
                    "INSERT INTO audit SELECT 8, at, channel, who, action, kind, subject, detail, "
                    "key, mac FROM audit LIMIT 1"
                )
            ],
            None,
        ),
    ],
)
async def test_who_changes_it_is_found(
    db: Database, statements: list[str], found: list[tuple[int, str]] | None
) -> None:
    audit = await filled(db)
    await tampered(db, *statements)
    damage = [(each.seq, each.what) for each in (await audit.verify()).damage]
    assert damage == found if found is not None else damage


async def test_a_log_that_goes_on_after_a_cut_shows_the_cut(db: Database) -> None:
    audit = await filled(db)
    await tampered(db, "DELETE FROM audit WHERE seq > 5")
    await audit.record("home.backup", "home", "x")
    assert [(each.seq, each.what) for each in (await audit.verify()).damage] == [(8, "missing")]


@pytest.mark.sqlite
async def test_a_log_of_before_goes_on(db: Database) -> None:
    """SQLite's own count is taken over, so a cut of before still shows."""
    audit = await filled(db)
    await tampered(db, "DELETE FROM audit WHERE seq > 5")

    def step(connection: Connection) -> None:
        connection.exec_driver_sql("DROP TABLE audit_count")
        m025_audit_count(connection)

    await db.write(step)
    assert [(each.seq, each.what) for each in (await audit.verify()).damage] == [(5, "cut")]


async def test_another_key_is_told(path: Path, db: Database) -> None:
    audit = await filled(db)
    (path.parent / FILE).unlink()
    damage = (await audit.verify()).damage
    assert {each.what for each in damage} == {"other_key"}
    assert len(damage) == 7


async def test_the_log_is_only_added_to(db: Database) -> None:
    audit = await filled(db)
    for each in ("UPDATE audit SET who = ''", "DELETE FROM audit"):
        with pytest.raises(StorageError):
            await db.write(lambda connection, each=each: connection.exec_driver_sql(each))  # type: ignore[misc]
    assert (await audit.verify()).damage == []


async def test_the_key_is_for_its_owner_alone(path: Path, db: Database) -> None:
    """Made once, 0600; where it was opened to others it is closed again. A file that is no key is
    said to be none.
    """
    audit, file = await filled(db), path.parent / FILE
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert [each.name for each in path.parent.glob("citewell.key*")] == [FILE]
    file.chmod(0o644)
    assert (await audit.verify()).damage == []
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    file.write_text("not a key")
    with pytest.raises(StorageError, match="no key"):
        await audit.verify()


async def test_a_key_elsewhere_is_followed(path: Path, tmp_path: Path) -> None:
    """So that neither the home nor its backups hold it."""
    path.parent.mkdir()
    (tmp_path / "elsewhere").write_text("0f" * 32)
    (path.parent / FILE).symlink_to(tmp_path / "elsewhere")
    async with Database(path) as db:
        audit = await filled(db)
        assert (await audit.verify()).damage == []
        (tmp_path / "elsewhere").write_text("1f" * 32)
        assert len((await audit.verify()).damage) == 7


async def test_a_name_in_no_place_is_nobody(db: Database) -> None:
    """What the server does by itself, and names with half characters."""

    def write(connection: Connection) -> None:
        record_event(connection, "user.add", "user", "a\udfffb".encode("utf-8", "replace").decode())
        record_event(connection, "home.backup", "home", "字")

    ACTOR.set(Actor())
    await db.write(write)
    entries = await Audit(db).list()
    assert [(each.who, each.channel) for each in entries] == [("", "server")] * 2
    assert (await Audit(db).verify()).damage == []
