"""A job that is sent on one server wakes the workers of the others, by PostgreSQL's LISTEN and
NOTIFY. In SQLite, and where a pooler stands between that hands no notices on, they look every few
seconds.

The one rule: nobody listens through a pooler: the connection that would listen is the next one's.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import URL, Connection

if TYPE_CHECKING:
    import psycopg

CHANNEL: Final = "citewell_jobs"
AGAIN: Final = 5.0  # seconds until the next try where the server cannot be reached
QUIET: Final = 15.0  # seconds without a notice after which it is asked whether it is still there
ANSWER: Final = 5.0  # seconds that it has to say so

log = logging.getLogger(__name__)


def notify_of_job(connection: Connection) -> None:
    """Those who listen hear of it when the transaction is kept."""
    if connection.dialect.name == "postgresql":
        connection.exec_driver_sql(f"NOTIFY {CHANNEL}")


async def listen_forever(url: URL, options: dict[str, Any], wake: Callable[[], None]) -> None:
    """`wake` is called at each job; and after a time without a connection, for what came then.
    Returns where a pooler stands between.
    """
    import psycopg  # heavy: only a worker on PostgreSQL needs it

    address = url.set(drivername="postgresql").render_as_string(hide_password=False)
    while True:
        try:
            async with await psycopg.AsyncConnection.connect(
                address, autocommit=True, **options
            ) as connection:
                if await _is_pooled(connection):
                    log.info("a pooler stands before the database: jobs are looked for")
                    return
                await connection.execute(f"LISTEN {CHANNEL}")
                wake()
                while True:
                    async for _ in connection.notifies(timeout=QUIET):
                        wake()
                    async with asyncio.timeout(ANSWER):
                        await connection.execute("SELECT 1")
        except (psycopg.Error, OSError) as error:
            log.info("jobs of other servers are looked for every few seconds: %s", type(error))
        await asyncio.sleep(AGAIN)


async def _is_pooled(connection: psycopg.AsyncConnection[Any]) -> bool:
    """Whether who took the connection is not the process of the server that answers."""
    answering = await (await connection.execute("SELECT pg_backend_pid()")).fetchone()
    return answering is None or int(answering[0]) != connection.info.backend_pid
