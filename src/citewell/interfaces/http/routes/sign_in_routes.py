"""`/api/me`, `/api/sign-in`, `/api/sign-out`: who is asking, and the page's session. The token is
sent once; from then on the browser has a cookie that no script can read, and that other sites'
pages cannot send.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Literal, cast

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, Field

from citewell.config import Settings
from citewell.interfaces.http.body import Closed, JSONRoute
from citewell.interfaces.http.deps import ASKED, Caller, Citewell, get_caller
from citewell.interfaces.http.errors import Refused
from citewell.interfaces.http.security.access import BEARER, get_session_lifetime
from citewell.interfaces.http.security.request_headers import COOKIE, get_session_cookie, is_https
from citewell.messages import Text
from citewell.store.users.sign_ins import compute_csrf_token
from citewell.store.users.user_rows import Role

router = APIRouter(prefix="/api", tags=["sign-in"], route_class=JSONRoute)


class Me(BaseModel):
    """`csrf`: what the page sends back as `X-CSRF-Token`; empty where no cookie signs it in.
    `collection`: where questions go that name none. `home`: the folder where all of it is kept,
    told to admins only. `largest_file`: the most bytes of one.
    """

    user_id: str
    role: Role
    auth: Literal["none", "token"]
    csrf: str
    collection: str
    home: str = ""
    largest_file: int = 0


class Token(Closed):
    token: str = Field(max_length=200)


@router.get("/me", operation_id="get_me")
async def me(request: Request, app: Citewell, user_id: str | None = None) -> Me:
    """Who is signed in; 401 where nobody is. Without users it is whom the address names."""
    caller = get_caller(request.scope)
    return _describe_caller(
        replace(caller, user_id=caller.resolve_user(user_id)) if caller.auth == "none" else caller,
        app.settings,
    )


@router.post("/sign-in")
async def sign_in(body: Token, request: Request, response: Response, app: Citewell) -> Me:
    """A cookie in exchange for a token: a request of its user as every other. Without users there
    is nothing to do.
    """
    caller = get_caller(request.scope)
    if caller.auth == "none":
        return _describe_caller(caller, app.settings)
    holder = await app.users.holder(body.token.strip())
    if holder is None:
        hint = Text("paste it whole, from cw_ on; `citewell user token NAME` makes a new one")
        raise Refused(
            401,
            "wrong_token",
            Text("the token is unknown, was revoked, or has run out"),
            hint,
            headers=BEARER,
        )
    if holder.scope:  # everybody has it: it must not use up what its user may ask
        raise Refused(
            403,
            "not_allowed",
            Text("this token is for the chat element"),
            Text("sign in with another: citewell user token NAME"),
        )
    await cast("Callable[[str], Awaitable[None]]", request.scope[ASKED])(holder.user_id)
    await app.users.forget_ended(get_session_lifetime(app.settings))
    if old := get_session_cookie(request.headers):
        await app.users.sign_out(old)
    secret = await app.users.sign_in(holder.token_id)
    _set_cookie(
        response, secret, app.settings, https=is_https(request.scope, app.settings.access.proxies)
    )
    return _describe_caller(
        Caller(holder.user_id, holder.role, "token", compute_csrf_token(secret)), app.settings
    )


@router.post("/sign-out", status_code=204)
async def sign_out(request: Request, response: Response, app: Citewell) -> None:
    """The page's session ends. A token stays good: `citewell user revoke` ends that."""
    if secret := get_session_cookie(request.headers):
        await app.users.sign_out(secret)
    response.delete_cookie(COOKIE, path="/", httponly=True, samesite="strict")


def _describe_caller(caller: Caller, settings: Settings) -> Me:
    home = str(settings.home) if caller.role == "admin" else ""
    return Me(
        user_id=caller.user_id,
        role=caller.role,
        auth=caller.auth,
        csrf=caller.csrf,
        collection=settings.collection,
        home=home,
        largest_file=settings.ingest.max_bytes,
    )


def _set_cookie(response: Response, secret: str, settings: Settings, *, https: bool) -> None:
    seconds = int(settings.access.session_hours * 3600)
    response.set_cookie(
        COOKIE, secret, max_age=seconds, path="/", httponly=True, samesite="strict", secure=https
    )
