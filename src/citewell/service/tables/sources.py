"""Sources of tables: add, list, get, remove, refresh. A file is never asked itself but its copy,
which is made here, and made anew when the file is read again.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Literal
from weakref import WeakKeyDictionary, WeakValueDictionary

import anyio
import anyio.to_thread
from pydantic import Field
from sqlalchemy import Connection

from citewell.errors import Conflict, InvalidInput, SourceUnavailable
from citewell.messages import AnyText, Text
from citewell.runtime.app import App
from citewell.service.knowledge.removed_sources import schedule_check_in, set_aside_in
from citewell.service.knowledge.update_items import settle_item
from citewell.service.tables.file_copies import (
    Stat,
    copy_tables,
    delete_copy,
    format_copy_time,
    mark_replaced,
    read_stat,
    sweep_copies,
)
from citewell.service.tables.kept_schema import add_keys, dump_tables
from citewell.service.tables.same_source import refresh_if_same, warn_of_duplicates
from citewell.service.tables.source_places import (
    DOCUMENT,
    UPLOAD,
    Place,
    build_location,
    has_password,
    is_readable_by_others,
    make_source_name,
    parse_place,
)
from citewell.sql.engines import open_engine, parse_location
from citewell.sql.engines.engine import Location, Schema
from citewell.sql.engines.parameters import check_remote
from citewell.store.source_rows import Source, check_source_name
from citewell.types import Shown

_locks: WeakKeyDictionary[App, WeakValueDictionary[str, anyio.Lock]] = WeakKeyDictionary()
# files as they were when they could not be read
unreadable_files: WeakKeyDictionary[App, dict[str, Stat]] = WeakKeyDictionary()


class Added(Shown):
    """What became of a source: it is new, was read again, or is as it was."""

    status: Literal["added", "replaced", "unchanged"]
    source: Source
    warnings: list[AnyText] = Field(default=[])


async def add_source(app: App, said: str, name: str | None = None, owner: str = "") -> Added:
    """Add a file by its path, or a database by its URL. Its name is that of the file or the
    database where none is given. `owner`: the one user who may see it; empty: everybody. One that
    is there keeps its owner.

    Raises InvalidInput, UnreadableFile, SourceUnavailable, StorageError, and Conflict where the
    name is another source's.
    """
    place = parse_place(said)
    await sweep_copies(app)
    name = check_source_name(name) if name is not None else place.name
    return await add_place(app, replace(place, name=name, owner=owner))


async def add_database(app: App, url: str, name: str | None = None, owner: str = "") -> Added:
    """The same for who is not at this machine: no file or socket of it, and nothing of its
    environment. Raises InvalidInput for a URL that names one (sql/engines/parameters.py).
    """
    if "://" not in url or url.strip().lower().startswith("sqlite") or "${" in url:
        hint = Text(
            "give postgresql://user:password@host/database; send a file itself; "
            "${NAME} is for the command line"
        )
        raise InvalidInput(
            Text("only databases of a server can be added by their address"), hint=hint
        )
    location = parse_location(url)
    check_remote(location.where, location.dialect)
    return await add_source(app, url, name, owner)


async def add_upload(
    app: App, path: Path, title: str, name: str | None = None, owner: str = ""
) -> Added:
    """Add a file whose bytes were sent and lie at `path` for now; people call it `title`."""
    await sweep_copies(app)
    chosen = check_source_name(name) if name is not None else make_source_name(Path(title).stem)
    return await add_place(app, Place(UPLOAD + title, UPLOAD + title, chosen, path, owner))


async def list_sources(app: App) -> list[Source]:
    """In the order of their names, as they were last read."""
    await sweep_copies(app)
    return await app.sources.list()


async def remove_source(app: App, name: str) -> Source:
    """With its copy and what was confirmed of it; file or database stay. Raises NotFound."""
    aside: list[str] = []

    def set_items_aside(connection: Connection, source: Source) -> None:
        aside[:] = [
            item.item_id
            for item in set_aside_in(app.catalog, app.jobs, connection, name, source)[0]
        ]

    async with _get_lock(app, name):
        source = await app.sources.remove(name, set_items_aside)
        await delete_copy(app, source.path)
    for item_id in aside:
        await settle_item(app, item_id)
    return source


async def refresh_source(app: App, name: str) -> Added:
    """Read it again, whether it seems changed or not. Raises NotFound, UnreadableFile,
    SourceUnavailable; Conflict for a file that was sent.
    """
    source, location = await app.sources.get(name), await app.sources.location(name)
    if location.startswith(UPLOAD):
        raise Conflict(
            Text("{name}: its file was sent, and is not here", name=name),
            hint=Text("send it again to replace it"),
        )
    if location.startswith(DOCUMENT):
        raise Conflict(
            Text("{name}: its file is among the documents, which it follows", name=name),
            hint=Text("add the file to the documents again to replace it"),
        )
    await sweep_copies(app)
    path = Path(location) if source.is_file else None
    return await add_place(app, Place(location, source.location, name, path), anew=True)


async def add_place(app: App, place: Place, *, anew: bool = False) -> Added:
    """One at a time for a name in this process; of two processes the later one counts."""
    async with _get_lock(app, place.name):
        before = await app.sources.find(place.name)
        if before is not None and await app.sources.location(place.name) != place.location:
            hint = Text(
                "choose another with --name, or remove that one first; it is {location}",
                location=before.location,
            )
            raise Conflict(
                Text("a source {name!r} is there already, from another place", name=place.name),
                hint=hint,
            )
        added = await (_add_database if place.path is None else _add_file)(app, place, before, anew)
        unreadable_files.get(app.root, {}).pop(place.name, None)
    return added


async def _put_source(app: App, source: Source, place: Place) -> Source:
    """With the job that looks at what was confirmed of it, where there is something to look at."""
    put = await app.sources.put(
        source,
        place.location,
        unless=place.location,
        also=lambda connection, *both: schedule_check_in(app.jobs, connection, *both),
    )
    app.new_job.set()
    return put


async def _add_file(app: App, place: Place, before: Source | None, anew: bool) -> Added:
    assert place.path is not None
    path = place.path
    title = place.location.removeprefix(UPLOAD) if place.location.startswith(UPLOAD) else path.name
    stat: Stat = {}
    try:
        stat = await anyio.to_thread.run_sync(read_stat, path)
    except OSError as error:
        said = Text(
            "{shown}: {strerror}", shown=place.shown, strerror=error.strerror or "cannot be read"
        )
        if before is not None:
            raise SourceUnavailable(
                said,
                hint=Text(
                    "bring it back; the copy of {copy_time} still answers",
                    copy_time=format_copy_time(before.refreshed_at),
                ),
            ) from None
        raise InvalidInput(said, hint=Text("name a file that is there")) from None
    if before is not None and not anew and (same := await refresh_if_same(app, path, before, stat)):
        put = await _put_source(app, same, place)
        return Added(status="unchanged", source=put)
    async with copy_tables(app, path, title) as copy:
        schema = add_keys(
            await _inspect_schema(Location("duckdb", str(copy.path), _get_value_options(app))),
            copy.imported.tables,
        )
        source = _build_source(
            place, schema, path=copy.relative, stat={**stat, "sha256": copy.imported.sha256}
        )
        source = source.model_copy(update={"warnings": copy.imported.warnings})
        put = await _put_source(app, source, place)
    if before is not None:
        await anyio.to_thread.run_sync(mark_replaced, app, before.path)
        return Added(status="replaced", source=put, warnings=copy.imported.warnings)
    return Added(
        status="added",
        source=put,
        warnings=[*copy.imported.warnings, *await warn_of_duplicates(app, put)],
    )


async def _add_database(app: App, place: Place, before: Source | None, anew: bool) -> Added:
    connection = build_location(place.location, app.settings.data.values)
    if (
        before is None
        and connection.dialect == "sqlite"
        and not await anyio.Path(connection.where).is_file()
    ):
        hint = Text(
            "name a database file that is there; after sqlite:/// stands its path, an "
            "absolute one begins with a fourth /"
        )
        raise InvalidInput(Text("{shown}: there is no such file", shown=place.shown), hint=hint)
    schema = await _inspect_schema(connection)
    put = await _put_source(app, _build_source(place, schema), place)
    warnings = list(schema.notes)
    in_file = app.db.dialect == "sqlite" and has_password(place.location)
    if in_file and await anyio.to_thread.run_sync(is_readable_by_others, app.settings.database):
        warnings.append(
            Text(
                "its password is kept in {database}, which others on this machine may "
                "read: chmod 600 it, or write ${{NAME}} for the password and set that "
                "variable",
                database=app.settings.database,
            )
        )
    status: Literal["added", "replaced", "unchanged"] = "added"
    if before is None:
        warnings += await warn_of_duplicates(app, put)
    else:
        status = "unchanged" if before.fingerprint == put.fingerprint and not anew else "replaced"
    return Added(status=status, source=put, warnings=warnings)


async def _inspect_schema(location: Location) -> Schema:
    engine = open_engine(location)
    try:
        return await engine.inspect()
    finally:
        await engine.close()


def _build_source(place: Place, schema: Schema, path: str = "", stat: Stat | None = None) -> Source:
    return Source(
        name=place.name,
        dialect=schema.dialect,
        location=place.shown,
        path=path,
        stat=stat or {},
        tables=dump_tables(schema),
        fingerprint=schema.fingerprint,
        warnings=list(schema.notes),
        owner=place.owner,
    )


def _get_value_options(app: App) -> dict[str, int]:
    return {"values": app.settings.data.values}


def _get_lock(app: App, name: str) -> anyio.Lock:
    return _locks.setdefault(app.root, WeakValueDictionary()).setdefault(name, anyio.Lock())
