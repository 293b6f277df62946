"""Where a quote stands on its page. The one rule: a quote is compared with the stored text once more before it is shown."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from citewell.errors import Conflict
from citewell.service.app import App
from citewell.types import Citation, Document


def locator(app: App) -> Callable[[list[Citation]], Awaitable[list[Citation]]]:
    """Gives citations of documents page and section at the quote's own first character, and where its lines stand; those of
    memories stay as they are. It raises Conflict where a document was changed meanwhile.
    """

    async def locate(citations: list[Citation]) -> list[Citation]:
        ids = {citation.doc_id for citation in citations if citation.origin != "memory"}
        documents = {doc_id: await app.catalog.content(doc_id) for doc_id in ids}
        return [await _located(app, c, documents[c.doc_id]) if c.doc_id in documents else c for c in citations]

    return locate


async def _located(app: App, citation: Citation, document: Document) -> Citation:
    if document.text[citation.start : citation.end] != citation.quote:
        raise Conflict(f"{citation.title} was changed while it was being cited", hint="ask again")
    path = next((s.heading_path for s in document.sections if s.start <= citation.start < s.end), ())
    lines = await app.catalog.boxes(citation.doc_id, [(citation.start, citation.end)])
    place = {
        "page": document.page_at(citation.start),
        "section": " › ".join(path) or citation.section,
        "boxes": [[line.page, line.x0, line.y0, line.x1, line.y1] for line in lines],
    }
    return citation.model_copy(update=place)
