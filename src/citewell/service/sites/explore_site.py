"""One site for the `website` agent: its pages, searched, and which of them answered before."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from citewell.errors import CitewellError, StorageError
from citewell.messages import Text
from citewell.retrieve.confidence import compute_confidence
from citewell.retrieve.frontier import is_signpost
from citewell.retrieve.query import Context, Found
from citewell.service.ask.lazy_embedding import embed_nearest, embed_question
from citewell.service.ask.search import find_hits
from citewell.service.sites.site_pages import SitePages
from citewell.skills.dialogue.reference import Readings
from citewell.store.index.protocol import Filter

log = logging.getLogger(__name__)

HITS = 8  # passages handed to the agent
POOL = 30  # of which those that only lead elsewhere are left out
# cosine of two questions from which a page that answered the one is looked at for the other
SAME = 0.93
MEANING_SECONDS = 4.0  # with less left, passages that wait are searched by their words


class Website(SitePages):
    """A `Site` of the agent."""

    async def search(self, read: Readings, entities: Sequence[str]) -> Found:
        docs = [page.doc_id for page in self.pages.values()]
        if not docs:
            return Found([], 0.0)
        where = Filter(collections=(self._collection,), doc_ids=tuple(docs))
        both, (vector, problem), context = (
            f"{read.text} {read.context}",
            await embed_question(self._app.embedder, read.text),
            None,
        )
        warnings = [problem] if problem else []
        signs = frozenset().union(*self._signs.values())
        left = self._run.seconds_left
        if vector is not None and (left is None or left > MEANING_SECONDS):
            try:
                await embed_nearest(
                    self._app,
                    self._labels,
                    both,
                    vector,
                    where,
                    lambda text: is_signpost(text, signs, both),
                )
            except StorageError:
                raise
            except CitewellError as error:
                warnings.append(Text("searched by words only: {message}", message=error.message))
        if read.context:
            context = Context(
                read.context,
                (await embed_question(self._app.embedder, read.context))[0],
                read.weight,
            )
        found = await find_hits(
            self._app, self._run.options, read.text, vector, entities, where, POOL, context
        )
        hits = [
            hit
            for hit in found.hits
            if not is_signpost(hit.text, self._signs.get(hit.doc_id, frozenset()), both)
        ][:HITS]
        return Found(
            hits,
            compute_confidence(read.text, hits, self._app.calibration.retrieval),
            (*found.warnings, *warnings),
        )

    async def compare_labels(self, question: str, labels: Sequence[str]) -> dict[str, float]:
        vector, _ = await embed_question(self._app.embedder, question)
        try:
            return {} if vector is None else await self._labels.cosines(vector, labels)
        except CitewellError as error:
            log.warning("links are weighed by their words only: %s", error.message)
            return {}

    async def recall_answers(self, question: str) -> dict[str, float]:
        vector, _ = await embed_question(self._app.embedder, question)
        if vector is None:
            return {}
        alike: dict[str, float] = {}
        for find_ in await self._app.sites.finds(self._collection, self._app.embedder.name):
            if self._run.again is not None and find_.at > self._run.again.at:
                continue
            cosine = float(find_.vector @ vector)
            if cosine >= SAME:
                alike[find_.uri] = max(alike.get(find_.uri, 0.0), (cosine - SAME) / (1 - SAME))
        return alike

    async def note_answer(self, question: str, doc_ids: Sequence[str]) -> None:
        vector, _ = await embed_question(self._app.embedder, question)
        if vector is None or not self._run.request.keep:
            return
        for page in [page for page in self.pages.values() if page.doc_id in doc_ids]:
            await self._app.sites.note_find(
                self._collection, page.uri, question, vector, self._app.embedder.name
            )
