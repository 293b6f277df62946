"""`/api/documents/{id}`: what it is, its text with spans, its original bytes; delete. Original
bytes are strangers' bytes. They come as a download, never as a page of this origin.
"""

from __future__ import annotations

from typing import Annotated
from urllib.parse import quote

from fastapi import APIRouter, Query, Request, Response
from pydantic import BaseModel, Field

from citewell.interfaces.http import etag
from citewell.interfaces.http.body import Closed, JSONRoute
from citewell.interfaces.http.deps import Citewell, Editor
from citewell.interfaces.http.description import describe_replies
from citewell.retrieve.boosts import HIGHEST
from citewell.service.ask.locate import Span, find_span
from citewell.service.library import documents as service
from citewell.service.library import page_image
from citewell.store.library.documents import DocumentInfo

router = APIRouter(prefix="/api/documents/{doc_id}", tags=["documents"], route_class=JSONRoute)


class SectionSpan(BaseModel):
    heading_path: list[str]
    start: int
    end: int


class PageSpan(BaseModel):
    number: int
    start: int
    end: int


class Content(BaseModel):
    """`start` and `end` are character offsets into `text`, here and in every citation."""

    doc_id: str
    title: str
    media_type: str
    lang: str
    text: str
    sections: list[SectionSpan]
    pages: list[PageSpan]


class Change(Closed):
    priority: int = Field(ge=0, le=HIGHEST)


@router.get("")
async def get_document(doc_id: str, app: Citewell) -> DocumentInfo:
    """What it is: title, kind, language, where it comes from."""
    return await app.catalog.document(doc_id)


@router.patch("")
async def change_document(doc_id: str, body: Change, app: Citewell, _: Editor) -> DocumentInfo:
    """Its priority: 0 for an ordinary document, up to 10 for one that is to be found before others
    as good.
    """
    return await service.set_priority(app, doc_id, body.priority)


@router.get("/content", operation_id="get_document_content")
async def content(doc_id: str, app: Citewell) -> Content:
    """Its text, with its sections and pages."""
    document = await app.catalog.content(doc_id)
    return Content(
        doc_id=doc_id,
        title=document.title,
        media_type=document.media_type,
        lang=document.lang,
        text=document.text,
        sections=[
            SectionSpan(heading_path=list(s.heading_path), start=s.start, end=s.end)
            for s in document.sections
        ],
        pages=[
            PageSpan(number=page.number, start=page.start, end=page.end) for page in document.pages
        ],
    )


@router.get("/span", operation_id="get_document_span")
async def span(
    doc_id: str,
    app: Citewell,
    start: Annotated[int, Query(ge=0)],
    end: Annotated[int, Query(ge=1)],
    words: Annotated[
        str,
        Query(max_length=64, description="the sign of the words that were cited, as links have it"),
    ] = "",
    page: Annotated[int | None, Query(ge=1, description="the page where the words stood")] = None,
) -> Span:
    """Words of it as a citation has them: page, section, where its lines stand. That is what links
    to a citation open.
    """
    return await find_span(app, doc_id, start, end, words=words, page=page)


@router.get(
    "/file",
    response_class=Response,
    responses={200: describe_replies("*/*")},
    operation_id="get_document_file",
)
async def file(doc_id: str, app: Citewell) -> Response:
    """The bytes as they were added."""
    info, data = await service.get_original_file(app.catalog, doc_id)
    headers = {
        "Content-Disposition": format_disposition(info.uri),
        "Content-Security-Policy": "sandbox; default-src 'none'",
        "Cross-Origin-Resource-Policy": "same-origin",
    }
    return Response(data, media_type=info.media_type, headers=headers)


@router.get(
    "/pages/{number}.png",
    response_class=Response,
    responses={
        200: describe_replies("image/png"),
        304: {"description": "The one that the client has."},
    },
    operation_id="get_document_page",
)
async def page(
    doc_id: str,
    number: int,
    request: Request,
    app: Citewell,
    width: int = page_image.WIDTH,
    start: int | None = None,
    end: int | None = None,
) -> Response:
    """A page of a PDF as a picture; the lines of the text from `start` to `end` are marked."""
    image = await page_image.find_page(
        app.catalog, doc_id, number, width=width, start=start, end=end
    )
    tag = f'"{image.tag}"'
    # the same address shows another picture once the document was changed, so it is asked for
    # again, and seldom sent
    headers = {
        "ETag": tag,
        "Cache-Control": "private, no-cache",
        "Cross-Origin-Resource-Policy": "same-origin",
    }
    if etag.is_cached_by_client(request, tag):
        return Response(status_code=304, headers=headers)
    return Response(await page_image.draw_page(app, image), media_type="image/png", headers=headers)


@router.delete("", status_code=204)
async def delete_document(doc_id: str, app: Citewell, _: Editor) -> None:
    """With its passages and its bytes."""
    await service.delete_document(app, doc_id)


def format_disposition(uri: str) -> str:
    """A download under the file's own name; RFC 6266, with a plain name for older clients."""
    name = uri.removeprefix("upload:").replace("\\", "/").rpartition("/")[2] or "document"
    simple = "".join(
        letter if letter.isascii() and (letter.isalnum() or letter in "._-") else "_"
        for letter in name
    )
    return (
        f'attachment; filename="{simple}"; '
        f"filename*=UTF-8''{quote(name, safe='', errors='replace')}"
    )
