"""Replies are told in the language that their request likes best (`Accept-Language`), or in every
one, for our page (`Citewell-Texts: all`), which shows another as soon as its reader chooses it.
"""

from __future__ import annotations

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from citewell.messages import EVERY, choose_language, showing_in

HEADER = "citewell-texts"


class Language:
    """ASGI middleware, the outermost, so that refusals of the others are told so too."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        every = headers.get(HEADER) == "all"
        language = EVERY if every else choose_language(headers.get("accept-language", ""))
        with showing_in(language):
            await self.app(scope, receive, send)
