"""Two lanes for work in threads: what a person waits for, and what is done in the background (an
upload's passages). The background of every model of this process gives way between two items to
whatever a person waits for, so a question waits for one passage at most (0.03 s), never for an
upload; and it never stands still for long, whatever is asked meanwhile. Within a lane the calls
take turns.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from typing import Generic, TypeVar

import anyio
import anyio.to_thread

T = TypeVar("T")
R = TypeVar("R")

PATIENCE = 1.0  # seconds that one item of the background gives way
TURN = 0.1  # seconds after which a thread goes to the next call that waits
_behind: ContextVar[bool] = ContextVar("_behind", default=False)


def use_background_priority() -> AbstractContextManager[None]:
    """Whatever is asked of a model in this block can wait."""
    return choose_priority(background=True)


@contextmanager
def choose_priority(*, background: bool) -> Iterator[None]:
    """Whether what is asked of a model in this block can wait."""
    token = _behind.set(background)
    try:
        yield
    finally:
        _behind.reset(token)


def is_in_background() -> bool:
    """Whether the caller said that it can wait."""
    return _behind.get()


class Foreground:
    """What people wait for in this process: the background gives way to it."""

    def __init__(self) -> None:
        self._count = 0
        self._quiet = threading.Condition()

    @contextmanager
    def enter(self) -> Iterator[None]:
        """Somebody waits for this block, unless it is in the background itself."""
        if _behind.get():
            yield
            return
        self._change_count(1)
        try:
            yield
        finally:
            self._change_count(-1)

    def give_way(self) -> None:
        """Wait until nobody waits, for `PATIENCE` at most."""
        with self._quiet:
            self._quiet.wait_for(lambda: not self._count, PATIENCE)

    def _change_count(self, more: int) -> None:
        with self._quiet:
            self._count += more
            self._quiet.notify_all()


FOREGROUND = Foreground()


class Lanes(Generic[T, R]):
    """Calls `do` for many items, in `threads` threads a lane."""

    def __init__(self, do: Callable[[T], R], threads: int) -> None:
        self._do, self._threads = do, threads
        self._lanes = {behind: anyio.CapacityLimiter(threads) for behind in (False, True)}

    async def results(self, items: Sequence[T]) -> list[R]:
        """In the order of the items. Raises what `do` raises. Cancelling returns at once; each
        thread ends with its item.
        """
        behind = _behind.get()
        work = Work(self._do, items, FOREGROUND.give_way if behind else None)
        try:
            with FOREGROUND.enter():
                async with anyio.create_task_group() as group:
                    for _ in range(min(self._threads, len(items))):
                        group.start_soon(self._run_turns, work, self._lanes[behind])
        finally:
            work.stop()
        return work.results()

    async def _run_turns(self, work: Work[T, R], limiter: anyio.CapacityLimiter) -> None:
        while work.left:
            await anyio.to_thread.run_sync(work.run, abandon_on_cancel=True, limiter=limiter)


class Work(Generic[T, R]):
    """One call's items, taken by its threads one by one."""

    def __init__(
        self, do: Callable[[T], R], items: Sequence[T], before: Callable[[], None] | None
    ) -> None:
        self._do, self._before = do, before
        self.left = deque(enumerate(items))
        self._done: dict[int, R] = {}
        self._error: BaseException | None = None

    def run(self) -> None:
        """One turn."""
        until = time.monotonic() + TURN
        while self.left and time.monotonic() < until:
            if self._before is not None:
                self._before()
            try:
                at, item = self.left.popleft()
            except IndexError:
                return
            try:
                self._done[at] = self._do(item)
            except Exception as error:  # noqa: BLE001 - raised again where it is waited for
                self._error = error
                self.stop()

    def stop(self) -> None:
        self.left.clear()

    def results(self) -> list[R]:
        """Raises the error that stopped the work."""
        if self._error is not None:
            raise self._error
        return [self._done[at] for at in sorted(self._done)]
