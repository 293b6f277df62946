"""A person is forgotten: everything of theirs goes, what is the house's loses their name, and a
scan shows that it is so. It may be killed at any moment and done again: what signs in goes first,
then what belongs to them alone, then all declared columns in one transaction
(store/users/person_columns.py), with the entry of the log that tells of it.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import anyio.to_thread
from pydantic import Field
from sqlalchemy import Connection, bindparam, delete, select

from citewell.config import Settings
from citewell.errors import Conflict, NotFound
from citewell.messages import Text
from citewell.runtime.app import App
from citewell.service.admin.backup_holding import Holding, list_holding_backups
from citewell.service.jobs.sent_files import delete_sent_files
from citewell.service.knowledge.update_items import settle_item
from citewell.service.papers import delete_session
from citewell.service.tables.sources import remove_source
from citewell.store.confirmed.item_folder import ItemFolder
from citewell.store.db import Database
from citewell.store.dialects.expressions import is_among
from citewell.store.index.search_rows import pack_words
from citewell.store.job_rows import ENDED
from citewell.store.schema.job_tables import jobs
from citewell.store.schema.knowledge import confirmations, confirmed
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
    name. `left`: what the scan still found, nothing where it is proved. `remains`: tables of
    PostgreSQL in whose free space it may stand until that is used. `backups`: where it still is.
    """

    user_id: str
    removed: dict[str, int]
    nameless: dict[str, int]
    left: Left
    remains: list[str] = Field(default=[])
    backups: list[Holding]


async def get_personal_data(db: Database, name: str) -> Known:
    """Raises NotFound where there is nothing."""
    user = normalize_user_id(name)

    def look(connection: Connection) -> Known:
        rows = person_columns.count_person_rows(connection, user)
        return Known(
            user_id=user, rows=rows, since=person_columns.get_earliest_time(connection, user)
        )

    known = await db.read(look)
    if not known.rows:
        raise NotFound(
            Text("nothing is kept of {user!r}", user=user[:64]),
            hint=Text("`citewell user list` shows the users"),
        )
    return known


async def forget_person(app: App, name: str, folders: Sequence[Path] = ()) -> Forgotten:
    """Raises NotFound, Conflict (the last admin; an open job), StorageError."""
    known = await get_personal_data(app.db, name)
    user = known.user_id
    ids, spelt = await app.db.read(
        lambda c: (person_columns.sample_ids(c, user), person_columns.find_spellings(c, user))
    )
    with suppress(NotFound):  # no user of this server: somebody's word without a sign-in
        await app.users.remove(user)
    await _delete_belongings(app, spelt)
    items = await _list_confirmed_items(app.db, user)
    traces = await _list_own_traces(app.db, user)
    changed = Counter(await app.db.write(_delete_rows, known, ids))
    for trace_id in traces:
        await ItemFolder(app.settings).remove(trace_id)
    for item in items:
        with suppress(NotFound, Conflict):  # it was theirs alone, or is being settled
            await settle_item(app, item)
    await pack_words(app.db, forget=True)
    remains = await app.db.forget(strict=True)
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
        left=await _scan_leftovers(app.db, app.settings, user, ids),
        remains=remains,
        backups=await list_holding_backups(app.audit, app.settings, known.since, folders),
    )


async def _delete_belongings(app: App, spelt: dict[Held, list[str]]) -> None:
    """Sessions and papers, jobs and bytes, sources and copies, collections and documents."""
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
                    each for each in await app.collections.list_all() if each.owner == user
                ]:
                    await app.collections.delete(each.name)


_JOBS = select(jobs).where(jobs.c.owner == bindparam("user"))


async def _end_jobs(app: App, user: str) -> None:
    for row in await app.db.read(lambda c: c.execute(_JOBS, {"user": user}).all()):
        if row.state not in ENDED:
            with suppress(Conflict):  # it has ended just now
                await app.jobs.cancel(row.job_id)
        await delete_sent_files(app, json.loads(row.payload))


async def _list_confirmed_items(db: Database, user: str) -> list[str]:
    """The house's items that they stand by: their documents name them, and are written anew."""
    query = select(confirmations.c.item_id, confirmations.c.user_id)
    rows = await db.read(lambda connection: connection.execute(query).all())
    return sorted(
        {row.item_id for row in rows if get_person_key(row.user_id) == get_person_key(user)}
    )


async def _list_own_traces(db: Database, user: str) -> list[str]:
    """Of what was confirmed for them alone."""
    query = select(confirmed.c.trace_id, confirmed.c.owner).where(confirmed.c.owner != "")
    rows = await db.read(lambda connection: connection.execute(query).all())
    return [row.trace_id for row in rows if get_person_key(row.owner) == get_person_key(user)]


def _delete_rows(connection: Connection, known: Known, ids: Sequence[str]) -> dict[str, int]:
    """The rows, then the names in the log of administration, after the entry about it."""
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
        for row in connection.execute(select(jobs.c.job_id, jobs.c.payload)).all()
        if {str(value) for value in json.loads(row.payload).values()} & {*ids}
    ]
    connection.execute(delete(jobs).where(is_among(jobs.c.job_id, gone)))
    return len(gone)


async def _scan_leftovers(db: Database, settings: Settings, user: str, ids: Sequence[str]) -> Left:
    """The tables, the bytes of the database's files, and the files of confirmed answers."""
    found, columns = await db.read(scan_tables, user)
    database = settings.database
    files = [database, database.with_name(f"{database.name}-wal")]
    in_bytes, size = await anyio.to_thread.run_sync(scan_files, files, ids)
    for path in await ItemFolder(settings).list_files():
        if has_person(path.read_text("utf-8", "replace"), user):
            in_bytes[path.name] = 1
    return Left(columns=columns, bytes=size, found=found | in_bytes)
