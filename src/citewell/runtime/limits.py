"""Who may embed and who may read next, in one process. First come, first served, a few passages at
a time, so that no upload waits for all of another.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

REQUESTS = 3  # calls to the embedder at once: while one is committed, the others keep it busy
# of files held in memory at once, each with what its parser makes of it; a larger file is read
# alone
BYTES = 64_000_000


class Turns:
    """`in_hand`: chunks being embedded and their texts, so that none is done twice."""

    def __init__(self, requests: int = REQUESTS, most_bytes: int = BYTES) -> None:
        self.embed = asyncio.Semaphore(requests)  # wakes its waiters in their order
        self.in_hand: dict[int, str] = {}
        self._most = self._free = most_bytes
        self._queue = asyncio.Lock()
        self._freed = asyncio.Event()

    @asynccontextmanager
    async def reading(self, size: int) -> AsyncIterator[None]:
        """Room for a file of `size` bytes, as long as the block lasts."""
        size = min(size, self._most)
        # the first in the queue waits for room, the others for it: a large file is not passed for
        # ever
        async with self._queue:
            while self._free < size:
                self._freed.clear()
                await self._freed.wait()
            self._free -= size
        try:
            yield
        finally:
            self._free += size
            self._freed.set()
