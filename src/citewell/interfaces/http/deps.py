"""Dependencies of routes: the caller, and the App as the caller may see it. Both come with the
request, never from a global; access.py has authenticated the caller before any route.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Annotated, Literal, cast

from fastapi import Depends, Query, Request
from pydantic import BaseModel
from starlette.types import Scope

from citewell.interfaces.http.errors import Refused
from citewell.messages import Text
from citewell.runtime.access_scope import get_user_view, is_role_at_least, make_role_error
from citewell.runtime.app import App
from citewell.store.users.identity import normalize_user_id
from citewell.store.users.user_rows import Role

LOCAL = "local"  # who asks on this machine where nobody signs in and no name is said
# where observe.py leaves the request as those who look on know it (citewell.instrumentation)
DOING = "citewell.doing"
CALLER = "citewell.caller"  # where access.py leaves it in a request's scope
# where access.py leaves what counts a request of a user, for who does not know yet whose it is
ASKED = "citewell.asked"
# and what raises where the caller is let in no more; none where nobody signs in
STILL = "citewell.still"
LOOK = 3.0  # seconds between two such looks
READING = frozenset({"GET", "HEAD", "OPTIONS"})


@dataclass(frozen=True)
class Caller:
    """Who sends the request, and what they may do. `csrf`: the token that the page sends with
    requests that change something. `visitor`: from a page of another site. `bound`: the only
    collection or site that may be asked (service/admin/widget_scope.py); None: whatever the role
    allows.
    """

    user_id: str
    role: Role
    auth: Literal["none", "token"] = "none"
    csrf: str = ""
    visitor: bool = False
    bound: tuple[str, ...] | None = None

    def resolve_user(self, said: str | None) -> str:
        """The user that a request is about, perhaps named (`said`). Raises Refused for others."""
        if said is None or self.visitor:
            return self.user_id
        if self.auth == "none":
            return said
        if normalize_user_id(said) != self.user_id:
            hint = Text("leave user_id out: the token says who asks")
            raise Refused(
                403,
                "other_user",
                Text(
                    "{user_id} may not ask or change anything as {said!r}",
                    user_id=self.user_id,
                    said=said[:64],
                ),
                hint,
            )
        return self.user_id

    def of(self, body: BaseModel) -> str:
        """The same for a body that may hold a `user_id`."""
        return self.resolve_user(
            getattr(body, "user_id", None) if "user_id" in body.model_fields_set else None
        )


def get_caller(scope: Scope) -> Caller:
    """The caller, as access.py found out: for applications mounted beside the routes."""
    return cast("Caller", scope[CALLER])


async def recheck_access(scope: Scope) -> None:
    """For connections that stay open: check that access is still allowed. Raises Refused (401)."""
    if STILL in scope:
        await cast("Callable[[], Awaitable[None]]", scope[STILL])()


def get_app_view(scope: Scope) -> App:
    """The App as the caller may see it: for applications mounted beside the routes."""
    caller = get_caller(scope)
    return get_user_view(cast("App", scope["app"].state.citewell), caller.user_id, caller.role)


def _get_app(request: Request) -> App:
    return get_app_view(request.scope)


def _get_asking_caller(
    request: Request,
    user_id: Annotated[
        str | None,
        Query(description="whose; with users only an admin names another, and only to read"),
    ] = None,
) -> Caller:
    """With the user that the address names: everybody's own choice without users; else an admin may
    read another's.
    """
    caller = get_caller(request.scope)
    if (
        user_id is not None
        and caller.auth == "token"
        and caller.role == "admin"
        and request.method in READING
    ):
        return replace(caller, user_id=normalize_user_id(user_id))
    return replace(caller, user_id=caller.resolve_user(user_id))


Citewell = Annotated[App, Depends(_get_app)]
Asking = Annotated[Caller, Depends(_get_asking_caller)]


class _AtLeast:
    """A caller of this role or a greater one. Raises NotAllowed."""

    def __init__(self, role: Role) -> None:
        self.role = role

    def __call__(self, request: Request, caller: Asking) -> Caller:
        if not is_role_at_least(caller.role, self.role):
            raise make_role_error(
                caller.user_id, caller.role, self.role, f"{request.method} {request.url.path[:100]}"
            )
        return caller


Editor = Annotated[Caller, Depends(_AtLeast("editor"))]
Reviewer = Annotated[Caller, Depends(_AtLeast("reviewer"))]
Admin = Annotated[Caller, Depends(_AtLeast("admin"))]
