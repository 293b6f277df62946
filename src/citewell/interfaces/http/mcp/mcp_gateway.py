"""`/mcp`: the Model Context Protocol over streamable HTTP. Whoever comes in here was let in as
everywhere (guard.py, the same tokens), and a session is its beginner's own. The protocol's library
and its tools are loaded with the first request: they would cost `serve` 0.7 s of its start.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any, cast

import anyio
import anyio.to_thread
from fastapi import APIRouter, Request, Response
from starlette.datastructures import Headers
from starlette.types import Message, Receive, Scope, Send

from citewell.errors import CitewellError
from citewell.instrumentation import adopt_operation
from citewell.interfaces.http.deps import (
    CALLER,
    DOING,
    LOOK,
    Asking,
    Caller,
    get_app_view,
    get_caller,
    recheck_access,
)
from citewell.interfaces.http.errors import Refused, build_json_reply
from citewell.interfaces.http.mcp.mcp_sessions import MOST_OF_A_USER, Sessions
from citewell.interfaces.http.security.address import get_base_url
from citewell.interfaces.http.security.guard import LARGEST_BODY, check_origin
from citewell.interfaces.http.sse import TELLS
from citewell.interfaces.problem import to_problem
from citewell.messages import Text
from citewell.runtime.shutdown import Stopping, make_stopped_error

if TYPE_CHECKING:
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

log = logging.getLogger(__name__)
router = APIRouter(tags=["mcp"])
MOST_SESSIONS = 1_000  # of all; mcp_sessions.py says how many of one user
SESSION = "mcp-session-id"
_FULL = Refused(
    429,
    "too_many_requests",
    Text("{most_of_a_user} MCP sessions of this user are in use", most_of_a_user=MOST_OF_A_USER),
    Text("end some of them; one that does nothing makes room by itself"),
)
IDLE_SECONDS = 1_800.0  # after which a session without a request ends


@router.api_route("/mcp", methods=["GET", "POST", "DELETE"], include_in_schema=False)
async def mcp(request: Request, caller: Asking) -> Response:
    """Not in the description: the protocol has its own."""
    # the guard lets a page of another site read; this protocol's rules do not
    check_origin(request.headers)
    return MCPResponse(request.app.state.mcp, caller)


class MCPResponse(Response):
    """A reply that the protocol's library writes."""

    def __init__(self, door: MCPGateway, caller: Caller) -> None:
        super().__init__()
        self._door, self._caller = door, caller

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._door.forward_request(self._caller, scope, receive, send)


class MCPGateway:
    """The way from our web application to the protocol's library. Open inside `open()`."""

    def __init__(self, stopping: Stopping, tell: Callable[[str], str]) -> None:
        self._stopping = stopping
        self._tell = tell
        self._serving: asyncio.Task[None] | None = None
        self._manager: asyncio.Future[StreamableHTTPSessionManager] | None = None
        self._closing = asyncio.Event()
        self._sessions = Sessions()

    @asynccontextmanager
    async def open(self) -> AsyncIterator[None]:
        """Sessions end with the block."""
        try:
            yield
        finally:
            self._closing.set()
            if self._serving is not None:
                await asyncio.gather(self._serving, return_exceptions=True)

    async def forward_request(
        self, caller: Caller, scope: Scope, receive: Receive, send: Send
    ) -> None:
        """Hand a request on to the protocol's library."""
        manager = await self._get_manager()
        # of that user whom the address names, where it may
        scope = {**scope, CALLER: caller, "user": _to_mcp_user(caller)}
        said = Headers(scope=scope).get(SESSION, "")
        if said:
            with self._sessions.mark_in_use(caller.user_id, said):
                await self._handle_until_stopped(
                    manager, scope, receive, self._track_sessions(manager, scope, said, send)
                )
        elif not _is_session_start(scope):
            await self._handle_until_stopped(manager, scope, receive, send)
        elif self._sessions.is_full(caller.user_id):
            await build_json_reply(429, to_problem(_FULL), {"Retry-After": "60"})(
                scope, receive, send
            )
        else:
            with self._sessions.count_opening(caller.user_id):
                await self._handle_until_stopped(
                    manager, scope, receive, self._track_sessions(manager, scope, said, send)
                )

    def _track_sessions(
        self, manager: StreamableHTTPSessionManager, scope: Scope, said: str, send: Send
    ) -> Send:
        """See which session the reply is of: one that is new, or that is there no more."""
        user_id = scope[CALLER].user_id

        async def note_message(message: Message) -> None:
            if message["type"] == "http.response.start":
                status, made = (
                    message["status"],
                    Headers(raw=list(message["headers"])).get(SESSION, ""),
                )
                if said and (status == 404 or (scope["method"] == "DELETE" and status < 400)):
                    self._sessions.forget(user_id, said)
                elif (
                    not said
                    and made
                    and status < 400
                    and (over := self._sessions.add_session(user_id, made))
                ):
                    await _end_session(manager, scope, over)
            await send(message)

        return note_message

    async def _handle_until_stopped(
        self, manager: StreamableHTTPSessionManager, scope: Scope, receive: Receive, send: Send
    ) -> None:
        """A server that stops ends what only listens at once; calls have their time, and say that
        they were cut off. What only listens ends too when its user is let in no more: this protocol
        has no word for that, but the next request is told.
        """
        started = ended = False

        async def note_message(message: Message) -> None:
            nonlocal started, ended
            started = started or message["type"] == "http.response.start"
            ended = message["type"] == "http.response.body" and not message.get("more_body", False)
            await send(message)

        async with anyio.create_task_group() as group:

            async def watch() -> None:
                if scope["method"] == "GET":
                    await self._wait_while_allowed(scope)
                else:
                    await self._stopping.cut.wait()
                    await asyncio.sleep(TELLS)
                group.cancel_scope.cancel()

            group.start_soon(watch)
            await manager.handle_request(scope, receive, note_message)
            group.cancel_scope.cancel()
        if started and not ended:
            await send({"type": "http.response.body", "body": b"", "more_body": False})
        elif self._stopping.closing.is_set() and not ended:
            await build_json_reply(503, to_problem(make_stopped_error()))(scope, receive, send)

    async def _wait_while_allowed(self, scope: Scope) -> None:
        """Until the server stops, or who listens may do so no more."""
        while not self._stopping.closing.is_set():
            with suppress(TimeoutError):
                async with asyncio.timeout(LOOK):
                    await self._stopping.closing.wait()
            try:
                await recheck_access(scope)
            except Refused:
                return
            except CitewellError as error:
                # the next look tells
                log.warning("who listens is not looked up: %s", error.message)

    async def _get_manager(self) -> StreamableHTTPSessionManager:
        """The manager, in a task of its own: it has to be closed where it was opened."""
        if self._serving is None:
            self._manager = asyncio.get_running_loop().create_future()
            self._serving = asyncio.create_task(self._run_manager(self._manager))
        assert self._manager is not None
        return await asyncio.shield(self._manager)

    async def _run_manager(self, ready: asyncio.Future[StreamableHTTPSessionManager]) -> None:
        try:
            manager = await anyio.to_thread.run_sync(_build_manager, self._tell)
            async with manager.run():
                ready.set_result(manager)
                await self._closing.wait()
        except Exception as error:
            if ready.done():
                raise
            ready.set_exception(error)
            self._serving = None  # the next request tries again


def _build_manager(tell: Callable[[str], str]) -> StreamableHTTPSessionManager:
    """Sessions, so that older clients can cancel; those of 2026-07-28 and later need none."""
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

    from citewell.interfaces.mcp.server import build_server
    from citewell.interfaces.mcp.visit import Place, Say, Visit

    def visit(context: Say) -> Visit:
        request = cast("Request", context.request_context.request)
        adopt_operation(
            request.scope[DOING]
        )  # a session's tools run in a task that its first request began
        return Visit(
            get_app_view(request.scope), get_caller(request.scope).user_id, get_base_url(request)
        )

    server = build_server(Place(local=False, visit=visit, tell=tell))
    return StreamableHTTPSessionManager(
        app=server._lowlevel_server,  # noqa: SLF001  # its own way of mounting brings a web application of its own
        session_idle_timeout=IDLE_SECONDS,
        max_sessions=MOST_SESSIONS,
        max_request_body_size=LARGEST_BODY,
    )


def _is_session_start(scope: Scope) -> bool:
    """Whether a request without session begins one; clients since 2026-07-28 have none."""
    from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS

    return scope["method"] == "POST" and Headers(scope=scope).get("mcp-protocol-version") in {
        None,
        *HANDSHAKE_PROTOCOL_VERSIONS,
    }


async def _end_session(
    manager: StreamableHTTPSessionManager, scope: Scope, session_id: str
) -> None:
    """As its owner would."""

    async def receive_nothing() -> Message:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def ignore_message(_: Message) -> None:
        return

    await manager.handle_request(
        {**scope, "method": "DELETE", "headers": [(SESSION.encode(), session_id.encode())]},
        receive_nothing,
        ignore_message,
    )


def _to_mcp_user(caller: Caller) -> Any:
    """The caller in the form by which the library ties a session to who began it."""
    from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
    from mcp.server.auth.provider import AccessToken

    return AuthenticatedUser(AccessToken(token="", client_id=caller.user_id, scopes=[]))
