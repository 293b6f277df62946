"""Sources of tables: add, list, get, remove, refresh, what words mean, and open one to ask it.

The one rule: a file is never asked itself but its copy, which is looked after here: made anew when
the file has changed, kept as it is when the file is gone or no longer readable, and said so.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Final, Literal, NamedTuple
from weakref import WeakKeyDictionary, WeakValueDictionary

import anyio
import anyio.to_thread
from pydantic import Field
from sqlalchemy import Connection

from citewell.errors import CitewellError, Conflict, InvalidInput, SourceUnavailable
from citewell.runtime.app import App
from citewell.service.knowledge.removed_sources import schedule_check_in, set_aside_in
from citewell.service.knowledge.update_items import settle_item
from citewell.service.tables.file_copies import (
    Stat,
    copy_tables,
    delete_copy,
    mark_replaced,
    read_stat,
    sweep_copies,
)
from citewell.service.tables.kept_schema import dump_tables, load_schema, with_keys
from citewell.service.tables.source_places import (
    UPLOAD,
    Place,
    build_location,
    has_password,
    is_readable_by_others,
    make_source_name,
    parse_place,
)
from citewell.sql.engines import open_engine, parse_location
from citewell.sql.engines.engine import Engine, Location, Schema
from citewell.sql.engines.parameters import check_remote
from citewell.store.sources import GlossaryTerm, Source, check_source_name
from citewell.types import Shown

SCHEMA_SECONDS: Final = 600.0  # for so long the schema of a database is taken as it was read
_locks: WeakKeyDictionary[App, WeakValueDictionary[str, anyio.Lock]] = WeakKeyDictionary()
# files as they were when they could not be read
_failed: WeakKeyDictionary[App, dict[str, Stat]] = WeakKeyDictionary()


class Added(Shown):
    """What became of a source: it is new, was read again, or is as it was."""

    status: Literal["added", "replaced", "unchanged"]
    source: Source
    warnings: list[str] = Field(default=[])


class Opened(NamedTuple):
    """A source, read anew where that was needed, and the engine that asks it. `source.problem` is
    to be told to who asks.
    """

    source: Source
    engine: Engine

    @property
    def schema(self) -> Schema:
        return load_schema(self.source)


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
    return await _add_place(app, replace(place, name=name, owner=owner))


async def add_database(app: App, url: str, name: str | None = None, owner: str = "") -> Added:
    """The same for who is not at this machine: no file or socket of it, and nothing of its
    environment. Raises InvalidInput for a URL that names one (sql/engines/parameters.py).
    """
    if "://" not in url or url.strip().lower().startswith("sqlite") or "${" in url:
        hint = (
            "give postgresql://user:password@host/database; send a file itself; ${NAME} is for "
            "the command line"
        )
        raise InvalidInput("only databases of a server can be added by their address", hint=hint)
    location = parse_location(url)
    check_remote(location.where, location.dialect)
    return await add_source(app, url, name, owner)


async def add_upload(
    app: App, path: Path, title: str, name: str | None = None, owner: str = ""
) -> Added:
    """Add a file whose bytes were sent and lie at `path` for now; people call it `title`."""
    await sweep_copies(app)
    chosen = check_source_name(name) if name is not None else make_source_name(Path(title).stem)
    return await _add_place(app, Place(UPLOAD + title, UPLOAD + title, chosen, path, owner))


async def list_sources(app: App) -> list[Source]:
    """In the order of their names, as they were last read."""
    await sweep_copies(app)
    return await app.sources.list()


async def get_source(app: App, name: str) -> Source:
    """As it was last read. Raises NotFound, with near names."""
    return await app.sources.get(name)


async def remove_source(app: App, name: str) -> Source:
    """With its copy; the file or the database stays. What people confirmed about it is set aside
    with it. Raises NotFound.
    """
    aside: list[str] = []

    def gone(connection: Connection, source: Source) -> None:
        aside[:] = [item.item_id for item in set_aside_in(app, connection, name, source)[0]]

    async with _get_lock(app, name):
        source = await app.sources.remove(name, gone)
        await anyio.to_thread.run_sync(delete_copy, app, source.path)
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
            f"{name}: its file was sent, and is not here", hint="send it again to replace it"
        )
    await sweep_copies(app)
    path = Path(location) if source.is_file else None
    return await _add_place(app, Place(location, source.location, name, path), anew=True)


async def set_glossary(app: App, name: str, terms: Sequence[GlossaryTerm]) -> Source:
    """Replace what words mean in these tables. Raises NotFound, InvalidInput."""
    return await app.sources.set_glossary(name, terms)


async def change_glossary(
    app: App, name: str, put: Sequence[GlossaryTerm], remove: Sequence[str] = ()
) -> Source:
    """Add or reword terms, take others out. Raises NotFound, also for a term to remove that is
    none; InvalidInput.
    """
    return await app.sources.change_glossary(
        name, {each.term: each.meaning for each in put}, remove
    )


@asynccontextmanager
async def open_source(app: App, name: str) -> AsyncIterator[Opened]:
    """The source, ready to be asked: a changed file is read first. Raises NotFound,
    SourceUnavailable.
    """
    source = await get_current_source(app, name)
    if source.is_file:
        location = Location(
            "duckdb", str(app.settings.home / source.path), {"values": app.settings.data.values}
        )
    else:
        location = build_location(await app.sources.location(name), app.settings.data.values)
    engine = open_engine(location)
    try:
        yield Opened(source, engine)
    finally:
        await engine.close()


async def get_current_source(app: App, name: str) -> Source:
    """The source after a look at its file or server, read again where it has changed. Raises
    NotFound, SourceUnavailable.
    """
    source = await app.sources.get(name)
    if not source.is_file:
        if time.time() - source.refreshed_at < SCHEMA_SECONDS and not source.problem:
            return source
        try:
            return (await refresh_source(app, name)).source
        except SourceUnavailable as error:
            await app.sources.set_problem(name, error.message)
            raise
    there = await anyio.to_thread.run_sync((app.settings.home / source.path).is_file)
    if source.location.startswith(UPLOAD):
        if not there:
            raise SourceUnavailable(f"the copy of {name} is gone", hint="send the file again")
        return source
    return await _follow_file(app, source, there=there)


async def _follow_file(app: App, source: Source, *, there: bool) -> Source:
    """A file's source after a look at the file. `there`: its copy is."""
    path = Path(source.location)
    try:
        stat = await anyio.to_thread.run_sync(read_stat, path)
    except OSError:
        if not there:
            hint = "bring the file back, or remove the source"
            raise SourceUnavailable(f"{path.name} is gone, and so is its copy", hint=hint) from None
        return await _note_problem(app, source, f"{path.name} is gone", since=True)
    same = all(source.stat.get(key) == stat.get(key) for key in {*stat, "log_size", "log_mtime_ns"})
    if there and (same or _failed.get(app.root, {}).get(source.name) == stat):
        if same and source.problem:
            await app.sources.set_problem(source.name, "")
            return source.model_copy(update={"problem": ""})
        return source
    try:
        added = await _add_place(app, Place(source.location, source.location, source.name, path))
    except CitewellError as error:
        if not there:
            raise SourceUnavailable(
                f"{source.name} cannot be read: {error.message}", hint=error.hint
            ) from None
        _failed.setdefault(app.root, {})[source.name] = stat
        return await _note_problem(app, source, f"{path.name} has changed, but {error.message}")
    return added.source


async def _note_problem(app: App, source: Source, what: str, *, since: bool = False) -> Source:
    """Note why the copy is older than the file; the time is that of the first notice."""
    if source.problem.startswith(what):
        return source
    noticed = f", noticed {_format_time(time.time())}" if since else ""
    problem = f"{what}{noticed}; answers come from its copy of {_format_time(source.refreshed_at)}"
    await app.sources.set_problem(source.name, problem)
    return source.model_copy(update={"problem": problem})


async def _add_place(app: App, place: Place, *, anew: bool = False) -> Added:
    """One at a time for a name in this process; of two processes the later one counts."""
    async with _get_lock(app, place.name):
        before = await app.sources.find(place.name)
        if before is not None and await app.sources.location(place.name) != place.location:
            hint = f"choose another with --name, or remove that one first; it is {before.location}"
            raise Conflict(
                f"a source {place.name!r} is there already, from another place", hint=hint
            )
        added = await (_add_database if place.path is None else _add_file)(app, place, before, anew)
        _failed.get(app.root, {}).pop(place.name, None)
    return added


async def _put_source(app: App, source: Source, place: Place) -> Source:
    """With the job that looks at what was confirmed of it, where there is something to look at."""
    put = await app.sources.put(
        source,
        place.location,
        unless=place.location,
        also=lambda connection, *both: schedule_check_in(app, connection, *both),
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
        said = f"{place.shown}: {error.strerror or 'cannot be read'}"
        if before is not None:
            raise SourceUnavailable(
                said,
                hint=f"bring it back; the copy of {_format_time(before.refreshed_at)} still "
                "answers",
            ) from None
        raise InvalidInput(said, hint="name a file that is there") from None
    if (
        before is not None
        and not anew
        and (same := await _refresh_if_same(app, path, before, stat))
    ):
        put = await _put_source(app, same, place)
        return Added(status="unchanged", source=put)
    async with copy_tables(app, path, title) as copy:
        schema = with_keys(
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
        warnings=[*copy.imported.warnings, *await _warn_of_duplicates(app, put)],
    )


async def _warn_of_duplicates(app: App, new: Source) -> list[str]:
    """That the same is there under another name: a question would ask back which of them is
    meant.
    """
    others = [each for each in await app.sources.list() if each.name != new.name]
    same = [
        each.name
        for each in others
        if each.location == new.location and not new.location.startswith(UPLOAD)
    ]
    if same:
        return [f"the same {'file' if new.is_file else 'database'} is there as {', '.join(same)}"]
    digest = new.stat.get("sha256")
    same = [each.name for each in others if digest and each.stat.get("sha256") == digest]
    return [f"a file with the same bytes is there as {', '.join(same)}"] if same else []


async def _refresh_if_same(app: App, path: Path, before: Source, stat: Stat) -> Source | None:
    """The source with its new times, where the file's bytes are those that were read."""
    if "log_size" in stat or "log_size" in before.stat or stat["size"] != before.stat.get("size"):
        return None
    if not await anyio.to_thread.run_sync((app.settings.home / before.path).is_file):
        return None
    digest = await anyio.to_thread.run_sync(_hash_file, path)
    if digest != before.stat.get("sha256"):
        return None
    return before.model_copy(update={"stat": {**stat, "sha256": digest}, "problem": ""})


async def _add_database(app: App, place: Place, before: Source | None, anew: bool) -> Added:
    connection = build_location(place.location, app.settings.data.values)
    if (
        before is None
        and connection.dialect == "sqlite"
        and not await anyio.Path(connection.where).is_file()
    ):
        hint = (
            "name a database file that is there; after sqlite:/// stands its path, an absolute "
            "one begins with a fourth /"
        )
        raise InvalidInput(f"{place.shown}: there is no such file", hint=hint)
    schema = await _inspect_schema(connection)
    put = await _put_source(app, _build_source(place, schema), place)
    warnings = list(schema.notes)
    if has_password(place.location) and await anyio.to_thread.run_sync(
        is_readable_by_others, app.settings.database
    ):
        warnings.append(
            f"its password is kept in {app.settings.database}, which others on this machine may "
            f"read: chmod 600 it, or write ${{NAME}} for the password and set that variable"
        )
    status: Literal["added", "replaced", "unchanged"] = "added"
    if before is None:
        warnings += await _warn_of_duplicates(app, put)
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


def _hash_file(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _format_time(at: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(at))


def _get_lock(app: App, name: str) -> anyio.Lock:
    return _locks.setdefault(app.root, WeakValueDictionary()).setdefault(name, anyio.Lock())
