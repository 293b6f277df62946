"""A connection with time limits: uvicorn's protocol knows one for idle connections only. Only the
client's own time counts. A head has `HEAD` seconds, a body `BODY` and a second more for each
`SLOWEST` bytes that came, a reply may stand still for `REPLY`; while the server itself does not
read, no body is late.
"""

from __future__ import annotations

import asyncio
import json
from http import HTTPStatus
from typing import Any, Literal

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from citewell.interfaces.http.security.request_headers import normalize_address
from citewell.interfaces.http.server.connections import Connections
from citewell.interfaces.problem import Problem, build_problem
from citewell.messages import Text

HEAD = 20.0  # seconds
BODY = 20.0
REPLY = 60.0
SLOWEST = 1_000  # bytes a second
IDLE = 5  # seconds between two requests
LINGER = 1.0  # seconds in which a client that was told that it is late can read so
TOO_MANY = build_problem(
    "too_many_requests",
    Text("this address has too many connections open"),
    Text("close some of them; access.connections says how many"),
)
FULL = build_problem(
    "unavailable",
    Text("the server has no room for more connections"),
    Text("try again in some seconds"),
)
LATE = build_problem(
    "request_timeout", Text("the request did not come in time"), Text("send it at once")
)
Owed = Literal["", "head", "body"]


class TimedProtocol(H11Protocol):
    """`book`: where it is counted; set on a class of each server's own (`make_protocol`)."""

    book: Connections

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.address = ""
        self._counted = False
        self._over = False  # it was told that it is late
        self._owed: Owed = ""
        self._since = 0.0
        self._received = 0  # bytes of what is owed
        self._late: asyncio.TimerHandle | None = None
        self._stuck: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.address = normalize_address(self.client[0]) if self.client else ""
        if why := self.book.enter(self):
            self._turn_away(
                429 if why == "address" else 503, TOO_MANY if why == "address" else FULL, why
            )
            return
        self._counted = True
        self._set_owed("head")

    def connection_lost(self, exc: Exception | None) -> None:
        self._owed = ""
        self._cancel_late_timer()
        self._cancel_stuck_timer()
        if self._counted:
            self._counted = False
            self.book.leave(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._over or self.transport.is_closing():
            return
        super().data_received(data)
        self._update_owed()
        self._received += len(data)

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._update_owed()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._watch_reply(self.transport.get_write_buffer_size())

    def resume_writing(self) -> None:
        super().resume_writing()
        self._cancel_stuck_timer()

    def give_way(self) -> None:
        """For another connection."""
        self._counted = False
        self.transport.abort()

    def _update_owed(self) -> None:
        """What the client owes now. Between two requests uvicorn's own timer runs."""
        state = self.conn.their_state
        if self._over:
            return
        if self.transport.is_closing():
            self._set_owed("")
        elif state is h11.IDLE:
            self.book.mark_waiting(self)
            self._set_owed("" if self.timeout_keep_alive_task else "head")
        else:
            self.book.mark_working(self)
            self._set_owed("body" if state is h11.SEND_BODY else "")

    def _set_owed(self, what: Owed) -> None:
        if what == self._owed:
            return
        self._cancel_late_timer()
        self._owed, self._since, self._received = what, self.loop.time(), 0
        self._late = (
            self.loop.call_later(HEAD if what == "head" else BODY, self._handle_late)
            if what
            else None
        )

    def _handle_late(self) -> None:
        if self._owed == "body":
            left = self._since + BODY + self._received / SLOWEST - self.loop.time()
            if self.flow.read_paused:  # the server has not taken what came
                left = BODY
            if left > 0:
                self._late = self.loop.call_later(left, self._handle_late)
                return
        if self._owed == "head" and not self._received:
            self.book.told("head")
            # it never said anything, so it gets no answer: browsers open connections in advance
            self.transport.abort()
        else:
            self._end_late()

    def _end_late(self) -> None:
        """Tell a client that it is late, where no reply was begun. It may still be sending: a
        connection that is closed at once would be reset, and what it is told be lost.
        """
        self.book.told(self._owed)
        self._set_owed("")
        self._over = True
        if self.cycle is None or self.cycle.response_complete or not self.cycle.response_started:
            self.transport.write(_build_raw_reply(408, LATE))
        if self.cycle is not None and not self.cycle.response_complete:
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        self.transport.write_eof()
        self._late = self.loop.call_later(LINGER, self.transport.abort)

    def _turn_away(self, status: int, body: Problem, why: str) -> None:
        """A new one, of which nothing was read yet."""
        self.book.told(why)
        self.transport.write(_build_raw_reply(status, body))
        self.transport.close()

    def _cancel_late_timer(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None

    def _watch_reply(self, before: int) -> None:
        self._cancel_stuck_timer()
        self._stuck = self.loop.call_later(REPLY, self._handle_stuck, before)

    def _handle_stuck(self, before: int) -> None:
        """A large reply is written at once and taken piece by piece."""
        left = self.transport.get_write_buffer_size()
        if before - left >= SLOWEST * REPLY:
            self._watch_reply(left)
            return
        self.book.told("reply")
        self.transport.abort()

    def _cancel_stuck_timer(self) -> None:
        if self._stuck is not None:
            self._stuck.cancel()
            self._stuck = None


def _build_raw_reply(status: int, body: Problem) -> bytes:
    """A whole reply."""
    data = json.dumps(body).encode()
    head = f"HTTP/1.1 {status} {HTTPStatus(status).phrase}\r\nContent-Type: application/json\r\n"
    head += f"Retry-After: 5\r\nConnection: close\r\nContent-Length: {len(data)}\r\n\r\n"
    return head.encode() + data


def make_protocol(book: Connections) -> type[TimedProtocol]:
    """The protocol of a server whose connections that one counts."""
    return type("ServedProtocol", (TimedProtocol,), {"book": book})
