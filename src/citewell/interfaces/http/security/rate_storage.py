"""Where `limits` counts for several servers on one PostgreSQL: what its sliding window asks for."""

from __future__ import annotations

from limits.aio.storage import MemoryStorage

from citewell.store.db import Database
from citewell.store.dialects.rate_counts import count_hit, forget_hits, read_window


class DatabaseStorage(MemoryStorage):
    """Raises StorageError where the database cannot be reached: nobody is let in uncounted."""

    def __init__(self, db: Database) -> None:
        super().__init__()
        self._db = db

    async def acquire_sliding_window_entry(
        self, key: str, limit: int, expiry: int, amount: int = 1
    ) -> bool:
        return await self._db.write_briefly(count_hit, key, limit, expiry, amount)

    async def get_sliding_window(self, key: str, expiry: int) -> tuple[int, float, int, float]:
        before, left, hits = await self._db.read(read_window, key, expiry)
        return before, left, hits, left + expiry

    async def clear_sliding_window(self, key: str, expiry: int) -> None:  # noqa: ARG002 - its own
        await self._db.write_briefly(forget_hits, key)
