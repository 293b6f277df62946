"""What is being done just now, for whoever looks on: figures, spans, the log.

    with observe_operation("call", "chat", facts={"model": "scripted"}) as call:
        reply = await ...
        call.facts["prompt"] = reply.tokens.prompt

A request, an answer, a node, a call of a model and a job are each a `Operation`; those inside know
the one above. Who wants to hear of them (`Watch`) is set once, where the work of an App begins
(`attach_watches`), and holds for all tasks that are started from there. The one rule: looking on
changes nothing. A watch that fails is logged, and what it looked at goes on; `facts` and `ids` hold
names, figures and ids, never what somebody wrote.
"""

from __future__ import annotations

import asyncio
import logging
import time
from contextvars import ContextVar
from types import TracebackType
from typing import Any, Final, Literal, Protocol, Self

from citewell.errors import CitewellError

log = logging.getLogger(__name__)

Kind = Literal["request", "answer", "node", "call", "job"]
CANCELLED: Final = "cancelled"  # outcome of what was stopped from outside
INTERNAL: Final = "internal"  # outcome of what a fault of ours ended


class Watch(Protocol):
    """Hears of what is done. Called in the event loop: it must not wait for anything."""

    def note_begin(self, doing: Operation) -> None: ...

    def note_end(self, doing: Operation) -> None:
        """`outcome` and `seconds` are known now."""
        ...


_watches: ContextVar[tuple[Watch, ...]] = ContextVar("watches", default=())
_now: ContextVar[Operation | None] = ContextVar("doing", default=None)


class Operation:
    """One thing that is being done; a context manager. `name`: the agent of an answer, the node,
    the operation of a call, the kind of a job. `outcome`: empty where it ended well, else the
    `code` of its error. `first`: seconds to its first token. `kept`: what each watch keeps with it.
    `hidden`: what somebody wrote, so that the log can leave it out. `error`: what ended it, for a
    watch to look at and not to keep.
    """

    __slots__ = (
        "_before",
        "above",
        "error",
        "facts",
        "first",
        "hidden",
        "ids",
        "kept",
        "kind",
        "name",
        "outcome",
        "seconds",
        "started",
        "watches",
    )

    def __init__(self, kind: Kind, name: str, ids: dict[str, str], facts: dict[str, Any]) -> None:
        above = _now.get()
        self.kind: Kind = kind
        self.name = name
        self.above = above
        self.ids: dict[str, str] = ids if above is None else {**above.ids, **ids}
        self.facts = facts
        self.hidden: tuple[str, ...] = () if above is None else above.hidden
        self.watches = _watches.get()
        self.kept: dict[Any, Any] = {}
        self.started = time.perf_counter()
        self.seconds = 0.0
        self.first: float | None = None
        self.outcome = ""
        self.error: BaseException | None = None
        self._before: Operation | None = None

    def __enter__(self) -> Self:
        self._before = _now.get()
        _now.set(self)
        for watch in self.watches:
            try:
                watch.note_begin(self)
            except Exception:
                log.exception("%s: a watch failed as it began", self.kind)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.seconds = self.get_elapsed()
        if error is not None:
            self.error, self.outcome = error, get_outcome(error)
        for watch in self.watches:
            try:
                watch.note_end(self)
            except Exception:
                log.exception("%s: a watch failed as it ended", self.kind)
        self.error = None
        # by value: a stream may be closed in another task than the one that began it
        _now.set(self._before)

    def get_elapsed(self) -> float:
        """Seconds since it began."""
        return time.perf_counter() - self.started

    @property
    def agent(self) -> str:
        """Whose it is: of the answer that it is part of; empty where it is part of none."""
        at: Operation | None = self
        while at is not None and at.kind != "answer":
            at = at.above
        return at.name if at is not None else ""

    def token(self) -> None:
        """A first piece of the answer is there."""
        if self.first is None:
            self.first = self.get_elapsed()

    def mark(self, **ids: str) -> None:
        """An id that it and those above have from now on, so that a request knows of its answer."""
        at: Operation | None = self
        while at is not None:
            at.ids.update(ids)
            at = at.above

    def hide(self, text: str) -> None:
        """What somebody wrote: the log leaves it out, here and in those above."""
        at: Operation | None = self
        while at is not None:
            at.hidden = (*at.hidden, text)
            at = at.above


def observe_operation(
    kind: Kind, name: str, *, facts: dict[str, Any] | None = None, ids: dict[str, str] | None = None
) -> Operation:
    """For a `with`: it begins with the block and ends with it."""
    return Operation(kind, name, ids or {}, {} if facts is None else facts)


def get_current_operation() -> Operation | None:
    """The innermost that is being done where this is asked."""
    return _now.get()


def count_orders(number: int) -> None:
    """Add to the figure `orders` of the answer that this is part of, where it is part of one."""
    at = _now.get()
    while at is not None and at.kind != "answer":
        at = at.above
    if at is not None:
        at.facts["orders"] = at.facts.get("orders", 0) + number


def attach_watches(*watches: Watch) -> None:
    """From here on, in this task and those that it starts, these hear of what is done."""
    _watches.set(watches)


def adopt_operation(under: Operation) -> None:
    """The task works for that operation from here on, for a request that it did not await."""
    _watches.set(under.watches)
    _now.set(under)


def get_outcome(error: BaseException) -> str:
    """A short name for how something ended; there are few of them."""
    if isinstance(error, CitewellError):
        return error.code
    return CANCELLED if isinstance(error, asyncio.CancelledError | GeneratorExit) else INTERNAL
