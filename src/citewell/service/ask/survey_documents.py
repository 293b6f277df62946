"""What an overview is made of: the sections of the documents that a question means, and what the
documents were found to answer. A question means the documents whose titles or file names it
names most of, for a comparison those that it means in any words; where it names none, all that it
is asked of.
"""

from __future__ import annotations

from collections import Counter
from pathlib import PurePosixPath

from citewell.retrieve.query import Found
from citewell.runtime.app import App
from citewell.service.ask.run import Run
from citewell.service.library.offered_questions import list_suggestions
from citewell.skills.dialogue.meant_titles import find_meant_titles
from citewell.store.library.documents import DocumentInfo
from citewell.text.language import count_tokens
from citewell.text.tokens import tokenize_query
from citewell.types import Hit

MOST_DOCUMENTS = 8  # of which an overview is given
MOST_LISTED = 500  # documents of a collection whose titles are looked at, the newest
# documents whose titles are embedded to find those that are compared, the newest: 1 s at load 7
MOST_COMPARED = 100
LEAST_COMPARED = 2
BUDGET = 6_000  # tokens of all sections together
OFFERED = 4


class Surveyor:
    """Implements the `qa` agent's `Survey`."""

    def __init__(self, run: Run) -> None:
        self._run = run

    async def survey(self, question: str) -> Found:
        """Raises StorageError."""
        documents = await self._list_documents()
        named = _find_named(question, documents)
        return await self._load(named or documents[:MOST_DOCUMENTS])

    async def survey_named_documents(self, question: str) -> Found:
        """The same of documents that the question means, else nothing. Raises ModelUnavailable."""
        documents = await self._list_documents()
        meant = await self._find_meant(question, documents[:MOST_COMPARED])
        if len(meant) < LEAST_COMPARED:
            meant = _find_named(question, documents)
        if len(meant) < LEAST_COMPARED:
            meant = _find_by_unique_word(question, documents)
        return await self._load(meant if len(meant) >= LEAST_COMPARED else [])

    async def list_offered_questions(self, lang: str) -> tuple[list[str], list[str]]:
        """The titles of documents, and questions that they were found to answer."""
        documents = sorted(await self._list_documents(), key=lambda info: info.lang != lang)
        found = [
            each.question
            for collection in dict.fromkeys(info.collection for info in documents)
            for each in await list_suggestions(self._run.app, collection, limit=OFFERED, lang=lang)
        ]
        return [info.title for info in documents[:MOST_DOCUMENTS]], found[:OFFERED]

    async def _load(self, chosen: list[DocumentInfo]) -> Found:
        app = self._run.app
        hits = [
            hit for info in chosen for hit in await load_sections(app, info, BUDGET // len(chosen))
        ]
        return Found(hits, 1.0 if hits else 0.0)

    async def _find_meant(self, question: str, documents: list[DocumentInfo]) -> list[DocumentInfo]:
        """By meaning, whatever language their titles are in."""
        embedder, titles = self._run.app.embedder, [info.title for info in documents]
        if not titles:
            return []
        asked, vectors = await embedder.query(question), await embedder.passages(titles)
        found = find_meant_titles(question, asked, titles, vectors, embedder.name)
        return [documents[n] for n in found] if len(found) <= MOST_DOCUMENTS else []

    async def _list_documents(self) -> list[DocumentInfo]:
        """Those asked, the newest first; one gone from its place only where it is named."""
        where = self._run.where
        found = [
            info
            for collection in where.collections
            for info in await self._run.app.catalog.documents(collection)
            if (info.doc_id in where.doc_ids if where.doc_ids else info.gone_since is None)
            and (not where.langs or info.lang in where.langs)
            and (not where.media_types or info.media_type in where.media_types)
        ]
        return sorted(found, key=lambda info: -info.added_at)[:MOST_LISTED]


async def load_sections(app: App, info: DocumentInfo, budget: int = BUDGET) -> list[Hit]:
    """The sections of a document, as many as have `budget` tokens; one at least. Raises
    StorageError, NotFound.
    """
    document, left, hits = await app.catalog.content(info.doc_id), budget, list[Hit]()
    for n, section in enumerate(document.sections):
        text = document.text[section.start : section.end]
        left -= count_tokens(text)
        if left < 0 and hits:
            break
        if text.strip():
            hits.append(
                Hit(
                    -n - 1,
                    info.doc_id,
                    info.collection,
                    info.title,
                    info.uri,
                    section.heading_path,
                    None,
                    section.start,
                    section.end,
                    text,
                    info.lang,
                    section=n,
                    media_type=info.media_type,
                )
            )
    return hits


def _find_named(question: str, documents: list[DocumentInfo]) -> list[DocumentInfo]:
    """Those whose titles or file names the question names most of."""
    asked = set(tokenize_query(question))
    shared = [len(asked & _get_name_words(info)) for info in documents]
    most = max(shared, default=0)
    named = [info for info, n in zip(documents, shared, strict=True) if n and n == most]
    return named if len(named) <= MOST_DOCUMENTS else []


def _get_name_words(info: DocumentInfo) -> set[str]:
    """Of the title and the file's name: the first heading may be the firm's name."""
    return set(tokenize_query(f"{info.title} {PurePosixPath(info.uri).stem}"))


def _find_by_unique_word(question: str, documents: list[DocumentInfo]) -> list[DocumentInfo]:
    """Those of whose titles the question has a word that no other title has."""
    asked = set(tokenize_query(question))
    titles = [asked & _get_name_words(info) for info in documents]
    often = Counter(word for title in titles for word in title)
    found = [
        info
        for info, title in zip(documents, titles, strict=True)
        if any(often[word] == 1 for word in title)
    ]
    return found if len(found) <= MOST_DOCUMENTS else []
