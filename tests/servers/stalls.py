"""A way to a server that may stall: what is sent is taken and goes nowhere, and nothing is closed.

The one rule: it listens on the loopback, and ends with the test.
"""

from __future__ import annotations

import asyncio
from asyncio import StreamReader as Reader
from asyncio import StreamWriter as Writer
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field


@dataclass
class Road:
    """`open`: set while what is sent arrives. A connection that has lost something stays silent."""

    socket: str
    open: asyncio.Event = field(default_factory=asyncio.Event)
    port: int = 0
    ends: list[Writer] = field(default_factory=list)
    tasks: list[asyncio.Task[None]] = field(default_factory=list)

    def accept(self, reader: Reader, writer: Writer) -> None:
        self.ends.append(writer)
        if self.open.is_set():
            self.tasks.append(asyncio.create_task(self._connect(reader, writer)))

    async def _connect(self, reader: Reader, writer: Writer) -> None:
        there, back = await asyncio.open_unix_connection(self.socket)
        self.ends.append(back)
        await asyncio.gather(self._carry(reader, back), self._carry(there, writer))

    async def _carry(self, reader: Reader, writer: Writer) -> None:
        while data := await reader.read(65_536):
            if not self.open.is_set():
                return
            writer.write(data)
            await writer.drain()
        writer.close()


@asynccontextmanager
async def make_road(socket: str) -> AsyncIterator[Road]:
    """To the server that listens on this socket of a file."""
    road = Road(socket)
    road.open.set()
    server = await asyncio.start_server(road.accept, "127.0.0.1", 0)
    road.port = server.sockets[0].getsockname()[1]
    try:
        yield road
    finally:
        server.close()
        for task in road.tasks:
            task.cancel()
        await asyncio.gather(*road.tasks, return_exceptions=True)
        for end in road.ends:
            end.close()
