"""A pool of connections to PostgreSQL on which nobody waits for ever.

The one rule: a network that loses everything is noticed by the kernel half a minute after something
was sent (`CONNECT`, in `database_url.py`). Where something between takes what is sent and never
answers, a frozen server or a proxy, only our own clock can tell: a statement gets a little more
time than the server itself gives it, and an idle connection a few seconds to show that it is alive.
Then it is closed.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import URL, Engine, create_engine, event
from sqlalchemy.pool import QueuePool

from citewell.store.dialects.database_url import CONNECT
from citewell.store.dialects.nul_characters import replace_nul_characters

if TYPE_CHECKING:
    import psycopg
    from psycopg.abc import RV, PQGen

IDLE_SECONDS: Final = 5.0  # for an answer of a connection that has stood idle
LONGER: Final = 10.0  # seconds beyond those that the server gives a statement, or waits for a lock


@cache
def define_connection() -> type[psycopg.Connection[Any]]:
    import psycopg  # heavy: not for SQLite
    from psycopg.pq import TransactionStatus

    class BoundedConnection(psycopg.Connection[Any]):
        """`patience`: seconds for an answer within a transaction; None: any number. Outside of one
        nothing is asked but whether the connection is alive.
        """

        patience: float | None = IDLE_SECONDS

        def wait(self, gen: PQGen[RV], interval: float = 0.1, timeout: float | None = None) -> RV:
            """Raises OperationalError, and closes the connection, where no answer comes."""
            most = timeout or (IDLE_SECONDS if self.autocommit else self.patience)
            try:
                return super().wait(gen, interval, most)
            except psycopg.OperationalError as error:
                if self.pgconn.transaction_status != TransactionStatus.ACTIVE:
                    raise
                self.pgconn.finish()
                raise psycopg.OperationalError(f"no answer within {most:.0f} seconds") from error

    return BoundedConnection


def make_engine(url: URL, seconds: float, **options: Any) -> Engine:
    """`seconds`: that the server gives a statement. `options`: those of `create_engine`."""

    def connect(_: Any, __: Any, args: Any, named: dict[str, Any]) -> Any:
        connection: Any = define_connection().connect(*args, **named)
        connection.patience = seconds + LONGER
        return connection

    engine = create_engine(
        url,
        poolclass=QueuePool,
        max_overflow=0,
        pool_pre_ping=True,
        connect_args={
            **{name: value for name, value in CONNECT.items() if name not in url.query},
            "prepare_threshold": None,
        },
        **options,
    )
    event.listen(engine, "do_connect", connect)
    event.listen(engine, "connect", replace_nul_characters)
    return engine
