"""The protocol on standard input and output, for a program that starts Citewell itself. Nothing but
the protocol on standard output. While it runs, the descriptor 1 leads to standard error and 0 to
nothing, so that a library that prints, or a worker process, cannot break it.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager, suppress
from typing import Any, cast

import anyio
import anyio.to_thread
from mcp.server.stdio import stdio_server

from citewell.interfaces.mcp.server import build_server
from citewell.interfaces.mcp.visit import Place, Visit
from citewell.runtime.app import App

LONGEST_LINE = 64_000_000  # bytes of a message
CHUNK = 65_536


async def serve_stdio(app: App, user_id: str) -> None:
    """Until the input ends or the process is told to stop."""
    visit = Visit(app, user_id)
    server = build_server(Place(local=True, visit=lambda _: visit))._lowlevel_server  # noqa: SLF001  # as its own run_stdio_async does
    with _divert_stdio() as (source, target), _stop_on_signals():
        lines, wire = Lines(source), Wire(target)
        async with stdio_server(cast("Any", lines), cast("Any", wire)) as (reading, writing):
            await server.run(reading, writing, server.create_initialization_options())


class Lines:
    """Lines of a descriptor as they come, by a daemon thread that holds up no exit."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._loop = asyncio.get_running_loop()
        self._queue: asyncio.Queue[str | None] = asyncio.Queue()
        threading.Thread(target=self._read_lines, daemon=True, name="mcp stdin").start()

    def __aiter__(self) -> AsyncIterator[str]:
        return self

    async def __anext__(self) -> str:
        line = await self._queue.get()
        if line is None:
            raise StopAsyncIteration
        return line

    def _read_lines(self) -> None:
        rest = b""
        with suppress(OSError, RuntimeError):  # closed under us; the loop has ended
            while (data := os.read(self._descriptor, CHUNK)) and len(rest) < LONGEST_LINE:
                *whole, rest = (rest + data).split(b"\n")
                for line in whole:
                    self._put_line(line.decode("utf-8", "replace"))
            if rest.strip():
                self._put_line(rest.decode("utf-8", "replace"))
        with suppress(RuntimeError):
            self._put_line(None)

    def _put_line(self, line: str | None) -> None:
        self._loop.call_soon_threadsafe(self._queue.put_nowait, line)


class Wire:
    """Where replies are written to. A reader that has gone ends the server as closed input does."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    async def write(self, text: str) -> None:
        await anyio.to_thread.run_sync(self._write_bytes, text.encode(), abandon_on_cancel=True)

    async def flush(self) -> None:
        """All of it is written."""

    def _write_bytes(self, data: bytes) -> None:
        view = memoryview(data)
        try:
            while view:
                view = view[os.write(self._descriptor, view) :]
        except BrokenPipeError:
            raise anyio.ClosedResourceError from None


@contextmanager
def _divert_stdio() -> Iterator[tuple[int, int]]:
    """Descriptors of the protocol, of our own; 0 and 1 lead elsewhere meanwhile."""
    sys.stdout.flush()
    source, target = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    try:
        yield source, target
    finally:
        sys.stdout.flush()
        os.dup2(target, 1)
        # `source` stays open: the thread may be waiting for it still


@contextmanager
def _stop_on_signals() -> Iterator[None]:
    """Ctrl-C and SIGTERM end the block as if its input had ended."""
    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    assert task is not None
    stopped = False

    def stop() -> None:
        nonlocal stopped
        stopped = True
        task.cancel()

    with suppress(NotImplementedError):  # Windows: Ctrl-C raises KeyboardInterrupt
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, stop)
    try:
        yield
    except asyncio.CancelledError:
        if not stopped:
            raise
        task.uncancel()
    finally:
        with suppress(NotImplementedError):
            for number in (signal.SIGINT, signal.SIGTERM):
                loop.remove_signal_handler(number)
