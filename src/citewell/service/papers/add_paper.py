"""A paper's bytes become a document of its reader's own collection. What cannot be read as a paper
is refused here, with what to do about it, before there is any session.
"""

from __future__ import annotations

import hashlib
import re
from contextlib import suppress
from dataclasses import dataclass
from html import unescape
from pathlib import Path, PurePath
from weakref import WeakValueDictionary

import anyio
import anyio.to_thread

from citewell.errors import InvalidInput, NotFound, PermanentError, TransientError, UnreadableFile
from citewell.fetch.fetcher import Fetcher
from citewell.fetch.urls import join_url
from citewell.ingest import parse
from citewell.ingest.archive.unpack import CONTAINERS
from citewell.ingest.paper.read_paper import apply_paper_sections
from citewell.ingest.web.web_file import as_file, is_readable_page
from citewell.messages import Text
from citewell.runtime.app import App
from citewell.service.library.chunking import cut_document
from citewell.service.library.collection_owner import claim_collection
from citewell.service.library.expand_paths import describe_path_error
from citewell.service.library.intake import compute_hash
from citewell.service.library.media_types import KINDS
from citewell.service.library.read_file import read_file
from citewell.service.library.uploads import get_base_name
from citewell.store.library import documents
from citewell.store.library.documents import DocumentInfo
from citewell.text.language import count_tokens
from citewell.types import Document

LOCAL = "local"  # the user of a machine that is used by one
SECONDS = 60.0  # for a paper that is fetched; `citewell add URL` has as many
# tokens: a third of a short abstract (150 words); what is shorter has no parts to read one after
# another
LEAST = 100
KNOWN = 16  # characters of the hash that stand in a document's address
# kinds of file that papers come in; all else (tables, pictures, slides, program code, mail,
# subtitles) is refused
NAMED = ("pdf", "html", "epub", "txt", "md", "rst", "docx", "odt", "rtf")
TEXTUAL = frozenset(kind for name in NAMED for kind in KINDS[name]) | {
    "application/xhtml+xml",
    "application/xml",
    "application/jats+xml",
    "text/x-tex",
    "text/x-org",
    "text/x-asciidoc",
    "text/x-wiki",
}
FORMS = Text(
    "a paper is a PDF, or a Word, OpenDocument, RTF, EPUB, HTML, JATS, LaTeX, Markdown "
    "or plain text file"
)
HEAD = 200_000  # bytes of a page in which its head ends
# how journals and preprint servers name the PDF of the paper that a page is about (Google Scholar's
# inclusion guidelines)
_META = re.compile(r"<meta\s[^>]{0,2000}>", re.IGNORECASE)
_NAMED = re.compile(r"""\bname\s*=\s*["']?citation_pdf_url["'\s/>]""", re.IGNORECASE)
_CONTENT = re.compile(r"""\bcontent\s*=\s*(?:"([^"]{1,1000})"|'([^']{1,1000})')""", re.IGNORECASE)

# so that the same bytes are not parsed twice at once
_taking: WeakValueDictionary[tuple[str, str, str], anyio.Lock] = WeakValueDictionary()


@dataclass(frozen=True, slots=True)
class Source:
    """A paper's bytes and the name of its file."""

    data: bytes
    name: str


def get_paper_collection(app: App, user_id: str) -> str:
    """Where a user's papers are kept; not by their name, which a collection may not have."""
    own = app.settings.paper.collection
    return (
        own
        if user_id == LOCAL
        else f"{own}-{hashlib.sha256(user_id.encode('utf-8', 'replace')).hexdigest()[:16]}"
    )


async def read_paper_file(app: App, path: str) -> Source:
    """Raises UnreadableFile."""
    return await anyio.to_thread.run_sync(_read_source, path, app.settings.ingest.max_bytes)


def _read_source(path: str, most: int) -> Source:
    hint = Text("name a file of this machine, or an address of the web")
    try:
        at = Path(path).expanduser()
        if at.is_dir():
            raise UnreadableFile(
                Text("{path}: it is a folder", path=path), hint=Text("name the file of one paper")
            )
        return Source(read_file(at, most).data, at.name)
    except (OSError, ValueError, RuntimeError) as error:
        # a null byte in the name, a home that is nowhere
        raise UnreadableFile(
            Text("{path}: {path_error}", path=path, path_error=describe_path_error(error)),
            hint=hint,
        ) from None


async def fetch_paper(app: App, url: str) -> Source:
    """What is at an address; of a page about a paper, its PDF. Raises as `Fetcher.page`."""
    async with Fetcher(app.settings, max_bytes=app.settings.ingest.max_bytes) as fetcher:
        page = await fetcher.page(url, seconds=SECONDS, readable=is_readable_page)
        data, name = as_file(page)
        named = _find_pdf_url(data) if PurePath(name).suffix in {".html", ".xhtml"} else ""
        return (await _fetch_pdf(fetcher, page.final_url, named) if named else None) or Source(
            data, name
        )


def _find_pdf_url(page: bytes) -> str:
    """Where a page says that the PDF of its paper is; empty where it does not."""
    for tag in _META.findall(page[:HEAD].decode("utf-8", "replace")):
        content = _CONTENT.search(tag)
        if content is not None and _NAMED.search(tag):
            return unescape(content[1] or content[2])
    return ""


async def _fetch_pdf(fetcher: Fetcher, base: str, link: str) -> Source | None:
    """None where it cannot be had: then the page itself is read."""
    try:
        page = await fetcher.page(join_url(base, link), seconds=SECONDS, readable=is_readable_page)
    except (InvalidInput, PermanentError, TransientError, UnreadableFile):
        return None
    data, name = as_file(page)
    return Source(data, name) if name.endswith(".pdf") else None


async def store_paper(app: App, source: Source, user_id: str) -> tuple[DocumentInfo, Document]:
    """The paper as a document of this user's: the one that is there already where the bytes are the
    same. Raises UnreadableFile for what is no paper, and StorageError.
    """
    name = get_base_name(source.name)
    if not source.data:
        raise UnreadableFile(
            Text("{name} is empty", name=name), hint=Text("see that it was saved or sent whole")
        )
    if PurePath(name).suffix.lower() in CONTAINERS:
        raise UnreadableFile(
            Text("{name} is no paper: it holds other files", name=name),
            hint=Text("take the paper out of it, and name that"),
        )
    collection, digest = get_paper_collection(app, user_id), await compute_hash(source.data)
    lock = _taking.setdefault((str(app.settings.database), collection, digest), anyio.Lock())
    async with lock:
        known = await _find_known_paper(app, collection, digest)
        if known is not None:
            # the last session of the same bytes is deleted at this moment: it is taken in anew
            with suppress(NotFound):
                return known, await app.catalog.content(known.doc_id)
        async with app.turns.reading(len(source.data)):
            document = await parse(source.data, name, app.settings.ingest)
        check_paper(document, name)
        document = await anyio.to_thread.run_sync(apply_paper_sections, document)
        if collection != app.settings.collection:
            await claim_collection(app, collection, user_id)
        chunks = await cut_document(app, document, collection)
        info = await app.catalog.put(
            collection, f"paper:{digest[:KNOWN]}/{name}", source.data, document, chunks
        )
    return info, document


async def _find_known_paper(app: App, collection: str, digest: str) -> DocumentInfo | None:
    """These bytes, whatever their file was called."""
    prefix = f"paper:{digest[:KNOWN]}/"
    found = await app.db.read(
        lambda connection: documents.list_documents_below(
            connection, app.embedder.name, collection, prefix
        )
    )
    return next((info for info in found if info.sha256 == digest), None)


def check_paper(document: Document, name: str) -> None:
    """Raises UnreadableFile where a document is none to be read as a paper."""
    if document.media_type not in TEXTUAL:
        raise UnreadableFile(
            Text(
                "{name} is no paper: its type is {media_type}",
                name=name,
                media_type=document.media_type,
            ),
            hint=FORMS,
        )
    blank = [
        page.number for page in document.pages if not document.text[page.start : page.end].strip()
    ]
    if len(blank) * 2 > len(document.pages):
        why = next(
            (warning for warning in document.warnings if warning.startswith("no text layer")), ""
        )
        raise UnreadableFile(
            Text(
                "{name}: {blank} of its {pages} pages have no text",
                name=name,
                blank=len(blank),
                pages=len(document.pages),
            ),
            hint=why,
        )
    if count_tokens(document.text[:10_000]) < LEAST:
        raise UnreadableFile(
            Text("{name} is no paper: it has hardly any text", name=name), hint=FORMS
        )
