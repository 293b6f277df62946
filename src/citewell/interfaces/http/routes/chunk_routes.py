"""How a document or a sent file would be cut into passages. Nothing is stored."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request

from citewell.errors import InvalidInput
from citewell.interfaces.http.body import JSONRoute, describe_upload, get_single_file
from citewell.interfaces.http.deps import Citewell
from citewell.messages import Text
from citewell.service.library.chunking import ChunkerName
from citewell.service.library.preview import Previews, preview_bytes, preview_document
from citewell.service.library.uploads import get_base_name

router = APIRouter(prefix="/api", tags=["documents"], route_class=JSONRoute)

FORM = describe_upload(url=False)

Chunkers = Annotated[tuple[ChunkerName, ...], Query(max_length=4)]


@router.get("/documents/{doc_id}/chunks", operation_id="preview_document_chunks")
async def document_chunks(
    doc_id: str,
    app: Citewell,
    chunker: Chunkers = (),
    tokens: int | None = None,
    overlap: int | None = None,
) -> Previews:
    """As its collection cuts it, or each way of `chunker`. `semantic` embeds every sentence:
    minutes for a long document.
    """
    return await preview_document(app, doc_id, chunker, {"tokens": tokens, "overlap": overlap})


@router.post("/chunks", openapi_extra=FORM, operation_id="preview_file_chunks")
async def file_chunks(
    request: Request,
    app: Citewell,
    chunker: Chunkers = (),
    tokens: int | None = None,
    overlap: int | None = None,
) -> Previews:
    """The same for one file of a multipart form."""
    if not request.headers.get("content-type", "").startswith("multipart/form-data"):
        raise InvalidInput(
            Text("a file is sent as a multipart/form-data body"),
            hint=Text("curl -F file=@report.pdf .../api/chunks"),
        )
    async with request.form(max_files=2, max_fields=5) as form:
        file = get_single_file(form, app.settings.ingest.max_bytes)
        name = get_base_name(file.filename or "")
        return await preview_bytes(
            app.embedder,
            app.settings,
            await file.read(),
            name,
            chunker,
            {"tokens": tokens, "overlap": overlap},
        )
