"""Items that their place has no more: marked, and removed after a while. What another place of the
same collection still has is not gone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from citewell.runtime.app import App
from citewell.store.library.documents import DocumentInfo
from citewell.store.syncs.sync_rows import SeenItem, Sync

DAY = 86_400.0


class GoneItems:
    """Of one run, which began at `now`. `marked` and `removed`: the addresses."""

    def __init__(self, app: App, sync: Sync, now: float) -> None:
        self.marked: list[str] = []
        self.removed: list[str] = []
        self._app, self._sync, self._now = app, sync, now

    async def mark(self, uris: Sequence[str], known: Mapping[str, SeenItem]) -> None:
        """Their documents are kept, and found by nobody who does not name them. One that could
        never be read leaves nothing.
        """
        there = [known[uri] for uri in uris if uri in known and known[uri].gone_at is None]
        if never := [item.uri for item in there if not item.seen_at]:
            await self._app.syncs.forget_items(self._sync.sync_id, never)
        new = [item for item in there if item.seen_at]
        documents = [item.document for item in new]
        elsewhere = await self._app.syncs.list_elsewhere(self._sync, documents) if new else set()
        doc_ids = [
            info.doc_id
            for item in new
            if item.document not in elsewhere
            for info in await self._find_documents(item.document)
        ]
        if doc_ids:
            await self._app.catalog.set_gone(doc_ids, self._now)
        if new:
            uris = [item.uri for item in new]
            await self._app.syncs.mark_gone(self._sync.sync_id, uris, self._now)
            self.marked += uris

    async def remove_old(self, known: Mapping[str, SeenItem]) -> None:
        """Those that were gone for as long as the settings say, and are still."""
        before = self._now - self._app.settings.sync.gone_days * DAY
        now = await self._app.syncs.items(self._sync.sync_id)
        old = [
            item
            for uri, item in now.items()
            if item.gone_at is not None and item.gone_at <= before and uri in known
        ]
        for item in old:
            infos = await self._find_documents(item.document)
            if ids := [info.doc_id for info in infos if info.gone_since is not None]:
                await self._app.catalog.delete(*ids)
            self.removed.append(item.uri)
        if old:
            await self._app.syncs.forget_items(self._sync.sync_id, self.removed)

    async def _find_documents(self, uri: str) -> list[DocumentInfo]:
        """The item itself, and what came out of it."""
        catalog, collection = self._app.catalog, self._sync.collection
        own = await catalog.find(collection, uri)
        return ([own] if own else []) + await catalog.members(collection, uri)
