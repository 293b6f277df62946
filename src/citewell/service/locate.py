"""Where a quote stands on its page. The one rule: a quote is compared with the stored text once more before it is shown."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from urllib.parse import quote

from citewell.errors import Conflict
from citewell.service.app import App
from citewell.skills.vouched import RULE
from citewell.types import Citation, Document, Section


def locator(app: App) -> Callable[[list[Citation]], Awaitable[list[Citation]]]:
    """Gives citations of documents page and section at the quote's own first character, and where its lines stand; those of
    memories and reviewed corrections stay as they are. It raises Conflict where a document was changed meanwhile.
    """

    async def locate(citations: list[Citation]) -> list[Citation]:
        ids = {c.doc_id for c in citations if c.origin != "memory" and not c.uri.startswith(RULE)}
        documents = {doc_id: await app.catalog.content(doc_id) for doc_id in ids}
        return [await _located(app, c, documents[c.doc_id]) if c.doc_id in documents else c for c in citations]

    return locate


async def _located(app: App, citation: Citation, document: Document) -> Citation:
    if document.text[citation.start : citation.end] != citation.quote:
        raise Conflict(f"{citation.title} was changed while it was being cited", hint="ask again")
    citation = await _with_origin(app, citation)
    section = next((s for s in document.sections if s.start <= citation.start < s.end), None)
    lines = await app.catalog.boxes(citation.doc_id, [(citation.start, citation.end)])
    place = {
        "page": document.page_at(citation.start),
        "section": citation.section if citation.origin == "confirmed" else _section(section) or citation.section,
        "uri": _at(citation, section),
        "boxes": [[line.page, line.x0, line.y0, line.x1, line.y1] for line in lines],
    }
    return citation.model_copy(update=place)


async def _with_origin(app: App, citation: Citation) -> Citation:
    """A page of the web says so, and when it was fetched, whichever agent cites it."""
    if citation.origin != "document" or not citation.uri.startswith(("http://", "https://")):
        return citation
    info = await app.catalog.document(citation.doc_id)
    page = await app.snapshots.get(info.collection, citation.uri)
    return citation if page is None else citation.model_copy(update={"origin": "web", "fetched_at": page.fetched_at})


def _section(section: Section | None) -> str:
    return " › ".join(section.heading_path if section else ())


def _at(citation: Citation, section: Section | None) -> str:
    """Of a page of the web the address of the section, where it has one."""
    anchor = section.anchor if section is not None and citation.origin == "web" else ""
    return f"{citation.uri.partition('#')[0]}#{quote(anchor)}" if anchor else citation.uri
