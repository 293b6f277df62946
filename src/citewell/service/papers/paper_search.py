"""The search of one paper, and the passage that a reader has selected."""

from __future__ import annotations

from collections.abc import Sequence

from citewell.errors import InvalidInput, NotFound
from citewell.retrieve.query import Context, Found
from citewell.service.ask.ask_qa import DocumentSearch
from citewell.service.ask.lazy_embedding import embed_nearest, embed_question, open_labels
from citewell.service.ask.options import SearchOptions
from citewell.service.ask.run import Run
from citewell.service.ask.search import find_hits
from citewell.skills.dialogue.reference import Readings
from citewell.skills.paper.reading_context import OpenPaper, Selection
from citewell.skills.paper.selection import locate_selection
from citewell.store.index.protocol import Filter

MARKED = 200  # characters of a marked passage that the conversation shows

POOL = 40  # passages of the paper, of which each section agent is handed those of its own part


def quote_selection(selection: tuple[int, int], book: OpenPaper) -> str:
    """What was marked, as the conversation shows it."""
    words = " ".join(book.document.text[slice(*selection)].split())
    return f"“{words[:MARKED]}…”" if len(words) > MARKED else f"“{words}”"


def find_selection(
    marked: Selection | None, book: OpenPaper, *, named: bool
) -> tuple[int, int] | None:
    """Where it stands. What a question quotes may be from elsewhere; what was marked (`named`) may
    not: it raises then.
    """
    if marked is None:
        return None
    try:
        return locate_selection(marked, book)
    except (InvalidInput, NotFound):
        if named:
            raise
        return None


class PaperSearch(DocumentSearch):
    """The passages of one paper."""

    def __init__(self, run: Run, book: OpenPaper) -> None:
        super().__init__(run)
        self._where = Filter(collections=(book.collection,), doc_ids=(book.doc_id,))

    async def find_by(self, route: str, read: Readings, entities: Sequence[str]) -> Found:  # noqa: ARG002 - there is one way to search a paper
        app, where, context = self._app, self._where, None
        vector, problem = await embed_question(app.embedder, read.text)
        if vector is not None:  # what has not been embedded yet and looks near is, first
            text = f"{read.text} {read.context}"
            await embed_nearest(app, open_labels(app), text, vector, where, lambda _: False)
        if read.context:
            beside, _ = await embed_question(app.embedder, read.context)
            context = Context(read.context, beside, read.weight)
        found = await find_hits(
            app, SearchOptions(), read.text, vector, entities, where, POOL, context
        )
        warnings = (*([problem] if problem else []), *found.warnings)
        return Found(found.hits, found.confidence, warnings)
