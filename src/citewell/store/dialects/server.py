"""What `Database` asks of what holds the tables.

The one rule: every method blocks, is called in a thread, and raises StorageError, which names
`name`; no password is ever in it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Concatenate, Final, Literal, ParamSpec, Protocol, TypeVar

from sqlalchemy import Connection

from citewell.store.migrations.revisions import State

P = ParamSpec("P")
T = TypeVar("T")

# a transaction reads; writes beside others that write, or while no other does; or is one statement
# on rows that have nothing to do with any others, which waits for none of these
Mode = Literal["read", "beside", "alone", "brief"]
AFTER: Final = "citewell_after"  # in `info` of a connection that writes: calls for when it is kept
HOME: Final = "citewell_home"  # the execution option of every connection: the folder of the home


@dataclass(frozen=True, slots=True)
class Schema:
    """`revision`: the last of its schema, "" where it has none; `known`: the last that this
    Citewell knows. `tables`: how many there are.
    """

    state: State
    revision: str
    known: str
    tables: int


class Server(Protocol):
    """`connections`: transactions at once in this process; `writes_at_once`: of those that write.
    `name`: what people know it by.
    """

    connections: int
    writes_at_once: int
    name: str

    def open(self, *, moving: bool = False) -> None:
        """Connect, check, and make or bring up to date what may be. `moving`: also one that is
        being moved into.
        """

    def look(self) -> Schema:
        """How the database stands; nothing is made or changed. Not while it is open."""
        ...

    def upgrade(self) -> None:
        """Bring it to the schema that this Citewell knows, whether it opens by itself or not."""

    def close(self) -> None:
        """No transaction is under way."""

    def transact(
        self,
        fn: Callable[Concatenate[Connection, P], T],
        mode: Mode,
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> T:
        """Run `fn` in one transaction: on one snapshot where it reads."""
        ...

    def check_reach(self, since: float) -> None:
        """Raises DatabaseAway where somebody waited in vain who began after this moment of the
        steady clock: who has stood in a queue since then need not wait once more.
        """

    def try_writing(self, connection: Connection) -> None:
        """A write that changes nothing, and reaches the disk as every other does."""

    def erase(self, *, strict: bool) -> list[str]:
        """Let go of copies of what was deleted, as far as can be had at once; `strict`: however
        long it takes. The tables in whose files something may be left.
        """
        ...

    async def listen_for_jobs(self, wake: Callable[[], None]) -> None:
        """Call `wake` at each job that another process sends, for ever; at once where nobody can
        tell of them.
        """
