"""`citewell user token|revoke`: tokens of users; each is printed once, alone on its line."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from citewell.config import Settings
from citewell.interfaces.cli.arguments import Days, Json, Label, UserName, argument, option
from citewell.interfaces.cli.output.terminal import (
    escape_line_breaks,
    get_stderr,
    print_json,
    print_text,
    print_warning,
    write_paragraph,
)
from citewell.interfaces.cli.run import DONE, command
from citewell.runtime.app import App
from citewell.service.admin import users as service
from citewell.service.admin.widget_scope import parse_binding
from citewell.store.users.access_tokens import Made


@command
async def make_token(
    app: App,
    name: UserName,
    token_name: Label = "",
    days: Days = None,
    widget: Annotated[
        bool,
        typer.Option("--widget", help="For the chat element on a page: asking and feedback only."),
    ] = False,
    collection: Annotated[
        str, option("With --widget: the collection that visitors may ask.", "--collection", "-c")
    ] = "",
    site: Annotated[str, option("With --widget: the kept site they may ask.", "--site")] = "",
    json: Json = False,
) -> int:
    """Make another token of a user, and show it, this once."""
    if not (widget or collection or site):
        made = await service.make_token(app, name, token_name, days=days)
        return _show_token(app.settings, made, "", json=json)
    made = await service.make_widget_token(
        app, name, token_name, days=days, collection=collection, site=site
    )
    return _show_token(
        app.settings,
        made,
        f", for the chat element, {parse_binding(made.info.bound).words}",
        json=json,
    )


def _show_token(settings: Settings, made: Made, what: str, *, json: bool) -> int:
    if json:
        print_json(made)
    else:
        write_paragraph(
            get_stderr(),
            f"{made.info.token_id} of "
            f"{escape_line_breaks(made.info.user_id)}{escape_line_breaks(what)}, shown "
            "this once:",
        )
        print_token(made.token)
    warn_not_in_force(settings)
    return DONE


@command
async def revoke_tokens(
    app: App,
    name: Annotated[str, argument("All tokens of a user, or one.", "NAME|TOKEN_ID")],
    json: Json = False,
) -> int:
    """Make tokens good for nothing; who signed in with them is signed out."""
    gone = await service.revoke_tokens(app, name)
    if json:
        return print_json({"revoked": gone})
    for token in gone:
        print_text(
            f"revoked {token.token_id} ({escape_line_breaks(token.name)}) "
            f"of {escape_line_breaks(token.user_id)}"
        )
    if not gone:
        print_text(f"{escape_line_breaks(name)} has no token")
    return DONE


def print_token(token: str) -> None:
    """Alone on standard output, so that it can be put into a variable or a file."""
    sys.stdout.write(token + "\n")


def warn_not_in_force(settings: Settings) -> None:
    if settings.auth == "none":
        print_warning(
            'nobody is asked to sign in yet: set auth = "token" in citewell.toml, or '
            "CITEWELL_AUTH=token, and start the server"
        )
