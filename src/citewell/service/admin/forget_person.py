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
from citewell.service.admin.backup_holding import Holding, list_holding_backups
from citewell.service.knowledge.update_items import settle_item
from citewell.service.library.uploads import delete_uploads
from citewell.service.papers import delete_session
from citewell.service.tables.sources import remove_source
from citewell.store.confirmed.files import get_item_path, remove_file
from citewell.store.job_rows import ENDED
from citewell.store.users import audit, person_columns
from citewell.store.users.identity import get_person_key, normalize_user_id
from citewell.store.users.person_columns import PERSON_COLUMNS, Held
from citewell.store.users.person_scan import Left, has_person, scan_files, scan_tables
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


async def get_personal_data(app: App, name: str) -> Known:
    """Raises NotFound where there is nothing."""
    user = normalize_user_id(name)

    def look(connection: Connection) -> Known:
        rows = person_columns.count_person_rows(connection, user)
        return Known(
            user_id=user, rows=rows, since=person_columns.get_earliest_time(connection, user)
        )

    known = await app.db.read(look)
    if not known.rows:
        raise NotFound(
            f"nothing is kept of {user[:64]!r}", hint="`citewell user list` shows the users"
        )
    return known


async def forget_person(app: App, name: str, folders: Sequence[Path] = ()) -> Forgotten:
    """Raises NotFound, Conflict (the last admin; an open job), StorageError."""
    known = await get_personal_data(app, name)
    user = known.user_id
    ids, spelt = await app.db.read(
        lambda c: (person_columns.sample_ids(c, user), person_columns.find_spellings(c, user))
    )
    with suppress(NotFound):  # no user of this server: somebody's word without a sign-in
        await app.users.remove(user)
    await _delete_belongings(app, spelt)
    items = await _list_confirmed_items(app, user)
    paths = await _list_own_files(app, user)
    changed = Counter(await app.db.write(lambda connection: _delete_rows(connection, known, ids)))
    for path in paths:
        await anyio.to_thread.run_sync(remove_file, path)
    for item in items:
        with suppress(NotFound, Conflict):  # it was theirs alone, or is being settled
            await settle_item(app, item)
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
        left=await _scan_leftovers(app, user, ids),
        backups=await list_holding_backups(app, known.since, folders),
    )


async def _delete_belongings(app: App, spelt: dict[Held, list[str]]) -> None:
    """Sessions with their papers, jobs with their bytes, sources with their copies, collections
    with their documents.
    """
    for held, same in spelt.items():
        for user in same:
            if held == Held("sessions", "user_id", "delete"):
                for info in await app.sessions.list(user):
                    with suppress(NotFound):
                        await delete_session.forget_session(app, info)
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
            await anyio.to_thread.run_sync(delete_uploads, app.settings.home / "uploads" / folder)


async def _list_confirmed_items(app: App, user: str) -> list[str]:
    """The house's items that they stand by: their documents name them, and are written anew."""
    query = text("SELECT DISTINCT item_id, user_id FROM confirmations")
    rows = await app.db.read(lambda connection: connection.execute(query).all())
    return sorted(
        {row.item_id for row in rows if get_person_key(row.user_id) == get_person_key(user)}
    )


async def _list_own_files(app: App, user: str) -> list[Path]:
    """Of what was confirmed for them alone."""
    query = text("SELECT trace_id, owner FROM confirmed WHERE owner <> ''")
    rows = await app.db.read(lambda connection: connection.execute(query).all())
    return [
        get_item_path(app.settings.home, row.trace_id)
        for row in rows
        if get_person_key(row.owner) == get_person_key(user)
    ]


def _delete_rows(connection: Connection, known: Known, ids: Sequence[str]) -> dict[str, int]:
    """The rows, and then the names in the log of administration, after the entry that tells of
    it.
    """
    user = known.user_id
    changed = Counter(person_columns.forget_person(connection, user))
    changed["jobs"] += _delete_jobs_about(connection, ids)
    audit.record_event(connection, "user.forget", "user", user, rows=known.rows)
    audit.forget_name(connection, lambda name: get_person_key(name) == get_person_key(user))
    return {table: count for table, count in changed.items() if count}


def _delete_jobs_about(connection: Connection, ids: Sequence[str]) -> int:
    """Jobs that were about a session or a vote of theirs."""
    gone = [
        row.job_id
        for row in connection.execute(text("SELECT job_id, payload FROM jobs")).all()
        if {str(value) for value in json.loads(row.payload).values()} & {*ids}
    ]
    for job_id in gone:
        connection.execute(text("DELETE FROM jobs WHERE job_id = :id"), {"id": job_id})
    return len(gone)


async def _scan_leftovers(app: App, user: str, ids: Sequence[str]) -> Left:
    """The tables, the bytes of the database's files, and the files of confirmed answers."""
    found, columns = await app.db.read(lambda connection: scan_tables(connection, user))
    database = app.settings.database
    files = [database, database.with_name(f"{database.name}-wal")]
    in_bytes, size = await anyio.to_thread.run_sync(scan_files, files, ids)
    for path in await anyio.to_thread.run_sync(
        lambda: sorted((app.settings.home / "knowledge").rglob("*.md"))
    ):
        if has_person(path.read_text("utf-8", "replace"), user):
            in_bytes[path.name] = 1
    return Left(columns=columns, bytes=size, found=found | in_bytes)
