"""Who asks is found out here, before any route sees the request. What is not in `OPEN` is closed. A
new path, a mounted application, a page that does not exist: nobody who has not signed in gets an
answer from it. Without users (`auth = "none"`) everybody who reaches this machine's own address is
let in.
"""

from __future__ import annotations

import hmac
from functools import partial
from typing import cast

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from citewell.config import Settings
from citewell.errors import CitewellError
from citewell.interfaces.http.deps import ASKED, CALLER, LOCAL, READING, STILL, Caller
from citewell.interfaces.http.errors import (
    REFUSAL,
    Refused,
    build_json_reply,
    get_error_status,
    get_redactor,
)
from citewell.interfaces.http.security.rates import Rates
from citewell.interfaces.http.security.request_headers import (
    get_bearer_token,
    get_client_address,
    get_session_cookie,
    is_local_request,
)
from citewell.interfaces.problem import to_problem
from citewell.messages import Text
from citewell.runtime.app import App
from citewell.store.dialects.fence import FENCE
from citewell.store.users.access_tokens import Holder
from citewell.store.users.actor import ACTOR, Actor
from citewell.store.users.identity import VISITOR
from citewell.store.users.sign_ins import Lifetime, compute_csrf_token

OPEN = frozenset({"/", "/api/health", "/api/ready", "/api/sign-in", "/widget.js"})
OPEN_BELOW = ("/assets/",)
# what the chat element on a page of another site posts to
WIDGET = frozenset({"/api/ask", "/api/feedback"})
METRICS = "/metrics"
ANYBODY = Caller("", "reader", "token")  # who has not signed in, where that is not needed
BEARER = {"WWW-Authenticate": "Bearer"}


class Access:
    """ASGI middleware. Leaves the Caller in the request's scope."""

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self.app = app
        self.settings = settings
        self._rates: Rates | None = None

    def _get_rates(self, app: App) -> Rates:
        """Made when the App is open."""
        if self._rates is None:
            self._rates = Rates(self.settings.access, app.db)
        return self._rates

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":  # there are none
            await send({"type": "websocket.close", "code": 1008})
            return
        if scope["type"] == "http":
            try:
                scope[CALLER] = await self._identify_caller(scope)
                caller: Caller = scope[CALLER]
                ACTOR.set(Actor(caller.user_id, "http"))
                fenced = caller.auth == "token" and caller.role != "admin"
                FENCE.set(caller.user_id if fenced else "")
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
        rates = self._get_rates(cast("App", scope["app"].state.citewell))

        async def count_message(message: Message) -> None:
            nonlocal over
            if (
                message["type"] == "http.response.start"
                and 400 <= message["status"] < 500
                and message["status"] != 429
            ):
                try:
                    await rates.count_attempt(address)
                except Refused as error:
                    over, scope[REFUSAL] = True, error
                    await build_json_reply(error.status, to_problem(error), error.headers)(
                        scope, receive, send
                    )
            if not over:
                await send(message)

        return count_message

    async def _identify_caller(self, scope: Scope) -> Caller:
        headers, path = Headers(scope=scope), str(scope["path"])
        visits = scope.get("citewell.visitor", False)
        address = get_client_address(scope, self.settings.access.proxies)
        if self.settings.auth == "none" and not visits:
            return Caller(LOCAL, "admin")
        app = cast("App", scope["app"].state.citewell)
        rates = self._get_rates(app)
        if self.settings.auth == "none":
            await rates.visit(address, VISITOR)
            return Caller(VISITOR, "reader", visitor=True, bound=self.settings.access.public)
        scope[ASKED] = rates.request
        if (
            path in OPEN
            or path.startswith(OPEN_BELOW)
            or (path == METRICS and is_local_request(scope, headers, self.settings.access))
        ):
            return ANYBODY
        caller, holder = await self._authenticate_caller(app, headers, address, visits=visits)
        # many people under one name: no one of them may spend what is everybody's
        if holder.scope == "widget":
            _check_widget(holder, path, scope["method"])
            await rates.visit(address, holder.token_id)
            return caller
        await rates.request(caller.user_id)
        if visits:  # it is bound to nothing: readers of the page could ask all that its user may
            hint = Text(
                "make one that says what the page may ask: citewell user token NAME "
                "--widget --collection C, or --site S"
            )
            raise Refused(
                403,
                "not_allowed",
                Text(
                    "this token of {user_id} is not for pages of other sites",
                    user_id=holder.user_id,
                ),
                hint,
            )
        if path == METRICS and caller.role != "admin":
            raise Refused(
                403,
                "not_allowed",
                Text("{path} is for admins", path=path),
                Text("ask for it on the machine itself, or with an admin's token"),
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
                await self._get_rates(app).count_attempt(address)
                raise Refused(
                    401,
                    "wrong_token",
                    Text("the token is unknown, was revoked, or has run out"),
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


_NEW = Text("`citewell user token NAME` makes a new one")


def _build_sign_in_error() -> Refused:
    hint = Text(
        "send Authorization: Bearer TOKEN, or sign in on the page; `citewell user add "
        "NAME` makes a user and a token"
    )
    return Refused(401, "not_signed_in", Text("nobody is signed in"), hint, headers=BEARER)


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


def get_session_lifetime(settings: Settings) -> Lifetime:
    return Lifetime(settings.access.session_hours * 3600, settings.access.idle_hours * 3600)


def _check_widget(holder: Holder, path: str, method: str) -> None:
    """A token in a page is everybody's, so it is good for little. Raises Refused."""
    if holder.role != "reader":
        hint = Text(
            "a token on a page is everybody's: make one for a reader, citewell user "
            "token NAME --widget"
        )
        raise Refused(
            403,
            "not_allowed",
            Text(
                "{user_id} is {role}; pages of other sites use a reader's token",
                user_id=holder.user_id,
                role=holder.role,
            ),
            hint,
        )
    if path not in WIDGET or method != "POST":  # GET would list what all visitors have said
        hint = Text("use another token: citewell user token NAME")
        raise Refused(
            403,
            "not_allowed",
            Text(
                "this token is for the chat element: it is not good for {method} {path}",
                method=method,
                path=path[:100],
            ),
            hint,
        )


def _check_csrf(headers: Headers, csrf: str) -> None:
    """The page that sends a cookie must be ours: it alone could read this. Raises Refused."""
    if not hmac.compare_digest(headers.get("x-csrf-token", "").encode(), csrf.encode()):
        hint = Text(
            "send X-CSRF-Token with the csrf of GET /api/me; programs send "
            "Authorization: Bearer TOKEN instead of a cookie"
        )
        raise Refused(403, "csrf", Text("the X-CSRF-Token is missing or wrong"), hint)
