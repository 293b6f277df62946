"""`/api/collections`: list, create, get, change, delete; their documents: list, upload, add a page
of the web.
"""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from pydantic import BaseModel, ConfigDict
from starlette.datastructures import UploadFile

from citewell.errors import InvalidInput
from citewell.interfaces.http.body import JSONRoute, validate_json_body
from citewell.interfaces.http.deps import Citewell, Editor
from citewell.service.jobs.submit import submit_uploads
from citewell.service.library import collections as service
from citewell.service.library.chunking import ChunkerName
from citewell.service.library.documents import list_documents
from citewell.service.library.rechunk import set_chunking
from citewell.service.library.rechunk import submit_rechunk as rechunk_later
from citewell.service.library.uploads import Upload
from citewell.service.sites.sites import submit_page
from citewell.store.job_rows import Job
from citewell.store.library.collection_rows import CollectionInfo
from citewell.store.library.documents import DocumentInfo

router = APIRouter(prefix="/api/collections", tags=["collections"], route_class=JSONRoute)
MOST_FILES = 1_000  # of one upload

FORM: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "properties": {
                        "file": {"type": "array", "items": {"type": "string", "format": "binary"}}
                    },
                }
            },
            "application/json": {
                "schema": {
                    "type": "object",
                    "properties": {"url": {"type": "string"}},
                    "required": ["url"],
                },
            },
        },
    }
}


class WebPage(BaseModel):
    model_config = ConfigDict(extra="forbid")

    url: str


class ChunkingChange(BaseModel):
    """What is left out stays as it is, or as the settings say."""

    model_config = ConfigDict(extra="forbid")

    chunker: ChunkerName | None = None
    tokens: int | None = None
    overlap: int | None = None


class NewCollection(BaseModel):
    model_config = ConfigDict(extra="forbid")

    """`private`: nobody else sees it. It stays so."""

    name: str
    chunking: ChunkingChange = ChunkingChange()
    private: bool = False


class CollectionChange(BaseModel):
    model_config = ConfigDict(extra="forbid")

    chunking: ChunkingChange


class Changed(BaseModel):
    """`job` cuts the documents anew that are there already."""

    collection: CollectionInfo
    job: Job


class Collections(BaseModel):
    collections: list[CollectionInfo]


class Documents(BaseModel):
    documents: list[DocumentInfo]


@router.get("")
async def list_collections(app: Citewell) -> Collections:
    """All of them, with how many documents each holds."""
    return Collections(collections=await service.list_collections(app))


@router.post("", status_code=201)
async def create_collection(body: NewCollection, app: Citewell, caller: Editor) -> CollectionInfo:
    """An empty one."""
    owner = caller.user_id if body.private else ""
    return await service.create_collection(
        app, body.name, body.chunking.model_dump(exclude_none=True), owner
    )


@router.get("/{name}")
async def get_collection(name: str, app: Citewell) -> CollectionInfo:
    """One of them."""
    return await service.get_collection(app, name)


@router.patch("/{name}", status_code=202)
async def change_collection(name: str, body: CollectionChange, app: Citewell, _: Editor) -> Changed:
    """Cut its documents otherwise: those to come at once, those that are there by a job."""
    info = await set_chunking(app, name, body.chunking.model_dump(exclude_none=True))
    return Changed(collection=info, job=await rechunk_later(app, name))


@router.delete("/{name}", status_code=204)
async def delete_collection(name: str, app: Citewell, _: Editor) -> None:
    """With all its documents."""
    await service.delete_collection(app, name)


@router.get("/{name}/documents", operation_id="list_documents")
async def documents(name: str, app: Citewell) -> Documents:
    """What it holds."""
    return Documents(documents=await list_documents(app, name))


@router.post(
    "/{name}/documents", status_code=202, openapi_extra=FORM, operation_id="upload_documents"
)
async def upload(name: str, request: Request, app: Citewell, _: Editor) -> Job:
    """Store the files of a multipart form and add them as a job; the collection is made where it is
    new. Or, as JSON `{url}`, a page of the web, which the job fetches.

    Every file part counts, whatever its field is called.
    """
    kind = request.headers.get("content-type", "")
    if kind.startswith("application/json"):
        return await submit_page(app, name, (await validate_json_body(WebPage, request)).url)
    if not kind.startswith("multipart/form-data"):
        hint = (
            f'curl -F file=@report.pdf .../{name}/documents; a page of the web: JSON {{"url": '
            f'"https://..."}}'
        )
        raise InvalidInput("an upload is a multipart/form-data body", hint=hint)
    async with request.form(max_files=MOST_FILES) as form:
        files = [part for _, part in form.multi_items() if isinstance(part, UploadFile)]
        if not files:
            raise InvalidInput(
                "the form holds no file", hint="send each file as a part with a file name"
            )
        return await submit_uploads(
            app, name, [Upload(part.filename or "", part.file) for part in files]
        )
