"""A server that is told to stop: what it still takes, and how many requests it has in hand. What
was begun is finished, in its time; what would begin something new is told when to come again.
"""

from __future__ import annotations

import re

from starlette.types import ASGIApp, Receive, Scope, Send

from citewell.errors import Stopped
from citewell.interfaces.http.deps import READING
from citewell.interfaces.http.errors import build_json_reply
from citewell.interfaces.http.openai.openai_errors import to_error_reply
from citewell.interfaces.problem import to_problem
from citewell.messages import Text
from citewell.runtime.shutdown import Stopping

# read for as long as there is something to tell
ENDLESS = re.compile(r"/mcp|/api/jobs/[^/]+/events")
# has a question end, or answer from what there is: that helps to end
FINISH = re.compile(r"/api/runs/[^/]+/(?:stop|cancel)")


class Closing:
    """ASGI middleware, inside guard.py's and around access.py's."""

    def __init__(self, app: ASGIApp, stopping: Stopping) -> None:
        self.app = app
        self.stopping = stopping

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        if self.stopping.closing.is_set() and is_new_work(str(scope["method"]), str(scope["path"])):
            await self._build_refusal(str(scope["path"]))(scope, receive, send)
            return
        self.stopping.count_start()
        try:
            await self.app(scope, receive, send)
        finally:
            self.stopping.count_end()

    def _build_refusal(self, path: str) -> ASGIApp:
        seconds = self.stopping.retry_after
        error = Stopped(
            Text("the server is stopping and takes nothing new"),
            hint=Text("ask again in {seconds} seconds", seconds=seconds),
        )
        response = (
            to_error_reply(error)
            if path.startswith("/v1/")
            else build_json_reply(503, to_problem(error))
        )
        response.headers["Retry-After"] = str(seconds)
        return response


def is_new_work(method: str, path: str) -> bool:
    """Whether a request begins something: all but reading, and ending a question early."""
    if method in READING:
        return bool(ENDLESS.fullmatch(path))
    return not FINISH.fullmatch(path)
