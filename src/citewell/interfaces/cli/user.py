"""`citewell user`: users and their tokens. The one rule: a token is printed once, alone on its
line, and never again.
"""

from __future__ import annotations

import time
from typing import Annotated

import typer

from citewell.interfaces.cli.arguments import Days, Json, Label, UserName, Yes
from citewell.interfaces.cli.group import create_group
from citewell.interfaces.cli.run import DONE, ERROR, run
from citewell.interfaces.cli.terminal import (
    ask_confirmation,
    escape_line_breaks,
    get_stderr,
    get_stdout,
    print_json,
    print_warning,
    style_text,
    write_paragraph,
)
from citewell.interfaces.cli.user_forget import run_forget
from citewell.interfaces.cli.user_token import print_token, run_revoke, run_token, warn_not_in_force
from citewell.runtime.app import App
from citewell.service.admin import users as service
from citewell.service.admin.users import UserWithTokens
from citewell.service.admin.widget_scope import parse_binding
from citewell.store.users.access_tokens import TokenInfo

ROLES = "reader, editor, reviewer or admin"


def run_add(
    name: UserName,
    role: Annotated[
        str, typer.Option("--role", help=f"{ROLES}.", show_default="reader; the first user: admin")
    ] = "",
    token_name: Label = "",
    days: Days = None,
    json: Json = False,
) -> None:
    """Add a user, and show their first token, this once."""
    run(lambda app: add_user(app, name, role, token_name, days, json=json), json=json)


def run_list(json: Json = False) -> None:
    """List users, their roles and their tokens."""
    run(lambda app: show_users(app, json=json), json=json)


def run_role(
    name: UserName,
    role: Annotated[str, typer.Argument(metavar="ROLE", help=f"{ROLES}.", show_default=False)],
    json: Json = False,
) -> None:
    """Give a user another role."""
    run(lambda app: set_role(app, name, role, json=json), json=json)


def run_remove(name: UserName, yes: Yes = False, json: Json = False) -> None:
    """Remove a user and their tokens. What they asked and added stays."""
    run(lambda app: remove_user(app, name, yes=yes, json=json), json=json)


async def add_user(
    app: App, name: str, role: str, token_name: str, days: float | None, *, json: bool
) -> int:
    added = await service.add_user(app, name, role, token_name, days=days)
    if json:
        print_json(added.model_dump(mode="json"))
    else:
        write_paragraph(
            get_stderr(),
            style_text(
                f"added {escape_line_breaks(added.user.user_id)}, {added.user.role}. Their "
                "token, shown "
                "this once:"
            ),
        )
        print_token(added.token)
    if not any(user.role == "admin" for user in await app.users.list()):
        print_warning(
            "there is no admin yet: `citewell user role "
            f"{escape_line_breaks(added.user.user_id)} admin` "
            "makes one"
        )
    warn_not_in_force(app)
    return DONE


async def show_users(app: App, *, json: bool) -> int:
    users = await service.list_users(app)
    if json:
        print_json({"users": [user.model_dump(mode="json") for user in users]})
        return DONE
    if not users:
        write_paragraph(
            get_stdout(),
            style_text("there are no users; `citewell user add NAME` adds the first, an admin"),
        )
    for user in users:
        _print_user(user)
    return DONE


async def set_role(app: App, name: str, role: str, *, json: bool) -> int:
    user = await service.set_role(app, name, role)
    if json:
        print_json(user.model_dump(mode="json"))
    else:
        write_paragraph(
            get_stdout(), style_text(f"{escape_line_breaks(user.user_id)} is {user.role} now")
        )
    return DONE


async def remove_user(app: App, name: str, *, yes: bool, json: bool) -> int:
    user = await app.users.get(name)
    if not yes and not ask_confirmation(
        f"Remove {escape_line_breaks(user.user_id)} and their tokens? [y/N] ", "removes"
    ):
        write_paragraph(get_stderr(), style_text("nothing removed"))
        return ERROR
    gone = await service.remove_user(app, user.user_id)
    if json:
        print_json(gone.model_dump(mode="json"))
    else:
        write_paragraph(
            get_stdout(),
            style_text(
                f"removed {escape_line_breaks(gone.user_id)}; what they asked and added stays "
                "under their "
                "name"
            ),
        )
        write_paragraph(
            get_stderr(),
            style_text(
                f"`citewell user forget {escape_line_breaks(gone.user_id)}` deletes that, too",
                "dim",
            ),
        )
    return DONE


def _print_user(user: UserWithTokens) -> None:
    write_paragraph(
        get_stdout(),
        style_text(escape_line_breaks(user.user_id), "cyan")
        + style_text(f" {user.role}, since {_format_day(user.created_at)}", "dim"),
    )
    for token in user.known:
        write_paragraph(
            get_stdout(),
            style_text(f"{token.token_id} {escape_line_breaks(token.name)}")
            + style_text(_format_token_facts(token), "dim"),
            indent=2,
        )


def _format_token_facts(token: TokenInfo) -> str:
    used = f", last used {_format_day(token.used_at)}" if token.used_at else ", never used"
    over = bool(token.expires) and token.expires <= time.time()
    until = (
        f", {'ran out' if over else 'runs out'} {_format_day(token.expires)}"
        if token.expires
        else ""
    )
    asks = f": {escape_line_breaks(parse_binding(token.bound).words)}" if token.bound else ""
    widget = f", for the chat element{asks}" if token.scope == "widget" else ""
    made = _format_day(token.created_at)
    # a token without a name of its own is called by the day
    named = "" if token.name == made else f" made {made}"
    return f"{named}{used}{until}{widget}"


def _format_day(at: float) -> str:
    return time.strftime("%Y-%m-%d", time.localtime(at))


group = create_group(
    'Users and their tokens, for auth = "token" (docs/security.md).',
    {
        "add": run_add,
        "list": run_list,
        "token": run_token,
        "revoke": run_revoke,
        "role": run_role,
        "remove": run_remove,
        "forget": run_forget,
    },
)
