"""`citewell user`: users and their tokens. A token is printed once, alone on its line."""

from __future__ import annotations

import time
from typing import Annotated

import typer

from citewell.interfaces.cli.admin.user_forget import forget_user
from citewell.interfaces.cli.admin.user_token import (
    make_token,
    print_token,
    revoke_tokens,
    warn_not_in_force,
)
from citewell.interfaces.cli.arguments import Days, Json, Label, UserName, Yes, argument
from citewell.interfaces.cli.group import create_group
from citewell.interfaces.cli.output.terminal import (
    ask_confirmation,
    escape_line_breaks,
    format_day,
    get_stderr,
    print_json,
    print_parts,
    print_text,
    print_warning,
    write_paragraph,
)
from citewell.interfaces.cli.run import DONE, ERROR, command
from citewell.runtime.app import App
from citewell.service.admin import users as service
from citewell.service.admin.users import UserWithTokens
from citewell.service.admin.widget_scope import parse_binding
from citewell.store.users.access_tokens import TokenInfo

ROLES = "reader, editor, reviewer or admin"


@command
async def add_user(
    app: App,
    name: UserName,
    role: Annotated[
        str, typer.Option("--role", help=f"{ROLES}.", show_default="reader; the first user: admin")
    ] = "",
    token_name: Label = "",
    days: Days = None,
    json: Json = False,
) -> int:
    """Add a user, and show their first token, this once."""
    added = await service.add_user(app, name, role, token_name, days=days)
    if json:
        print_json(added)
    else:
        write_paragraph(
            get_stderr(),
            f"added {escape_line_breaks(added.user.user_id)}, {added.user.role}. Their "
            "token, shown "
            "this once:",
        )
        print_token(added.token)
    if not any(user.role == "admin" for user in await app.users.list()):
        print_warning(
            "there is no admin yet: `citewell user role "
            f"{escape_line_breaks(added.user.user_id)} admin` "
            "makes one"
        )
    warn_not_in_force(app.settings)
    return DONE


@command
async def show_users(app: App, json: Json = False) -> int:
    """List users, their roles and their tokens."""
    users = await service.list_users(app)
    if json:
        return print_json({"users": users})
    if not users:
        print_text("there are no users; `citewell user add NAME` adds the first, an admin")
    for user in users:
        _print_user(user)
    return DONE


@command
async def set_role(
    app: App,
    name: UserName,
    role: Annotated[str, argument(f"{ROLES}.", "ROLE")],
    json: Json = False,
) -> int:
    """Give a user another role."""
    user = await app.users.set_role(name, role)
    if json:
        return print_json(user)
    print_text(f"{escape_line_breaks(user.user_id)} is {user.role} now")
    return DONE


@command
async def remove_user(app: App, name: UserName, yes: Yes = False, json: Json = False) -> int:
    """Remove a user and their tokens. What they asked and added stays."""
    user = await app.users.get(name)
    if not yes and not ask_confirmation(
        f"Remove {escape_line_breaks(user.user_id)} and their tokens? [y/N] ", "removes"
    ):
        write_paragraph(get_stderr(), "nothing removed")
        return ERROR
    gone = await app.users.remove(user.user_id)
    if json:
        return print_json(gone)
    print_text(
        f"removed {escape_line_breaks(gone.user_id)}; what they asked and added stays "
        "under their "
        "name"
    )
    write_paragraph(
        get_stderr(),
        f"`citewell user forget {escape_line_breaks(gone.user_id)}` deletes that, too",
        "dim",
    )
    return DONE


def _print_user(user: UserWithTokens) -> None:
    print_parts(
        (escape_line_breaks(user.user_id), "cyan"),
        (f" {user.role}, since {format_day(user.created_at)}", "dim"),
    )
    for token in user.known:
        print_parts(
            f"{token.token_id} {escape_line_breaks(token.name)}",
            (_format_token_facts(token), "dim"),
            indent=2,
        )


def _format_token_facts(token: TokenInfo) -> str:
    used = f", last used {format_day(token.used_at)}" if token.used_at else ", never used"
    over = bool(token.expires) and token.expires <= time.time()
    until = (
        f", {'ran out' if over else 'runs out'} {format_day(token.expires)}"
        if token.expires
        else ""
    )
    asks = f": {escape_line_breaks(parse_binding(token.bound).words)}" if token.bound else ""
    widget = f", for the chat element{asks}" if token.scope == "widget" else ""
    made = format_day(token.created_at)
    # a token without a name of its own is called by the day
    named = "" if token.name == made else f" made {made}"
    return f"{named}{used}{until}{widget}"


group = create_group(
    'Users and their tokens, for auth = "token" (docs/security.md).',
    {
        "add": add_user,
        "list": show_users,
        "token": make_token,
        "revoke": revoke_tokens,
        "role": set_role,
        "remove": remove_user,
        "forget": forget_user,
    },
)
