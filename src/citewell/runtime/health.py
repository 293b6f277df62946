"""What the readiness goes by beside the settings: can the database be written to, and what came of
the models' last calls. Asking every second costs next to nothing. A write is tried every few
seconds at most, and models are watched at work, never asked.
"""

from __future__ import annotations

import asyncio
import shutil
import time
from dataclasses import dataclass

import anyio.to_thread

from citewell.errors import CitewellError
from citewell.instrumentation import INTERNAL, Operation
from citewell.messages import Text
from citewell.store.db import Database

EVERY = 5.0  # seconds between two writes that are tried
PATIENCE = 1.0  # seconds that somebody who asks waits for one
STUCK = 15.0  # seconds after which a write that has not come through is a fault
LEAST_FREE = 16 * 2**20  # bytes: an answer with its trace, and the log of the database, need some
# seconds after which a model that failed is given another chance: nobody may be asking it because
# it failed
FORGOTTEN = 60.0
FAILED = "its last call failed"
# a prompt too long is none
TROUBLE = frozenset({"transient", "permanent", "unauthorised", "model_unavailable", INTERNAL})
ROLES = {"chat": "chat", "yes_no": "chat", "embeddings": "embeddings"}


class Writing:
    """Whether the database takes what is written: `found` is "ok", or why not."""

    def __init__(self) -> None:
        self.found = "ok"
        self._at = -EVERY
        self._trying: asyncio.Task[None] | None = None

    async def look(self, db: Database) -> str:
        """As of a few seconds ago. Where a write takes long, what was found before it."""
        if self._trying is None and time.monotonic() - self._at >= EVERY:
            self._at = time.monotonic()
            self._trying = asyncio.create_task(self._try_write(db))
        if self._trying is not None:
            await asyncio.wait({self._trying}, timeout=PATIENCE)
            waits = time.monotonic() - self._at
            if self._trying is not None and not self._trying.done() and waits > STUCK:
                return f"a write has been waiting for {waits:.0f} s"
        return self.found

    async def _try_write(self, db: Database) -> None:
        try:
            await db.try_writing()
            free = await anyio.to_thread.run_sync(lambda: shutil.disk_usage(db.path.parent).free)
            self.found = (
                "ok"
                if free >= LEAST_FREE
                else f"{db.path}: {free // 2**20} MiB are left on its disk; free some space"
            )
        except CitewellError as error:
            self.found = error.message
        except OSError as error:
            self.found = f"{db.path.parent}: {error.strerror}"
        finally:
            self._trying = None

    async def close(self) -> None:
        """No write is on its way when the database closes."""
        if self._trying is not None:
            await asyncio.wait({self._trying})


@dataclass(frozen=True, slots=True)
class Trouble:
    code: str
    message: str
    at: float


class ModelsSeen:
    """A Watch of model calls: which failed last, by purpose (`chat`, `embeddings`)."""

    def __init__(self) -> None:
        self._troubles: dict[str, Trouble] = {}

    def note_begin(self, doing: Operation) -> None:
        """Only the end tells."""

    def note_end(self, doing: Operation) -> None:
        role = ROLES.get(doing.name) if doing.kind == "call" else None
        if role is None:
            return
        if doing.outcome in TROUBLE:
            said = (
                doing.error.message
                if isinstance(doing.error, CitewellError)
                else type(doing.error).__name__
            )
            self._troubles[role] = Trouble(doing.outcome, said, time.monotonic())
        elif not doing.outcome:
            self._troubles.pop(role, None)

    def of(self, role: str) -> str:
        """Ok, or what came of its last call, for a minute."""
        trouble = self._troubles.get(role)
        ago = time.monotonic() - trouble.at if trouble else FORGOTTEN
        if trouble is None or ago >= FORGOTTEN:
            return "ok"
        return Text(
            "its last call failed {ago:.0f} s ago: {message}", ago=ago, message=trouble.message
        )
