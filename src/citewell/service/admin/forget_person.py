"""A person is forgotten: everything of theirs goes, what is the house's loses their name, and a
scan shows that it is so.

The one rule: it may be killed at any moment and done again: what signs in goes first, then what
belongs to them alone, then all declared columns in one transaction (store/users/person_columns.py),
with the entry of the log that tells of it.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import anyio.to_thread
from sqlalchemy import Connection, text

from citewell.errors import Conflict, NotFound
from citewell.runtime.app import App
from citewell.service.admin.backup_holding import Holding, holding
from citewell.service.knowledge.update_items import settle
from citewell.service.library.uploads import throw_away
from citewell.service.papers import delete_session as papers_delete
from citewell.service.tables.sources import remove_source
from citewell.store.confirmed.files import path_of, remove
from citewell.store.jobs import ENDED
from citewell.store.users import audit, person_columns
from citewell.store.users.identity import named, person
from citewell.store.users.person_columns import PERSON_COLUMNS, Held
from citewell.store.users.person_scan import Left, names, scan, scan_files
from citewell.types import Shown

NAMELESS = frozenset(held.table for held in PERSON_COLUMNS if held.becomes == "alias")


class Known(Shown):
    """What is kept of a person: rows by table, and since when."""

    user_id: str
    rows: dict[str, int]
    since: float | None


class Forgotten(Shown):
    """`removed`: rows by table that are gone; `nameless`: rows of the house that stay without the
    name. `left`: what the scan still found, nothing where it is proved. `backups`: where it still
    is.
    """

    user_id: str
    removed: dict[str, int]
    nameless: dict[str, int]
    left: Left
    backups: list[Holding]


async def known_of(app: App, name: str) -> Known:
    """Raises NotFound where there is nothing."""
    user = named(name)

    def look(connection: Connection) -> Known:
        rows = person_columns.counted(connection, user)
        return Known(user_id=user, rows=rows, since=person_columns.since(connection, user))

    known = await app.db.read(look)
    if not known.rows:
        raise NotFound(
            f"nothing is kept of {user[:64]!r}", hint="`citewell user list` shows the users"
        )
    return known


async def forget_person(app: App, name: str, folders: Sequence[Path] = ()) -> Forgotten:
    """Raises NotFound, Conflict (the last admin; an open job), StorageError."""
    known = await known_of(app, name)
    user = known.user_id
    ids, spelt = await app.db.read(
        lambda c: (person_columns.ids_of(c, user), person_columns.spellings(c, user))
    )
    with suppress(NotFound):  # no user of this server: somebody's word without a sign-in
        await app.users.remove(user)
    await _give_up(app, spelt)
    items = await _confirmed_by(app, user)
    paths = await _own_files(app, user)
    changed = Counter(await app.db.write(lambda connection: _forget(connection, known, ids)))
    for path in paths:
        await anyio.to_thread.run_sync(remove, path)
    for item in items:
        with suppress(NotFound, Conflict):  # it was theirs alone, or is being settled
            await settle(app, item)
    await app.db.forget(strict=True)
    changed.update({table: count for table, count in known.rows.items() if table not in changed})
    return Forgotten(
        user_id=user,
        removed={
            table: count
            for table, count in sorted(changed.items())
            if table not in NAMELESS and count
        },
        nameless={
            table: count for table, count in sorted(changed.items()) if table in NAMELESS and count
        },
        left=await _left(app, user, ids),
        backups=await holding(app, known.since, folders),
    )


async def _give_up(app: App, spelt: dict[Held, list[str]]) -> None:
    """Sessions with their papers, jobs with their bytes, sources with their copies, collections
    with their documents.
    """
    for held, same in spelt.items():
        for user in same:
            if held == Held("sessions", "user_id", "delete"):
                for info in await app.sessions.list(user):
                    with suppress(NotFound):
                        await papers_delete.forget(app, info)
            elif held.table == "jobs":
                await _end_jobs(app, user)
            elif held.table == "sources":
                for source in [each for each in await app.sources.list() if each.owner == user]:
                    await remove_source(app, source.name)
            elif held.table == "collections":
                for each in [
                    each for each in await app.catalog.collections() if each.owner == user
                ]:
                    await app.catalog.delete_collection(each.name)


async def _end_jobs(app: App, user: str) -> None:
    query = text("SELECT job_id, state, payload FROM jobs WHERE owner = :user")
    for row in await app.db.read(
        lambda connection: connection.execute(query, {"user": user}).all()
    ):
        if row.state not in ENDED:
            with suppress(Conflict):  # it has ended just now
                await app.jobs.cancel(row.job_id)
        folder = json.loads(row.payload).get("folder")
        if isinstance(folder, str) and folder.isalnum():
            await anyio.to_thread.run_sync(throw_away, app.settings.home / "uploads" / folder)


async def _confirmed_by(app: App, user: str) -> list[str]:
    """The house's items that they stand by: their documents name them, and are written anew."""
    query = text("SELECT DISTINCT item_id, user_id FROM confirmations")
    rows = await app.db.read(lambda connection: connection.execute(query).all())
    return sorted({row.item_id for row in rows if person(row.user_id) == person(user)})


async def _own_files(app: App, user: str) -> list[Path]:
    """Of what was confirmed for them alone."""
    query = text("SELECT trace_id, owner FROM confirmed WHERE owner <> ''")
    rows = await app.db.read(lambda connection: connection.execute(query).all())
    return [
        path_of(app.settings.home, row.trace_id)
        for row in rows
        if person(row.owner) == person(user)
    ]


def _forget(connection: Connection, known: Known, ids: Sequence[str]) -> dict[str, int]:
    """The rows, and then the names in the log of administration, after the entry that tells of
    it.
    """
    user = known.user_id
    changed = Counter(person_columns.forget(connection, user))
    changed["jobs"] += _jobs_about(connection, ids)
    audit.record(connection, "user.forget", "user", user, rows=known.rows)
    audit.forget_name(connection, lambda name: person(name) == person(user))
    return {table: count for table, count in changed.items() if count}


def _jobs_about(connection: Connection, ids: Sequence[str]) -> int:
    """Jobs that were about a session or a vote of theirs."""
    gone = [
        row.job_id
        for row in connection.execute(text("SELECT job_id, payload FROM jobs")).all()
        if {str(value) for value in json.loads(row.payload).values()} & {*ids}
    ]
    for job_id in gone:
        connection.execute(text("DELETE FROM jobs WHERE job_id = :id"), {"id": job_id})
    return len(gone)


async def _left(app: App, user: str, ids: Sequence[str]) -> Left:
    """The tables, the bytes of the database's files, and the files of confirmed answers."""
    found, columns = await app.db.read(lambda connection: scan(connection, user))
    database = app.settings.database
    files = [database, database.with_name(f"{database.name}-wal")]
    in_bytes, size = await anyio.to_thread.run_sync(scan_files, files, ids)
    for path in await anyio.to_thread.run_sync(
        lambda: sorted((app.settings.home / "knowledge").rglob("*.md"))
    ):
        if names(path.read_text("utf-8", "replace"), user):
            in_bytes[path.name] = 1
    return Left(columns=columns, bytes=size, found=found | in_bytes)
