"""`citewell user ...`: names, arguments and help. The one rule: as in commands.py, the work is
imported when it is done.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from citewell.interfaces.cli.arguments import Json

if TYPE_CHECKING:
    from citewell.runtime.app import App

user_app = typer.Typer(
    help='Users and their tokens, for auth = "token" (docs/security.md).',
    no_args_is_help=True,
    rich_markup_mode=None,
)

Name = Annotated[str, typer.Argument(metavar="NAME", help="The user.", show_default=False)]
Days = Annotated[
    float | None,
    typer.Option("--days", help="Days that the token is good for.", show_default="until revoked"),
]
Label = Annotated[
    str,
    typer.Option("--name", help="What the token is for: laptop, backup.", show_default="the day"),
]
ROLES = "reader, editor, reviewer or admin"


@user_app.command(name="add")
def user_add(
    name: Name,
    role: Annotated[
        str, typer.Option("--role", help=f"{ROLES}.", show_default="reader; the first user: admin")
    ] = "",
    token_name: Label = "",
    days: Days = None,
    json: Json = False,
) -> None:
    """Add a user, and show their first token, this once."""
    from citewell.interfaces.cli.run import run
    from citewell.interfaces.cli.user import add_user

    run(lambda app: add_user(app, name, role, token_name, days, json=json), json=json)


@user_app.command(name="list")
def user_list(json: Json = False) -> None:
    """List users, their roles and their tokens."""
    from citewell.interfaces.cli.run import run
    from citewell.interfaces.cli.user import show_users

    run(lambda app: show_users(app, json=json), json=json)


@user_app.command(name="token")
def user_token(
    name: Name,
    token_name: Label = "",
    days: Days = None,
    widget: Annotated[
        bool,
        typer.Option("--widget", help="For the chat element on a page: asking and feedback only."),
    ] = False,
    collection: Annotated[
        str,
        typer.Option(
            "--collection",
            "-c",
            help="With --widget: the collection that visitors may ask.",
            show_default=False,
        ),
    ] = "",
    site: Annotated[
        str,
        typer.Option(
            "--site", help="With --widget: the kept site they may ask.", show_default=False
        ),
    ] = "",
    json: Json = False,
) -> None:
    """Make another token of a user, and show it, this once."""
    from citewell.interfaces.cli.run import run
    from citewell.interfaces.cli.user import make_token, make_widget_token

    async def make(app: App) -> int:
        if widget or collection or site:
            return await make_widget_token(
                app, name, token_name, days, collection=collection, site=site, json=json
            )
        return await make_token(app, name, token_name, days, json=json)

    run(make, json=json)


@user_app.command(name="revoke")
def user_revoke(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME|TOKEN_ID", help="All tokens of a user, or one.", show_default=False
        ),
    ],
    json: Json = False,
) -> None:
    """Make tokens good for nothing; who signed in with them is signed out."""
    from citewell.interfaces.cli.run import run
    from citewell.interfaces.cli.user import revoke_tokens

    run(lambda app: revoke_tokens(app, name, json=json), json=json)


@user_app.command(name="role")
def user_role(
    name: Name,
    role: Annotated[str, typer.Argument(metavar="ROLE", help=f"{ROLES}.", show_default=False)],
    json: Json = False,
) -> None:
    """Give a user another role."""
    from citewell.interfaces.cli.run import run
    from citewell.interfaces.cli.user import set_role

    run(lambda app: set_role(app, name, role, json=json), json=json)


@user_app.command(name="remove")
def user_remove(
    name: Name,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    json: Json = False,
) -> None:
    """Remove a user and their tokens. What they asked and added stays."""
    from citewell.interfaces.cli.run import run
    from citewell.interfaces.cli.user import remove_user

    run(lambda app: remove_user(app, name, yes=yes, json=json), json=json)


@user_app.command(name="forget")
def user_forget(
    name: Name,
    backups: Annotated[
        list[str] | None,
        typer.Option(
            "--backups", metavar="DIR", help="Look for backups here, too.", show_default=False
        ),
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    json: Json = False,
) -> None:
    """Delete all that is kept of a person, and show that it is gone; exit 1 where something is left
    (docs/security.md).
    """
    from pathlib import Path

    from citewell.interfaces.cli.run import run
    from citewell.interfaces.cli.user_forget import forget_user

    folders = [Path(each).expanduser() for each in backups or []]
    run(lambda app: forget_user(app, name, folders, yes=yes, json=json), json=json)
