"""The files of confirmed answers below the home, one an item in use (spec 004, section 4.2).

The one rule: a home that is only a cache has none. The same document is in the index and, whole, in
the database; a copy on one of many machines would be out of date, and outlive who is forgotten.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import anyio.to_thread

from citewell.config import Settings
from citewell.store.confirmed.item_files import (
    get_item_path,
    has_same_content,
    remove_file,
    write_file,
)
from citewell.store.confirmed.items import PATH


class ItemFolder:
    """Every method raises InvalidInput for an id that is none of ours, and StorageError."""

    def __init__(self, settings: Settings) -> None:
        self._home, self._kept = settings.home, not settings.home_is_cache

    async def write(self, trace_id: str, words: str) -> None:
        path = get_item_path(self._home, trace_id)
        if self._kept:
            await anyio.to_thread.run_sync(write_file, path, words)

    async def remove(self, trace_id: str) -> None:
        await anyio.to_thread.run_sync(remove_file, get_item_path(self._home, trace_id))

    async def has(self, trace_id: str, words: str | None = None) -> bool:
        """Whether the file is as it should be: there, with these words where they are given."""
        path = get_item_path(self._home, trace_id)
        if not self._kept:
            return True
        if words is None:
            return await anyio.Path(path).is_file()
        return await anyio.to_thread.run_sync(has_same_content, path, words.encode())

    async def list_orphans(self, wanted: Iterable[str]) -> list[Path]:
        """Files of no item of these traces."""
        there = await self.list_files()
        named = {get_item_path(self._home, trace_id) for trace_id in wanted if self._kept}
        return [path for path in there if path not in named]

    async def list_files(self) -> list[Path]:
        folder = self._home / Path(PATH).parent
        return await anyio.to_thread.run_sync(lambda: sorted(folder.glob("*.md")))
