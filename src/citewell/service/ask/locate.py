"""Where a quote stands on its page. It is compared with the stored text before it is shown."""

from __future__ import annotations

import hashlib
from urllib.parse import quote

from citewell.errors import Conflict, InvalidInput
from citewell.messages import Text
from citewell.runtime.app import App
from citewell.skills.evidence.confirmed_evidence import RULE
from citewell.store.library.collection_rows import is_confirmed_collection
from citewell.store.library.containers import list_enclosing_addresses
from citewell.types import Citation, Document, Section, Shown

LONGEST = 20_000  # characters of a span that is asked for


async def locate_citations(app: App, citations: list[Citation]) -> list[Citation]:
    """Those of documents with page and section at the quote's own first character, and where its
    lines stand; those of memories and reviewed corrections as they are. Raises Conflict where a
    document was changed meanwhile.
    """
    ids = {c.doc_id for c in citations if c.origin != "memory" and not c.uri.startswith(RULE)}
    documents = {doc_id: await app.catalog.content(doc_id) for doc_id in ids}
    return [
        await _locate_citation(app, c, documents[c.doc_id]) if c.doc_id in documents else c
        for c in citations
    ]


class Span(Shown):
    """Words of a document as a citation has them. `changed`: other words stand there than when it
    was cited; then the citation is of the document only, and of the page that was named.
    """

    citation: Citation
    changed: bool = False


def hash_words(quoted: str) -> str:
    """A short sign of the words of a quote, for addresses that must not hold them."""
    return hashlib.sha256(quoted.encode("utf-8", "replace")).hexdigest()[:12]


async def find_span(
    app: App, doc_id: str, start: int, end: int, *, words: str = "", page: int | None = None
) -> Span:
    """The text from `start` to `end`, with page, section and boxes. `words`: what `hash_words` gave
    of it when it was cited. Raises NotFound; InvalidInput where the document has no such span, and
    no words are named that it might have had.
    """
    info, document = await app.catalog.document(doc_id), await app.catalog.content(doc_id)
    if not 0 <= start < end or end - start > LONGEST:
        raise InvalidInput(
            Text("start and end do not name a span"),
            hint=Text("both as a citation has them, up to {longest:,} characters", longest=LONGEST),
        )
    quoted = document.text[start:end]
    if not words and end > len(document.text):
        raise InvalidInput(
            Text("{title} ends at {text}", title=info.title, text=len(document.text)),
            hint=Text("start and end count its characters, from 0"),
        )
    confirmed = is_confirmed_collection(info.collection)
    of = Citation(
        n=1,
        origin="confirmed" if confirmed else "document",
        doc_id=doc_id,
        title=info.title,
        uri=info.uri,
        quote="",
        start=0,
        end=0,
    )
    if words and words != hash_words(quoted):
        there = page if page is not None and 1 <= page <= info.pages else None
        return Span(
            citation=(await _add_origin(app, of)).model_copy(update={"page": there}), changed=True
        )
    return Span(
        citation=await _locate_citation(
            app, of.model_copy(update={"quote": quoted, "start": start, "end": end}), document
        )
    )


async def _locate_citation(app: App, citation: Citation, document: Document) -> Citation:
    if document.text[citation.start : citation.end] != citation.quote:
        raise Conflict(
            Text("{title} was changed while it was being cited", title=citation.title),
            hint=Text("ask again"),
        )
    citation = await _add_origin(app, citation)
    section = next((s for s in document.sections if s.start <= citation.start < s.end), None)
    lines = await app.catalog.boxes(citation.doc_id, [(citation.start, citation.end)])
    place = {
        "page": document.find_page_at(citation.start),
        "section": citation.section
        if citation.origin == "confirmed"
        else _format_section(section) or citation.section,
        "uri": _build_section_url(citation, section),
        "boxes": [[line.page, line.x0, line.y0, line.x1, line.y1] for line in lines],
    }
    return citation.model_copy(update=place)


async def _add_origin(app: App, citation: Citation) -> Citation:
    """A page of the web says so, and when it was fetched, whichever agent cites it; a document that
    is kept in step with a place, as of when.
    """
    if citation.origin != "document":
        return citation
    info = await app.catalog.document(citation.doc_id)
    as_of = await app.syncs.get_as_of(info.collection, list_enclosing_addresses(info.uri))
    citation = citation.model_copy(update={"as_of": as_of})
    if not citation.uri.startswith(("http://", "https://")):
        return citation
    page = await app.snapshots.get(info.collection, citation.uri)
    return (
        citation
        if page is None
        else citation.model_copy(update={"origin": "web", "fetched_at": page.fetched_at})
    )


def _format_section(section: Section | None) -> str:
    return " › ".join(section.heading_path if section else ())


def _build_section_url(citation: Citation, section: Section | None) -> str:
    """Of a page of the web the address of the section, where it has one."""
    anchor = section.anchor if section is not None and citation.origin == "web" else ""
    return f"{citation.uri.partition('#')[0]}#{quote(anchor)}" if anchor else citation.uri
