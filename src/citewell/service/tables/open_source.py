"""Open a source to ask it, after a look at its file or server. A file that has changed is read
first; where it is gone or no longer readable its copy is asked as it is, and that is said.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final, NamedTuple

import anyio
import anyio.to_thread

from citewell.errors import CitewellError, SourceUnavailable
from citewell.messages import Text
from citewell.runtime.app import App
from citewell.service.tables.document_tables import follow_document
from citewell.service.tables.file_copies import fetch_copy, format_copy_time, read_stat
from citewell.service.tables.kept_schema import load_schema
from citewell.service.tables.source_places import DOCUMENT, UPLOAD, Place, build_location
from citewell.service.tables.sources import add_place, refresh_source, unreadable_files
from citewell.sql.engines import open_engine
from citewell.sql.engines.engine import Engine, Location, Schema
from citewell.store.source_rows import Source

SCHEMA_SECONDS: Final = 600.0  # for so long the schema of a database is taken as it was read


class Opened(NamedTuple):
    """A source, reread if needed, and its engine. `source.problem` is for who asks."""

    source: Source
    engine: Engine

    @property
    def schema(self) -> Schema:
        return load_schema(self.source)


@asynccontextmanager
async def open_source(app: App, name: str) -> AsyncIterator[Opened]:
    """The source, with a changed file read first. Raises NotFound, SourceUnavailable."""
    source = await get_current_source(app, name)
    if source.is_file:
        path = await fetch_copy(app, source.path) or app.settings.home / source.path
        location = Location("duckdb", str(path), {"values": app.settings.data.values})
    else:
        location = build_location(await app.sources.location(name), app.settings.data.values)
    engine = open_engine(location)
    try:
        yield Opened(source, engine)
    finally:
        await engine.close()


async def get_current_source(app: App, name: str) -> Source:
    """The source, looked at and reread where changed. Raises NotFound, SourceUnavailable."""
    source = await app.sources.get(name)
    if not source.is_file:
        if time.time() - source.refreshed_at < SCHEMA_SECONDS and not source.problem:
            return source
        try:
            return (await refresh_source(app, name)).source
        except SourceUnavailable as error:
            await app.sources.set_problem(name, error.message)
            raise
    there = await fetch_copy(app, source.path) is not None
    if source.location.startswith(DOCUMENT):
        return await follow_document(app, source, there=there)
    if source.location.startswith(UPLOAD):
        if not there:
            raise SourceUnavailable(
                Text("the copy of {name} is gone", name=name), hint=Text("send the file again")
            )
        return source
    return await _follow_file(app, source, there=there)


async def _follow_file(app: App, source: Source, *, there: bool) -> Source:
    """A file's source after a look at the file. `there`: its copy is."""
    path = Path(source.location)
    try:
        stat = await anyio.to_thread.run_sync(read_stat, path)
    except OSError:
        if not there:
            hint = Text("bring the file back, or remove the source")
            raise SourceUnavailable(
                Text("{name} is gone, and so is its copy", name=path.name), hint=hint
            ) from None
        return await _note_problem(app, source, Text("{name} is gone", name=path.name), since=True)
    same = all(source.stat.get(key) == stat.get(key) for key in {*stat, "log_size", "log_mtime_ns"})
    if there and (same or unreadable_files.get(app.root, {}).get(source.name) == stat):
        if same and source.problem:
            await app.sources.set_problem(source.name, "")
            return source.model_copy(update={"problem": ""})
        return source
    try:
        added = await add_place(app, Place(source.location, source.location, source.name, path))
    except CitewellError as error:
        if not there:
            raise SourceUnavailable(
                Text("{name} cannot be read: {message}", name=source.name, message=error.message),
                hint=error.hint,
            ) from None
        unreadable_files.setdefault(app.root, {})[source.name] = stat
        return await _note_problem(
            app,
            source,
            Text("{name} has changed, but {message}", name=path.name, message=error.message),
        )
    return added.source


async def _note_problem(app: App, source: Source, what: str, *, since: bool = False) -> Source:
    """Note why the copy is older than the file; the time is that of the first notice."""
    if source.problem.startswith(what):
        return source
    noticed = (
        Text(", noticed {copy_time}", copy_time=format_copy_time(time.time())) if since else ""
    )
    problem = Text(
        "{what}{noticed}; answers come from its copy of {copy_time}",
        what=what,
        noticed=noticed,
        copy_time=format_copy_time(source.refreshed_at),
    )
    await app.sources.set_problem(source.name, problem)
    return source.model_copy(update={"problem": problem})
