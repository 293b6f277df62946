"""`/api/collections`: list, create, get, change, delete; their documents: list, upload, add a page
of the web.
"""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel, StringConstraints
from starlette.datastructures import UploadFile

from citewell.errors import InvalidInput
from citewell.interfaces.http.body import (
    FILES,
    Closed,
    JSONRoute,
    describe_upload,
    validate_json_body,
)
from citewell.interfaces.http.deps import Citewell, Editor
from citewell.messages import Text
from citewell.service.jobs.submit import submit_uploads
from citewell.service.library import collections as service
from citewell.service.library.chunking import ChunkerName
from citewell.service.library.offered_questions import (
    OfferedQuestion,
    Place,
    count_waiting,
    list_overviews,
    list_suggestions,
)
from citewell.service.library.rechunk import set_chunking
from citewell.service.library.rechunk import submit_rechunk as rechunk_later
from citewell.service.library.uploads import Upload
from citewell.service.sites.refresh_site import submit_page
from citewell.store.job_rows import Job
from citewell.store.library.collection_rows import CollectionInfo
from citewell.store.library.document_pages import MOST, DocumentPage, Order
from citewell.store.library.documents import DocumentInfo
from citewell.store.library.questions import OverviewSentence

router = APIRouter(prefix="/api/collections", tags=["collections"], route_class=JSONRoute)
MOST_FILES = 1_000  # of one upload
PLACE = r"^doc_[0-9a-f]+:\d{1,12}-\d{1,12}$"  # of a document's text

FORM = describe_upload(file=FILES)


class WebPage(Closed):
    url: str


class ChunkingChange(Closed):
    """What is left out stays as it is, or as the settings say."""

    chunker: ChunkerName | None = None
    tokens: int | None = None
    overlap: int | None = None


class NewCollection(Closed):
    """`private`: nobody else sees it. It stays so."""

    name: str
    chunking: ChunkingChange = ChunkingChange()
    private: bool = False


class CollectionChange(Closed):
    chunking: ChunkingChange


class Changed(BaseModel):
    """`job` cuts the documents anew that are there already."""

    collection: CollectionInfo
    job: Job


class Collections(BaseModel):
    collections: list[CollectionInfo]


class Documents(BaseModel):
    """`total`: how many there are in all, of which this may be a page."""

    documents: list[DocumentInfo]
    total: int


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
    return await app.collections.get(name)


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
async def documents(
    name: str,
    app: Citewell,
    q: Annotated[str, Query(max_length=200, description="words of a title or address")] = "",
    order: Annotated[Order, Query(description="what a page of them is ordered by")] = "added_at",
    ascending: Annotated[bool, Query(description="the least first")] = False,
    offset: Annotated[int, Query(ge=0, description="documents before the page")] = 0,
    limit: Annotated[int | None, Query(ge=1, le=MOST, description="documents a page")] = None,
) -> Documents:
    """What it holds. With a `limit` a page of it, in an order, of those with `q` in their title
    or address; without one all, in the order of their addresses.
    """
    if limit is None:
        found = await app.catalog.documents(name)
        return Documents(documents=found, total=len(found))
    page = DocumentPage(q, order, ascending, offset, limit)
    documents, total = await app.catalog.list_document_page(name, page)
    return Documents(documents=documents, total=total)


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
        hint = Text(
            "curl -F file=@report.pdf .../{name}/documents; a page of the web: JSON "
            '{{"url": "https://..."}}',
            name=name,
        )
        raise InvalidInput(Text("an upload is a multipart/form-data body"), hint=hint)
    async with request.form(max_files=MOST_FILES) as form:
        files = [part for _, part in form.multi_items() if isinstance(part, UploadFile)]
        if not files:
            raise InvalidInput(
                Text("the form holds no file"),
                hint=Text("send each file as a part with a file name"),
            )
        return await submit_uploads(
            app, name, [Upload(part.filename or "", part.file) for part in files]
        )


def parse_place(text: str) -> Place:
    doc_id, _, places = text.rpartition(":")
    start, _, end = places.partition("-")
    return Place(doc_id, int(start), int(end))


class Suggestions(BaseModel):
    """`waiting`: documents (of the language) that were not looked at yet. `overviews`: what
    documents are about, in their own sentences, by document.
    """

    questions: list[OfferedQuestion]
    waiting: int
    overviews: dict[str, list[OverviewSentence]]


@router.get("/{name}/questions")
async def list_questions(
    name: str,
    app: Citewell,
    limit: Annotated[int, Query(ge=1, le=50)] = 4,
    lang: Annotated[str, Query(description="`en` or `zh`: those first")] = "",
    near: Annotated[str, Query(max_length=8_000, description="those nearest to this one")] = "",
    doc_id: Annotated[list[str] | None, Query(description="of these, with `near`")] = None,
    shown: Annotated[
        list[Annotated[str, StringConstraints(pattern=PLACE, max_length=100)]] | None,
        Query(max_length=50, description="DOC_ID:START-END: what an answer quoted; none about it"),
    ] = None,
) -> Suggestions:
    """Questions whose answers were found in the collection before they are offered, and what its
    documents are about (without `near`); none until a server has had the time for it.
    """
    found = await list_suggestions(
        app,
        name,
        limit=limit,
        lang=lang,
        near=near,
        documents=doc_id or (),
        shown=[parse_place(each) for each in shown or ()],
    )
    overviews = {} if near else await list_overviews(app, name)
    waiting = await count_waiting(app, name, lang)
    return Suggestions(questions=found, waiting=waiting, overviews=overviews)
