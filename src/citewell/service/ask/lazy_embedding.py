"""Meaning where there is no time to embed everything: only what a question may need, the rest stays
searchable by its words. What is embedded here is kept like any other vector, so that no passage is
embedded twice.
"""

from __future__ import annotations

import asyncio
import re
from collections import OrderedDict
from collections.abc import Callable, Sequence
from itertools import islice

import numpy as np

from citewell.errors import CitewellError
from citewell.messages import Text
from citewell.models.base import Embedder, Vector
from citewell.retrieve.rank import stretch_cosines
from citewell.runtime.app import App
from citewell.store.index.protocol import Filter

PASSAGES = 16  # embedded for one search, 0.03 s each
HEADINGS = 60  # whose meaning is looked at to choose those, 0.005 s each
NAMED = 300  # passages looked at for the question's words
MOST_WAITING = 4_000  # passages to choose from
MOST_LABELS = 20_000  # short texts whose vectors are kept in memory: 31 MB
_BODY = re.compile(r"\n.*", re.DOTALL)


class Labels:
    """Vectors of short texts (link words, headings), the latest used, for the process's life."""

    def __init__(self, embedder: Embedder, most: int = MOST_LABELS) -> None:
        # whoever chooses passages sees those of the one before embedded
        self.choosing = asyncio.Lock()
        self._embedder = embedder
        self._most = most
        self._kept: OrderedDict[str, Vector] = OrderedDict()

    async def cosines(self, question: Vector, labels: Sequence[str]) -> dict[str, float]:
        """Of each label to the question. Raises what the embedder raises."""
        wanted = [label for label in dict.fromkeys(labels) if label.strip()]
        # others may push them out meanwhile
        found = {label: self._kept[label] for label in wanted if label in self._kept}
        new = [label for label in wanted if label not in found]
        if new:
            found |= dict(zip(new, await self._embedder.passages(new), strict=True))
        for label, row in found.items():
            self._kept[label] = row
            self._kept.move_to_end(label)
        while len(self._kept) > self._most:
            self._kept.popitem(last=False)
        return {label: float(row @ question) for label, row in found.items()}


def open_labels(app: App) -> Labels:
    """Vectors of the words of links and headings, one for all of an App."""
    return app.part(_build_labels)


def _build_labels(app: App) -> Labels:
    return Labels(app.embedder)


async def embed_nearest(
    app: App,
    labels: Labels,
    text: str,
    vector: Vector,
    where: Filter,
    passed_over: Callable[[str], bool],
) -> int:
    """Embed the passages of `where`'s documents that wait and are nearest to the question, by their
    words and by the meaning of their headings; how many. `passed_over`: texts that nobody is to be
    shown. Raises what the embedder and the store raise.
    """
    async with labels.choosing:
        return await _embed_nearest(app, labels, text, vector, where, passed_over)


async def _embed_nearest(
    app: App,
    labels: Labels,
    text: str,
    vector: Vector,
    where: Filter,
    passed_over: Callable[[str], bool],
) -> int:
    waiting = dict(
        await app.pending_chunks.list_unembedded(app.embedder.name, MOST_WAITING, where.doc_ids)
    )
    for chunk in app.turns.in_hand:
        waiting.pop(chunk, None)
    if not waiting:
        return 0
    ranked = await app.index.search_words(text, NAMED, where)
    best = max((score for _, score in ranked), default=1.0) or 1.0
    scores = {chunk: score / best for chunk, score in ranked if chunk in waiting}
    if len(waiting) > PASSAGES:
        heads = {chunk: _extract_heading(waiting[chunk]) for chunk in (*scores, *waiting)}
        near = await labels.cosines(vector, list(dict.fromkeys(heads.values()))[:HEADINGS])
        wide = stretch_cosines(
            np.asarray([near.get(head, 0.0) for head in heads.values()], dtype=np.float32)
        )
        scores = {
            chunk: scores.get(chunk, 0.0) + float(more)
            for chunk, more in zip(heads, wide, strict=True)
        }
    order = sorted(waiting, key=lambda chunk: -scores.get(chunk, 0.0))
    batch = list(
        islice(
            ((chunk, waiting[chunk]) for chunk in order if not passed_over(waiting[chunk])),
            PASSAGES,
        )
    )
    app.turns.in_hand.update(batch)
    try:
        # a question waits for it: in no turn with uploads
        rows = await app.embedder.passages([body for _, body in batch])
        await app.pending_chunks.put_vectors(app.embedder.name, [chunk for chunk, _ in batch], rows)
    finally:
        for chunk, _ in batch:
            app.turns.in_hand.pop(chunk, None)
    return len(batch)


def _extract_heading(body: str) -> str:
    """The last of the headings above a passage, or how it begins."""
    return _BODY.sub("", body).rpartition(" > ")[2][:120]


async def embed_question(embedder: Embedder, text: str) -> tuple[Vector | None, str]:
    """Of a question; None and why where the embedder fails: words alone still find."""
    try:
        return await embedder.query(text), ""
    except CitewellError as error:
        return None, Text("searched by words only: {message}", message=error.message)
