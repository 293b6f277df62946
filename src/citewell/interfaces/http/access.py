"""Who asks is found out here, before any route sees the request.

The one rule: what is not in `OPEN` is closed. A new path, a mounted application, a page that does not exist: nobody who has not
signed in gets an answer from it. Without users (`auth = "none"`) everybody who reaches this machine's own address is let in.
"""

from __future__ import annotations

import hmac
import ipaddress
from contextlib import suppress
from typing import cast

from starlette.datastructures import Headers
from starlette.requests import cookie_parser
from starlette.types import ASGIApp, Receive, Scope, Send

from citewell.config import Settings
from citewell.errors import CitewellError
from citewell.interfaces.http.deps import CALLER, LOCAL, READING, Caller
from citewell.interfaces.http.errors import REFUSAL, Refused, reply, status_of
from citewell.interfaces.http.rates import Rates
from citewell.interfaces.problem import problem_of
from citewell.knowledge.people import VISITOR
from citewell.knowledge.users import Holder, Lifetime, csrf_of
from citewell.service.app import App

COOKIE = "citewell_session"
OPEN = frozenset({"/", "/api/health", "/api/ready", "/api/sign-in", "/widget.js"})
OPEN_BELOW = ("/assets/",)
WIDGET = frozenset({"/api/ask", "/api/feedback"})  # what the chat element on a page of another site posts to
METRICS = "/metrics"
ANYBODY = Caller("", "reader", "token")  # who has not signed in, where that is not needed
BEARER = {"WWW-Authenticate": "Bearer"}


class Access:
    """ASGI middleware. Leaves the Caller in the request's scope."""

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self.app = app
        self.settings = settings
        self.rates = Rates(settings.access)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":  # there are none
            await send({"type": "websocket.close", "code": 1008})
            return
        if scope["type"] == "http":
            try:
                scope[CALLER] = await self._caller(scope)
            except CitewellError as error:
                scope[REFUSAL] = error
                headers = error.headers if isinstance(error, Refused) else None
                await reply(status_of(error), problem_of(error), headers)(scope, receive, send)
                return
        await self.app(scope, receive, send)

    async def _caller(self, scope: Scope) -> Caller:
        headers, path = Headers(scope=scope), str(scope["path"])
        visits = scope.get("citewell.visitor", False)
        address = address_of(scope, self.settings.access.proxies)
        if self.settings.auth == "none":
            if not visits:
                return Caller(LOCAL, "admin")
            await self.rates.visit(address, VISITOR)
            return Caller(VISITOR, "reader", visitor=True, bound=self.settings.access.public)
        if path == "/api/sign-in" and scope["method"] not in READING:
            await self.rates.attempt(address)
        if path in OPEN or path.startswith(OPEN_BELOW) or (path == METRICS and _is_here(scope, headers)):
            return ANYBODY
        app = cast("App", scope["app"].state.citewell)
        caller, holder = await self._signed_in(app, headers, address, visits=visits)
        await self.rates.request(caller.user_id)
        if path == METRICS and caller.role != "admin":
            raise Refused(
                403, "not_allowed", f"{path} is for admins", "ask for it on the machine itself, or with an admin's token"
            )
        _check_scope(holder, path, scope["method"], visits=visits)
        if caller.bound is not None:
            await self.rates.visit(address, holder.token_id)
        if caller.csrf and scope["method"] not in READING:
            _check_csrf(headers, caller.csrf)
        return caller

    async def _signed_in(self, app: App, headers: Headers, address: str, *, visits: bool) -> tuple[Caller, Holder]:
        """By a token, or by the page's cookie. Raises Refused (401)."""
        kind, _, token = headers.get("authorization", "").partition(" ")
        if kind.lower() == "bearer" and token.strip():
            holder = await app.users.holder(token.strip())
            if holder is None:
                await self.rates.attempt(address)
                raise Refused(401, "wrong_token", "the token is unknown, was revoked, or has run out", _NEW, headers=BEARER)
            open_to = (holder.bound,) if holder.bound else self.settings.access.public
            bound = open_to if holder.scope == "widget" else None
            return Caller(holder.user_id, holder.role, "token", visitor=visits, bound=bound), holder
        secret = cookie_of(headers)
        if secret and not visits:
            holder = await app.users.signed_in(secret, lifetime(self.settings))
            if holder is not None:
                return Caller(holder.user_id, holder.role, "token", csrf_of(secret)), holder
        hint = "send Authorization: Bearer TOKEN, or sign in on the page; `citewell user add NAME` makes a user and a token"
        raise Refused(401, "not_signed_in", "nobody is signed in", hint, headers=BEARER)


_NEW = "`citewell user token NAME` makes a new one"


def lifetime(settings: Settings) -> Lifetime:
    return Lifetime(settings.access.session_hours * 3600, settings.access.idle_hours * 3600)


def cookie_of(headers: Headers) -> str:
    """The secret of the page's session; empty where there is none."""
    return cookie_parser(headers.get("cookie", "")).get(COOKIE, "")


def address_of(scope: Scope, proxies: tuple[str, ...]) -> str:
    """Where a request comes from: the last address that a proxy we believe has seen, else who is connected."""
    client = str((scope.get("client") or ("",))[0])
    if client in proxies:
        seen = [part.strip() for part in Headers(scope=scope).get("x-forwarded-for", "").split(",") if part.strip()]
        return next((each for each in reversed(seen) if each not in proxies), client)
    return client


def is_https(scope: Scope, proxies: tuple[str, ...]) -> bool:
    """Whether who asks does so by https: from here, or from a proxy we believe."""
    client = str((scope.get("client") or ("",))[0])
    said = Headers(scope=scope).get("x-forwarded-proto", "") if client in proxies else ""
    return (said or str(scope.get("scheme", ""))).strip().lower() == "https"


def _is_here(scope: Scope, headers: Headers) -> bool:
    """From this machine itself, not through a proxy on it."""
    if any(name in headers for name in ("x-forwarded-for", "forwarded", "x-real-ip")):
        return False
    with suppress(ValueError):
        return ipaddress.ip_address(str((scope.get("client") or ("",))[0])).is_loopback
    return False


def _check_scope(holder: Holder, path: str, method: str, *, visits: bool) -> None:
    """A token that stands in a page is everybody's, so it is good for little. Raises Refused."""
    if visits and holder.scope != "widget":  # it is bound to nothing: readers of the page could ask all that its user may
        hint = "make one that says what the page may ask: citewell user token NAME --widget --collection C, or --site S"
        raise Refused(403, "not_allowed", f"this token of {holder.user_id} is not for pages of other sites", hint)
    if visits and holder.role != "reader":
        hint = "a token on a page is everybody's: make one for a reader, citewell user token NAME --widget"
        raise Refused(403, "not_allowed", f"{holder.user_id} is {holder.role}; pages of other sites use a reader's token", hint)
    if holder.scope == "widget" and (path not in WIDGET or method != "POST"):  # GET would list what all visitors have said
        hint = "use another token: citewell user token NAME"
        raise Refused(403, "not_allowed", f"this token is for the chat element: it is not good for {method} {path[:100]}", hint)


def _check_csrf(headers: Headers, csrf: str) -> None:
    """The page that sends a cookie must be ours: it alone could read this. Raises Refused."""
    if not hmac.compare_digest(headers.get("x-csrf-token", "").encode(), csrf.encode()):
        hint = "send X-CSRF-Token with the csrf of GET /api/me; programs send Authorization: Bearer TOKEN instead of a cookie"
        raise Refused(403, "csrf", "the X-CSRF-Token is missing or wrong", hint)
