"""What every request passes first: it gets an id, is told to those who look on, and leaves one line
in the log. A request is told by its route, never by its path, query or body, which hold ids and
words of people. What goes wrong unexpectedly is logged here, once, and the reply says under which
id.
"""

from __future__ import annotations

import logging
import re
import secrets
from collections.abc import Iterable, Sequence
from typing import Any, Final

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect
from starlette.routing import BaseRoute, Match
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from citewell.instrumentation import Operation, Watch, attach_watches, observe_operation
from citewell.interfaces.http.deps import CALLER, DOING, Caller
from citewell.interfaces.http.errors import GONE, REFUSAL, Refused, build_fault, build_json_reply

log = logging.getLogger(__name__)
access = logging.getLogger("citewell.access")

HEADER = "X-Request-ID"
UNMATCHED: Final = "(none)"  # the route of a path that does not exist
METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
OTHER: Final = "OTHER"
# asked for every few seconds: told with log_level debug only
PROBES = frozenset({"/api/health", "/api/ready", "/metrics"})
_ID = re.compile(r"[A-Za-z0-9._:-]{1,64}")
_PARENT = re.compile(
    r"(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(-.{0,200})?"
)
LONGEST_STATE = 512  # characters of a `tracestate`


class Observed:
    """ASGI middleware, the outermost."""

    def __init__(self, app: ASGIApp, watches: Sequence[Watch], routes: Iterable[BaseRoute]) -> None:
        self.app = app
        self.watches = tuple(watches)
        self.routes = tuple(routes)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        attach_watches(*self.watches)
        headers = Headers(scope=scope)
        with observe_operation(
            "request",
            "http",
            ids={"request_id": choose_request_id(headers)},
            facts=_extract_trace_context(headers),
        ) as this:
            scope[DOING] = this
            sending = _Sending(send, this.ids["request_id"])
            try:
                await self.app(scope, receive, sending)
            except ClientDisconnect:  # it left in the middle of its own request
                sending.status = sending.status or GONE
            except Exception as error:
                log.exception("unexpected")
                this.facts["error"] = type(error).__name__
                # else the line is closed, and who reads sees that the reply is not whole
                if not sending.status:
                    await build_json_reply(500, build_fault())(scope, receive, sending)
            finally:
                this.facts.update(self._collect_facts(scope, sending.status or GONE))
                _log_request(this, scope)

    def _collect_facts(self, scope: Scope, status: int) -> dict[str, Any]:
        refusal = scope.get(REFUSAL)
        return {
            "method": scope["method"] if scope["method"] in METHODS else OTHER,
            "route": self._find_route(scope),
            "status": status,
            "refusal": refusal.code if isinstance(refusal, Refused) else "",
            "limit": refusal.limit if isinstance(refusal, Refused) else "",
        }

    def _find_route(self, scope: Scope) -> str:
        """Its template; looked up where the request was refused before it got there."""
        found = scope.get("route") or next(
            (each for each in self.routes if each.matches(scope)[0] is not Match.NONE), None
        )
        return str(getattr(found, "path", UNMATCHED))


class _Sending:
    """`send`, which adds the id to the reply and knows its status; 0: none yet."""

    def __init__(self, send: Send, request_id: str) -> None:
        self._send = send
        self._id = request_id
        self.status = 0

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = int(message["status"])
            MutableHeaders(scope=message)[HEADER] = self._id
        await self._send(message)


def choose_request_id(headers: Headers) -> str:
    """The caller's own id where valid, else a new one; nothing else goes into log or reply."""
    said = headers.get(HEADER, "")
    return said if _ID.fullmatch(said) else "req_" + secrets.token_hex(8)


def _extract_trace_context(headers: Headers) -> dict[str, Any]:
    """The trace that the caller's request is part of (W3C Trace Context), if well formed."""
    parent = headers.get("traceparent", "")
    if not _PARENT.fullmatch(parent):
        return {}
    state = headers.get("tracestate", "")
    return {"traceparent": parent} | (
        {"tracestate": state} if state and len(state) <= LONGEST_STATE else {}
    )


def _log_request(this: Operation, scope: Scope) -> None:
    facts = this.facts
    level = logging.DEBUG if facts["route"] in PROBES and facts["status"] < 400 else logging.INFO
    if not access.isEnabledFor(level):
        return
    caller = scope.get(CALLER)
    user_id = caller.user_id if isinstance(caller, Caller) else ""
    said = {name: facts[name] for name in ("method", "route", "status")}
    told = {**said, "seconds": round(this.get_elapsed(), 4), "user_id": user_id}
    access.log(level, "%(method)s %(route)s %(status)s", said, extra=told)
