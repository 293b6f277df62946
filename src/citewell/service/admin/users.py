"""Users and their tokens: add, list, change the role, make and revoke tokens, remove. A token is
handed out once, by the call that makes it.
"""

from __future__ import annotations

from citewell.errors import InvalidInput
from citewell.messages import Text
from citewell.runtime.access_scope import get_user_view
from citewell.runtime.app import App
from citewell.service.admin.widget_scope import build_binding, check_binding
from citewell.store.users.access_tokens import Made, TokenInfo
from citewell.store.users.user_rows import User
from citewell.types import Shown


class UserWithTokens(User):
    known: list[TokenInfo]


class Added(Shown):
    user: User
    token: str
    info: TokenInfo


async def add_user(
    app: App, name: str, role: str = "", token_name: str = "", *, days: float | None = None
) -> Added:
    """With a first token. No role said: the first user is an admin, all others are readers. Raises
    Conflict, InvalidInput.
    """
    check_days(days)
    user, made = await app.users.add_with_token(name, role, token_name, days=days)
    return Added(user=user, token=made.token, info=made.info)


async def list_users(app: App) -> list[UserWithTokens]:
    """In the order of their names, each with their tokens."""
    return [
        UserWithTokens(**user.model_dump(), known=list(await app.users.tokens(user.user_id)))
        for user in await app.users.list()
    ]


async def make_token(
    app: App, name: str, token_name: str = "", *, days: float | None = None
) -> Made:
    """Another token of a user. Raises NotFound, InvalidInput."""
    check_days(days)
    user = await app.users.get(name)
    return await app.users.make_token(user.user_id, token_name, days=days)


async def make_widget_token(
    app: App,
    name: str,
    token_name: str = "",
    *,
    days: float | None = None,
    collection: str = "",
    site: str = "",
) -> Made:
    """A token for the chat element on a page that everybody reads: good for asking one collection,
    or one site that is kept, and for feedback, and only where its user is a reader. Raises
    NotFound, InvalidInput.
    """
    check_days(days)
    user = await app.users.get(name)
    if user.role != "reader":
        hint = Text(
            "a token on a page is everybody's: citewell user add NAME --role reader, "
            "and make it for them; {name} may do more",
            name=name,
        )
        raise InvalidInput(
            Text("{user_id} is {role}, not reader", user_id=user.user_id, role=user.role), hint=hint
        )
    binding = build_binding(collection, site)
    await check_binding(get_user_view(app, user.user_id, user.role), binding)
    return await app.users.make_token(
        user.user_id, token_name or binding.name, days=days, scope="widget", bound=str(binding)
    )


async def revoke_tokens(app: App, name_or_token: str) -> list[TokenInfo]:
    """One token by its id (`tok_...`), or all of a user's. Raises NotFound."""
    if name_or_token.startswith("tok_"):
        return [await app.users.revoke_token(name_or_token)]
    return list(await app.users.revoke_all(name_or_token))


def check_days(days: float | None) -> None:
    if days is not None and not 0 < days <= 36_500:
        raise InvalidInput(
            Text("{days:g} days: not allowed", days=days),
            hint=Text("more than 0; leave it out for a token that is good until revoked"),
        )
