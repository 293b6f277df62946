"""How a server ends: nothing new is begun, what runs gets its time, and what is left then is cut
off. Who is cut off is told whether there is something to go on with, and that is looked up, never
guessed.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from citewell.errors import Stopped
from citewell.messages import Text

BACK = 5  # seconds that a server is thought to need to be back, told to who asks meanwhile


class Stopping:
    """Of one server. `closing`: nothing new. `cut`: what runs ends. `running`: requests in hand."""

    def __init__(self) -> None:
        self.closing = asyncio.Event()
        self.cut = asyncio.Event()
        self.running = 0
        self.lost = self.kept = (
            0  # answers that were cut off: for good, and such as can be gone on with
        )
        self._idle = asyncio.Event()
        self._idle.set()
        self._until = 0.0
        self._limits: set[asyncio.Timeout] = set()

    def close(self, seconds: float = 0.0) -> None:
        """Nothing new from now on; what runs has so many seconds."""
        self._until = time.monotonic() + seconds
        self.closing.set()

    def end(self) -> None:
        """Cut off what runs."""
        self.closing.set()
        self.cut.set()
        for limit in self._limits:
            limit.reschedule(asyncio.get_running_loop().time())

    def count_start(self) -> None:
        """A request is in hand; `ended` when it is answered, or its client has left."""
        self.running += 1
        self._idle.clear()

    def count_end(self) -> None:
        self.running -= 1
        if not self.running:
            self._idle.set()

    async def wait_idle(self) -> None:
        """Until no request is in hand."""
        await self._idle.wait()

    @property
    def retry_after(self) -> int:
        """Seconds after which it is worth while to ask again."""
        return math.ceil(max(0.0, self._until - time.monotonic())) + BACK

    @asynccontextmanager
    async def cancel_on_stop(self) -> AsyncIterator[None]:
        """Work that nobody else would cut off: cancelled when the time is over. Raises Stopped."""
        try:
            async with asyncio.timeout(None) as limit:
                self._limits.add(limit)
                if self.cut.is_set():
                    limit.reschedule(asyncio.get_running_loop().time())
                try:
                    yield
                finally:
                    self._limits.discard(limit)
        except TimeoutError:
            if not limit.expired():
                raise
            raise make_stopped_error() from None


def make_stopped_error(resume: str = "") -> Stopped:
    """What is told whose question was cut off. `resume`: the run to go on with, if any."""
    if not resume:
        return Stopped(Text("the server is stopping"), hint=Text("ask again when it is back"))
    hint = Text(
        'what was done is kept: when it is back, {{"resume": "{resume}"}} to /api/ask '
        'goes on, as does "Go on" on the page',
        resume=resume,
    )
    return Stopped(
        Text("the server is stopping, and this was not answered yet"), hint=hint, resume=resume
    )
