"""`/api/users`: who may sign in, for admins: list, add, give a role, make and revoke tokens,
remove. A token is in one reply and nowhere else, the log among it. Each change is in the log of
administration, which says who did it (store/users/audit.py).
"""

from __future__ import annotations

from fastapi import APIRouter, Depends, Request
from pydantic import BaseModel, Field

from citewell.interfaces.http.body import Closed, JSONRoute
from citewell.interfaces.http.deps import Admin, Citewell, get_caller
from citewell.interfaces.http.errors import Refused
from citewell.messages import Text
from citewell.service.admin import users as service
from citewell.service.admin.users import Added, UserWithTokens
from citewell.store.users.access_tokens import Made, TokenInfo
from citewell.store.users.user_rows import LONGEST_NAME, Role, User


def _require_sign_in(request: Request) -> None:
    """Where nobody signs in, whoever reaches the port could make a token now and use it once users
    count. Raises Refused.
    """
    if get_caller(request.scope).auth == "none":
        hint = Text(
            'set auth = "token" and start the server; until then `citewell user add '
            "NAME` adds users"
        )
        raise Refused(
            409,
            "no_sign_in",
            Text("nobody signs in here, so there are no users to look after"),
            hint,
        )


router = APIRouter(
    prefix="/api/users",
    tags=["users"],
    dependencies=[Depends(_require_sign_in)],
    route_class=JSONRoute,
)


class NewToken(Closed):
    """`name`: what it is for. `days`: how long it is good; left out: until it is revoked.
    `collection` or `site`: for the chat element, which may ask that and nothing else.
    """

    name: str = Field("", max_length=LONGEST_NAME)
    days: float | None = Field(None, gt=0, le=36_500)
    collection: str = Field("", max_length=200)
    site: str = Field("", max_length=200)


class NewUser(Closed):
    """With a first token, of the name and the days that are said."""

    user_id: str = Field(min_length=1, max_length=200)
    role: Role = "reader"
    token_name: str = Field("", max_length=LONGEST_NAME)
    days: float | None = Field(None, gt=0, le=36_500)


class NewRole(Closed):
    role: Role


class Listed(BaseModel):
    users: list[UserWithTokens]


class Revoked(BaseModel):
    revoked: list[TokenInfo]


@router.get("")
async def list_users(app: Citewell, _: Admin) -> Listed:
    """In the order of their names, each with what is known of their tokens."""
    return Listed(users=await service.list_users(app))


@router.post("", status_code=201)
async def add_user(body: NewUser, app: Citewell, _: Admin) -> Added:
    """A user and their first token, which no later reply tells."""
    return await service.add_user(app, body.user_id, body.role, body.token_name, days=body.days)


@router.patch("/{name}")
async def change_role(name: str, body: NewRole, app: Citewell, _: Admin) -> User:
    """Another role, from the next request on. The last admin stays one."""
    return await app.users.set_role(name, body.role)


@router.delete("/{name}", status_code=204)
async def remove_user(name: str, app: Citewell, _: Admin) -> None:
    """With tokens and sessions; what they asked and added stays. The last admin stays."""
    await app.users.remove(name, keep_admin=True)


@router.post("/{name}/tokens", status_code=201)
async def make_token(name: str, app: Citewell, _: Admin, body: NewToken | None = None) -> Made:
    """Another token of a user, which no later reply tells."""
    wish = body or NewToken()
    if wish.collection or wish.site:
        bound = {"collection": wish.collection, "site": wish.site}
        return await service.make_widget_token(app, name, wish.name, days=wish.days, **bound)
    return await service.make_token(app, name, wish.name, days=wish.days)


@router.delete("/{name}/tokens")
async def revoke_tokens(name: str, app: Citewell, _: Admin) -> Revoked:
    """All tokens of a user; who signed in with them is signed out."""
    return Revoked(revoked=list(await app.users.revoke_all(name)))


@router.delete("/{name}/tokens/{token_id}")
async def revoke_token(name: str, token_id: str, app: Citewell, _: Admin) -> Revoked:
    """One token, where it is this user's."""
    return Revoked(revoked=[await app.users.revoke_token(token_id, name)])
