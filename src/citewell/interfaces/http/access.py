"""Who asks is found out here, before any route sees the request.

The one rule: what is not in `OPEN` is closed. A new path, a mounted application, a page that does
not exist: nobody who has not signed in gets an answer from it. Without users (`auth = "none"`)
everybody who reaches this machine's own address is let in.
"""

from __future__ import annotations

import hmac
import ipaddress
from contextlib import suppress
from functools import partial
from typing import cast

from starlette.datastructures import Headers
from starlette.requests import cookie_parser
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from citewell.config import AccessSettings, Settings
from citewell.errors import CitewellError
from citewell.interfaces.http.deps import ASKED, CALLER, LOCAL, READING, STILL, Caller
from citewell.interfaces.http.errors import (
    REFUSAL,
    Refused,
    build_json_reply,
    get_error_status,
    get_redactor,
)
from citewell.interfaces.http.rates import Rates
from citewell.interfaces.problem import to_problem
from citewell.runtime.app import App
from citewell.store.users.access_tokens import Holder
from citewell.store.users.actor import ACTOR, Actor
from citewell.store.users.identity import VISITOR
from citewell.store.users.sign_ins import Lifetime, compute_csrf_token

COOKIE = "citewell_session"
OPEN = frozenset({"/", "/api/health", "/api/ready", "/api/sign-in", "/widget.js"})
OPEN_BELOW = ("/assets/",)
# what the chat element on a page of another site posts to
WIDGET = frozenset({"/api/ask", "/api/feedback"})
METRICS = "/metrics"
ANYBODY = Caller("", "reader", "token")  # who has not signed in, where that is not needed
FORWARDED = frozenset({"forwarded", "via", "x-real-ip"})  # and all of X-Forwarded-: a proxy's
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
                scope[CALLER] = await self._identify_caller(scope)
                ACTOR.set(Actor(scope[CALLER].user_id, "http"))
            except CitewellError as error:
                scope[REFUSAL] = error
                headers = error.headers if isinstance(error, Refused) else None
                await build_json_reply(
                    get_error_status(error), to_problem(error, get_redactor(scope["app"])), headers
                )(scope, receive, send)
                return
            if scope[CALLER] is ANYBODY and scope["method"] not in READING:
                send = self._count_failed_tries(scope, receive, send)
        await self.app(scope, receive, send)

    def _count_failed_tries(self, scope: Scope, receive: Receive, send: Send) -> Send:
        """Who is not known yet and sends something has tried to be let in. Whatever it is refused
        for counts: a token that is nobody's, one that is no good here, a body that cannot be read.
        A limit of its user that is reached counts there.
        """
        address, over = get_client_address(scope, self.settings.access.proxies), False

        async def counted(message: Message) -> None:
            nonlocal over
            if (
                message["type"] == "http.response.start"
                and 400 <= message["status"] < 500
                and message["status"] != 429
            ):
                try:
                    await self.rates.attempt(address)
                except Refused as error:
                    over, scope[REFUSAL] = True, error
                    await build_json_reply(error.status, to_problem(error), error.headers)(
                        scope, receive, send
                    )
            if not over:
                await send(message)

        return counted

    async def _identify_caller(self, scope: Scope) -> Caller:
        headers, path = Headers(scope=scope), str(scope["path"])
        visits = scope.get("citewell.visitor", False)
        address = get_client_address(scope, self.settings.access.proxies)
        if self.settings.auth == "none":
            if not visits:
                return Caller(LOCAL, "admin")
            await self.rates.visit(address, VISITOR)
            return Caller(VISITOR, "reader", visitor=True, bound=self.settings.access.public)
        scope[ASKED] = self.rates.request
        if (
            path in OPEN
            or path.startswith(OPEN_BELOW)
            or (path == METRICS and _is_local_request(scope, headers, self.settings.access))
        ):
            return ANYBODY
        app = cast("App", scope["app"].state.citewell)
        caller, holder = await self._authenticate_caller(app, headers, address, visits=visits)
        # many people under one name: no one of them may spend what is everybody's
        if holder.scope == "widget":
            _check_widget(holder, path, scope["method"])
            await self.rates.visit(address, holder.token_id)
            return caller
        await self.rates.request(caller.user_id)
        if visits:  # it is bound to nothing: readers of the page could ask all that its user may
            hint = (
                "make one that says what the page may ask: citewell user token NAME --widget "
                "--collection C, or --site S"
            )
            raise Refused(
                403,
                "not_allowed",
                f"this token of {holder.user_id} is not for pages of other sites",
                hint,
            )
        if path == METRICS and caller.role != "admin":
            raise Refused(
                403,
                "not_allowed",
                f"{path} is for admins",
                "ask for it on the machine itself, or with an admin's token",
            )
        if caller.csrf and scope["method"] not in READING:
            _check_csrf(headers, caller.csrf)
        scope[STILL] = partial(
            _recheck_caller, app, headers, caller, get_session_lifetime(self.settings)
        )
        return caller

    async def _authenticate_caller(
        self, app: App, headers: Headers, address: str, *, visits: bool
    ) -> tuple[Caller, Holder]:
        """By a token, or by the page's cookie. Raises Refused (401)."""
        if token := get_bearer_token(headers):
            holder = await app.users.holder(token)
            if holder is None:
                await self.rates.attempt(address)
                raise Refused(
                    401,
                    "wrong_token",
                    "the token is unknown, was revoked, or has run out",
                    _NEW,
                    headers=BEARER,
                )
            if holder.scope == "widget":
                bound = (holder.bound,) if holder.bound else self.settings.access.public
                return Caller(holder.user_id, "reader", "token", visitor=True, bound=bound), holder
            return Caller(holder.user_id, holder.role, "token"), holder
        secret = get_session_cookie(headers)
        if secret and not visits:
            holder = await app.users.find_session_holder(
                secret, get_session_lifetime(self.settings)
            )
            if holder is not None:
                return Caller(
                    holder.user_id, holder.role, "token", compute_csrf_token(secret)
                ), holder
        raise _build_sign_in_error()


_NEW = "`citewell user token NAME` makes a new one"


def _build_sign_in_error() -> Refused:
    hint = (
        "send Authorization: Bearer TOKEN, or sign in on the page; `citewell user add NAME` "
        "makes a user and a token"
    )
    return Refused(401, "not_signed_in", "nobody is signed in", hint, headers=BEARER)


async def _recheck_caller(app: App, headers: Headers, caller: Caller, life: Lifetime) -> None:
    """A stream goes on for as long as its beginner is let in, with the role that they had. No use
    of the token or the page's session is noted. Raises Refused (401).
    """
    token = get_bearer_token(headers)
    found = (
        app.users.holder(token, note=False)
        if token
        else app.users.find_session_holder(get_session_cookie(headers), life, note=False)
    )
    holder = await found
    if holder is None or holder.role != caller.role:
        raise _build_sign_in_error()


def get_bearer_token(headers: Headers) -> str:
    """The one that a program shows; empty where there is none."""
    kind, _, token = headers.get("authorization", "").partition(" ")
    return token.strip() if kind.lower() == "bearer" else ""


def get_session_lifetime(settings: Settings) -> Lifetime:
    return Lifetime(settings.access.session_hours * 3600, settings.access.idle_hours * 3600)


def get_session_cookie(headers: Headers) -> str:
    """The secret of the page's session; empty where there is none."""
    return cookie_parser(headers.get("cookie", "")).get(COOKIE, "")


def get_client_address(scope: Scope, proxies: tuple[str, ...]) -> str:
    """Where a request comes from: the last address that a proxy we believe has seen, else who is
    connected.
    """
    client, believed = _get_peer_address(scope), {normalize_address(each) for each in proxies}
    if client in believed:
        seen = [normalize_address(each) for each in _list_header_values(scope, "x-forwarded-for")]
        return next((each for each in reversed(seen) if each not in believed), client)
    return client


def is_https(scope: Scope, proxies: tuple[str, ...]) -> bool:
    """Whether who asks does so by https: from here, or from a proxy we believe, whose word is the
    last.
    """
    said = (
        _list_header_values(scope, "x-forwarded-proto")
        if _get_peer_address(scope) in {normalize_address(each) for each in proxies}
        else []
    )
    return (said[-1] if said else str(scope.get("scheme", ""))).lower() == "https"


def _get_peer_address(scope: Scope) -> str:
    """Who is connected."""
    return normalize_address(str((scope.get("client") or ("",))[0]))


def _list_header_values(scope: Scope, name: str) -> list[str]:
    """What all headers of this name list: a client sends one of its own, and a proxy may add
    another below it.
    """
    return [
        part.strip()
        for line in Headers(scope=scope).getlist(name)
        for part in line.split(",")
        if part.strip()
    ]


def normalize_address(address: str) -> str:
    """An address without its port, written one way."""
    alone = address.partition("]")[0].removeprefix("[") if address.startswith("[") else address
    if alone.count(":") == 1:
        alone = alone.partition(":")[0]
    with suppress(ValueError):
        found = ipaddress.ip_address(alone)
        return str(getattr(found, "ipv4_mapped", None) or found)
    return alone


def _is_local_request(scope: Scope, headers: Headers, access: AccessSettings) -> bool:
    """From this machine itself. Not where others come through a proxy on it, which need not say so
    in a header.
    """
    if (
        access.proxies
        or access.hosts
        or any(name in FORWARDED or name.startswith("x-forwarded-") for name in headers)
    ):
        return False
    with suppress(ValueError):
        return ipaddress.ip_address(_get_peer_address(scope)).is_loopback
    return False


def _check_widget(holder: Holder, path: str, method: str) -> None:
    """A token that stands in a page is everybody's, whoever shows it, so it is good for little.
    Raises Refused.
    """
    if holder.role != "reader":
        hint = (
            "a token on a page is everybody's: make one for a reader, citewell user token NAME "
            "--widget"
        )
        raise Refused(
            403,
            "not_allowed",
            f"{holder.user_id} is {holder.role}; pages of other sites use a reader's token",
            hint,
        )
    if path not in WIDGET or method != "POST":  # GET would list what all visitors have said
        hint = "use another token: citewell user token NAME"
        raise Refused(
            403,
            "not_allowed",
            f"this token is for the chat element: it is not good for {method} {path[:100]}",
            hint,
        )


def _check_csrf(headers: Headers, csrf: str) -> None:
    """The page that sends a cookie must be ours: it alone could read this. Raises Refused."""
    if not hmac.compare_digest(headers.get("x-csrf-token", "").encode(), csrf.encode()):
        hint = (
            "send X-CSRF-Token with the csrf of GET /api/me; programs send Authorization: "
            "Bearer TOKEN instead of a cookie"
        )
        raise Refused(403, "csrf", "the X-CSRF-Token is missing or wrong", hint)
