"""A writer that has done its work and does not commit, while another one comes.

The one rule: what the second does is begun before the first is committed, and whether it waits or
not is the database's affair: what comes of both is as if one had come after the other.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable
from typing import Any

from sqlalchemy import Connection

from citewell.store.db import Database

MEANWHILE = 0.25  # seconds in which the second comes as far as it can


async def run_during(
    db: Database, first: Callable[[], Awaitable[Any]], second: Callable[[], Awaitable[Any]]
) -> list[Any]:
    """What both gave, or raised. `first` uses `db`, whose next transaction that writes is kept open
    until `second`, on another Database, has had its time.
    """
    worked, go = threading.Event(), threading.Event()
    write = db._write

    async def write_slowly(mode: Any, fn: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        def stop(connection: Connection, *args: Any, **kwargs: Any) -> Any:
            done = fn(connection, *args, **kwargs)
            worked.set()
            assert go.wait(20)
            return done

        return await write(mode, stop, *args, **kwargs)

    db._write = write_slowly  # type: ignore[method-assign]
    try:
        one = asyncio.ensure_future(first())
        assert await asyncio.to_thread(worked.wait, 20), "the first came to no end"
        two = asyncio.ensure_future(second())
        await asyncio.sleep(MEANWHILE)
        go.set()
        return [*await asyncio.gather(one, two, return_exceptions=True)]
    finally:
        go.set()
        db._write = write  # type: ignore[method-assign]
