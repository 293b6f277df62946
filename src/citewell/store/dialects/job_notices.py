"""A job that is sent on one server wakes the workers of the others, by PostgreSQL's LISTEN and
NOTIFY. In SQLite, and where a pooler stands between that hands no notices on, they look every few
seconds.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Any, Final

from sqlalchemy import URL, Connection

CHANNEL: Final = "citewell_jobs"
AGAIN: Final = 5.0  # seconds until the next try where the server cannot be reached

log = logging.getLogger(__name__)


def tell_of_job(connection: Connection) -> None:
    """Those who listen hear of it when the transaction is kept."""
    if connection.dialect.name == "postgresql":
        connection.exec_driver_sql(f"NOTIFY {CHANNEL}")


async def listen_forever(url: URL, options: dict[str, Any], wake: Callable[[], None]) -> None:
    """`wake` is called at each job; and after a time without a connection, for what came then."""
    import psycopg  # heavy: only a worker on PostgreSQL needs it

    address = url.set(drivername="postgresql").render_as_string(hide_password=False)
    while True:
        try:
            async with await psycopg.AsyncConnection.connect(
                address, autocommit=True, **options
            ) as connection:
                await connection.execute(f"LISTEN {CHANNEL}")
                wake()
                async for _ in connection.notifies():
                    wake()
        except (psycopg.Error, OSError) as error:
            log.info("jobs of other servers are looked for every few seconds: %s", type(error))
        await asyncio.sleep(AGAIN)
