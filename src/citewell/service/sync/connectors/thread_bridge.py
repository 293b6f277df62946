"""Libraries that wait while they work run in a thread, and their requests on the loop, through the
guarded client. Who is cancelled cancels the request under way, so that the library ends with it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

import anyio
import anyio.from_thread

from citewell.errors import TransientError
from citewell.fetch.service_client import ServiceClient, ServiceReply
from citewell.messages import Text
from citewell.threads import run_in_thread

T = TypeVar("T")


class ThreadBridge:
    def __init__(self, client: ServiceClient) -> None:
        self._client = client
        self._scopes: set[anyio.CancelScope] = set()
        self._stopped = False

    async def run(self, work: Callable[[], T]) -> T:
        """What `work` returns, in a thread."""
        working = asyncio.ensure_future(run_in_thread(work))
        try:
            return await asyncio.shield(working)
        except asyncio.CancelledError:
            self._stopped = True
            for scope in self._scopes:
                scope.cancel()
            with anyio.CancelScope(shield=True):
                await asyncio.wait({working})
            if not working.cancelled():
                working.exception()  # of a library that was cut off: it says nothing
            raise

    def send(self, method: str, url: str, **options: Any) -> ServiceReply:
        """`ServiceClient.send`, for the thread."""
        return anyio.from_thread.run(partial(self._send, method, url, **options))

    async def _send(self, method: str, url: str, **options: Any) -> ServiceReply:
        with anyio.CancelScope() as scope:
            self._scopes.add(scope)
            try:
                if self._stopped:
                    scope.cancel()
                return await self._client.send(method, url, **options)
            finally:
                self._scopes.discard(scope)
        raise TransientError(Text("the run was stopped"))
