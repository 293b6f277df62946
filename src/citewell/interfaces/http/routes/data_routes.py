"""`/api/data/sources`: tables: list, add, schema, rows, description, refresh, remove.

A file is sent whole and copied before the reply, which takes as long as reading it does (some 40 s
for a million rows of ten columns): who adds a table means to ask it next.

Over the network nobody names a file or a variable of this machine; only sent bytes and database
servers.
"""

from __future__ import annotations

import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import anyio.to_thread
from fastapi import APIRouter, Query, Request
from pydantic import Field

from citewell.interfaces.http.body import (
    Closed,
    JSONRoute,
    describe_upload,
    get_single_file,
    validate_json_body,
)
from citewell.interfaces.http.deps import Citewell, Editor
from citewell.messages import AnyText
from citewell.runtime.app import App
from citewell.service.library.uploads import Upload, delete_uploads, get_base_name, store_uploads
from citewell.service.tables import descriptions
from citewell.service.tables import sources as service
from citewell.service.tables.descriptions import Described, DescriptionCheck
from citewell.service.tables.preview_tables import find_table, preview_table
from citewell.service.tables.sample_table import add_sample_table
from citewell.service.tables.sources import Added
from citewell.sql.engines.engine import Value
from citewell.sql.semantics.description import MOST_CHARACTERS
from citewell.store.source_rows import Source

router = APIRouter(prefix="/api/data/sources", tags=["data"], route_class=JSONRoute)
sample_router = APIRouter(prefix="/api/data/samples", tags=["data"], route_class=JSONRoute)

FORM = describe_upload({"name": {"type": "string"}, "private": {"type": "boolean"}})


class Database(Closed):
    """A database by its URL. `private`: nobody else sees it. It stays so."""

    url: str = Field(min_length=1, max_length=4_096)
    name: str | None = None
    private: bool = False


class TableBrief(Closed):
    name: str
    rows: int | None
    columns: int


class SourceBrief(Closed):
    """A source without its columns; `/schema` has them."""

    name: str
    dialect: str
    location: str
    tables: list[TableBrief]
    fingerprint: str
    described: bool
    warnings: list[AnyText]
    problem: AnyText
    created_at: float
    refreshed_at: float
    owner: str = ""


class SourceList(Closed):
    sources: list[SourceBrief]


class AddedSource(SourceBrief):
    status: str


class SchemaText(Closed):
    name: str
    dialect: str
    fingerprint: str
    tables: list[dict[str, Any]]


class FirstRows(Closed):
    table: str
    columns: list[str]
    kinds: list[str]
    rows: list[list[Value]]


class DescriptionText(Closed):
    """YAML (docs/data.md)."""

    text: str = Field(max_length=MOST_CHARACTERS)


@router.get("")
async def list_sources(app: Citewell) -> SourceList:
    """All of them, without their columns."""
    return SourceList(sources=[_to_brief(source) for source in await service.list_sources(app)])


@router.post("", status_code=201, openapi_extra=FORM)
async def add_source(request: Request, app: Citewell, caller: Editor) -> AddedSource:
    """A file as a form, or `{url, name?}` of a PostgreSQL or MySQL database. The reply comes when
    it can be asked.
    """
    if request.headers.get("content-type", "").startswith("multipart/form-data"):
        return _to_added(await _add_upload(request, app, caller.user_id))
    body = await validate_json_body(Database, request)
    return _to_added(
        await service.add_database(app, body.url, body.name, caller.user_id if body.private else "")
    )


class SampleWish(Closed):
    """`lang`: `en` or `zh`."""

    lang: str = Field("en", max_length=10)


@sample_router.post("", status_code=201)
async def add_sample(body: SampleWish, app: Citewell, _: Editor) -> AddedSource:
    """The sample table; once it is there it stays as it is."""
    return _to_added(await add_sample_table(app, body.lang))


@router.get("/{name}")
async def get_source(name: str, app: Citewell) -> SourceBrief:
    """One of them, with its tables."""
    return _to_brief(await app.sources.get(name))


@router.delete("/{name}", status_code=204)
async def remove_source(name: str, app: Citewell, _: Editor) -> None:
    """With the copy of its file. The database itself stays as it is."""
    await service.remove_source(app, name)


@router.get("/{name}/schema")
async def get_schema(name: str, app: Citewell, table: str | None = None) -> SchemaText:
    """Tables, columns, types, comments, keys, stored values; of one table where it is named."""
    source = await app.sources.get(name)
    tables = source.tables if table is None else [asdict(find_table(source, table))]
    return SchemaText(
        name=source.name, dialect=source.dialect, fingerprint=source.fingerprint, tables=tables
    )


@router.get("/{name}/rows")
async def get_rows(
    name: str, table: str, app: Citewell, limit: Annotated[int, Query(ge=0, le=1_000)] = 20
) -> FirstRows:
    """The first rows of a table."""
    found, rows = await preview_table(app, name, table, limit)
    return FirstRows(
        table=found.name,
        columns=list(rows.columns),
        kinds=list(rows.kinds),
        rows=[list(row) for row in rows.rows],
    )


@router.get("/{name}/description")
async def get_description(
    name: str,
    app: Citewell,
    draft: Annotated[bool, Query(description="Made of the tables, whatever is kept.")] = False,
) -> Described:
    """What people wrote of these tables, as YAML; a first draft where they wrote nothing."""
    return await descriptions.get_description(app, name, draft=draft)


@router.put("/{name}/description")
async def put_description(
    name: str, body: DescriptionText, app: Citewell, _: Editor
) -> SourceBrief:
    """In the place of what was written before; 400 with the line of the first problem."""
    return _to_brief(await descriptions.keep_description(app, name, body.text))


@router.post("/{name}/description/check")
async def check_description(
    name: str, body: DescriptionText, app: Citewell, _: Editor
) -> DescriptionCheck:
    """What is wrong with it: names that do not exist, metrics and filters that do not run."""
    return await descriptions.check_description(app, name, body.text)


@router.post("/{name}/refresh")
async def refresh_source(name: str, app: Citewell, _: Editor) -> AddedSource:
    """Read it again; 409 for a file that was sent."""
    return _to_added(await service.refresh_source(app, name))


async def _add_upload(request: Request, app: App, user_id: str) -> Added:
    """The bytes are in a folder of ours while they are read. The field `private` says that nobody
    else is to see them.
    """
    async with request.form(max_files=2, max_fields=5) as form:
        file = get_single_file(form, app.settings.ingest.max_bytes)
        said, owner = (
            form.get("name"),
            user_id if str(form.get("private", "")).lower() in {"true", "1", "on"} else "",
        )
        title = get_base_name(file.filename or "")
        folder = Path(await anyio.to_thread.run_sync(tempfile.mkdtemp, "", "citewell-")) / "upload"
        try:
            await anyio.to_thread.run_sync(store_uploads, folder, [Upload(title, file.file)])
            chosen = said if isinstance(said, str) and said else None
            return await service.add_upload(app, folder / "0", title, chosen, owner)
        finally:
            await anyio.to_thread.run_sync(delete_uploads, folder.parent)


def _to_brief(source: Source) -> SourceBrief:
    tables = [
        TableBrief(name=t["name"], rows=t["rows"], columns=len(t["columns"])) for t in source.tables
    ]
    shown = source.model_dump(include=SourceBrief.model_fields.keys() - {"tables", "described"})
    return SourceBrief(**shown, tables=tables, described=bool(source.description))


def _to_added(added: Added) -> AddedSource:
    brief = _to_brief(added.source).model_copy(update={"warnings": added.warnings})
    return AddedSource(**brief.model_dump(), status=added.status)
