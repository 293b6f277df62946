"""Embedding, beside the reading. The embedder never waits for a commit, and what is committed is
not done again.

Several embeddings of one process (the jobs of a server) take turns, `REQUEST` passages at a time.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from contextlib import suppress

import anyio
from anyio.abc import TaskGroup

from citewell.errors import CitewellError, Conflict, StorageError
from citewell.models.builtin.lanes import use_background_priority
from citewell.runtime.app import App
from citewell.runtime.progress import OnProgress, Progress, Rate, ignore_progress

# passages of one call, committed together: a killed run has to do REQUESTS times so many again at
# most
REQUEST = 32
# seconds between two looks at chunks that another embedding of this process has in hand
PATIENCE = 0.5


class Embedding:
    """Embeds what waits, until `close` was called and nothing is left.

    `docs`: only these documents, more by `announce_document`; None: every chunk that waits.
    `expected`: passages that unread files will bring. `problem`: what stopped `run_beside`.
    """

    def __init__(
        self,
        app: App,
        on_progress: OnProgress | None = None,
        docs: Iterable[str] | None = None,
        *,
        newest: bool = False,
    ) -> None:
        self._newest = newest
        self._app = app
        self._tell = on_progress or ignore_progress
        self._docs = None if docs is None else set(docs)
        self._closed = False
        self._news = asyncio.Event()
        self._rate = Rate()
        self._own = 0  # requests on the way
        self.done = 0
        self.expected = 0.0
        self.problem = ""

    def announce_document(self, doc_id: str = "") -> None:
        """A document was committed."""
        if self._docs is not None and doc_id:
            self._docs.add(doc_id)
        self._news.set()

    def close(self) -> None:
        """No document will come any more."""
        self._closed = True
        self._news.set()

    async def run(self) -> int:
        """How many passages were embedded, equal texts once. Raises errors of the embedder."""
        try:
            async with anyio.create_task_group() as group:
                while await self._start_next_batch(group):
                    pass
        except ExceptionGroup as errors:
            known, _ = errors.split(CitewellError)
            raise (known or errors).exceptions[0] from None
        if self.done:
            await self._report_progress()
        return self.done

    async def run_beside(self) -> None:
        """What the embedder refuses stops no reading, but is the `problem`: words are found."""
        try:
            await self.run()
        except (Conflict, StorageError):
            raise
        except CitewellError as error:
            self.problem = error.explanation

    async def _start_next_batch(self, group: TaskGroup) -> bool:
        """Start the next request, or wait for work; False when there is none and none will come."""
        closed, turns = self._closed, self._app.turns
        self._news.clear()
        if self._docs is not None and not await self._count_waiting():
            # whoever brought nothing, or nothing that could be read, waits for nobody's turn
            if closed and not self._own:
                return False
            await self._news.wait()
            return True
        await turns.embed.acquire()
        batch: list[tuple[int, str]] = []
        try:
            batch = await self._take_batch()
        finally:
            if not batch:
                turns.embed.release()
        if batch:
            self._own += 1
            group.start_soon(self._embed_batch, batch)
            return True
        idle = closed and not self._own
        if idle and not await self._count_waiting():
            return False
        if idle:  # another embedding of this process has our chunks in hand
            await self._report_progress()
        with suppress(TimeoutError):
            async with asyncio.timeout(PATIENCE if idle else None):
                await self._news.wait()
        return True

    async def _take_batch(self) -> list[tuple[int, str]]:
        """Chunks that wait and that nobody here has in hand; they are then ours."""
        in_hand = self._app.turns.in_hand
        docs = None if self._docs is None else sorted(self._docs)
        # one that is committed while we look is still in what we see, and no longer in hand
        before = set(in_hand)
        limit = REQUEST + len(before)
        waiting = await self._app.pending_chunks.list_unembedded(
            self._app.embedder.name, limit, docs, newest=self._newest
        )
        taken, texts = before | set(in_hand), set(in_hand.values())
        batch = [
            (chunk, text) for chunk, text in waiting if chunk not in taken and text not in texts
        ][:REQUEST]
        in_hand.update(batch)
        return batch

    async def _embed_batch(self, batch: list[tuple[int, str]]) -> None:
        pending, embedder, turns = self._app.pending_chunks, self._app.embedder, self._app.turns
        try:
            await self._report_progress()
            with use_background_priority():
                vectors = await embedder.passages([text for _, text in batch])
            await pending.put_vectors(embedder.name, [chunk for chunk, _ in batch], vectors)
            self.done += len(batch)
        finally:
            turns.embed.release()
            for chunk, _ in batch:
                del turns.in_hand[chunk]
            self._own -= 1
            self._news.set()

    async def _count_waiting(self) -> int:
        docs = None if self._docs is None else sorted(self._docs)
        return await self._app.pending_chunks.count_unembedded(docs)

    async def _report_progress(self) -> None:
        waiting, rate = await self._count_waiting(), self._rate.update_rate(self.done)
        left = (waiting + self.expected) / rate if rate else None
        await self._tell(Progress("embed", self.done, self.done + waiting, rate=rate, left=left))


async def embed_pending(
    app: App, on_progress: OnProgress | None = None, *, newest: bool = False
) -> int:
    """Embed every chunk without a vector, whoever left it; how many. Raises ModelUnavailable."""
    embedding = Embedding(app, on_progress, newest=newest)
    embedding.close()
    return await embedding.run()
