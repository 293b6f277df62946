"""`citewell user token|revoke`: the tokens of users. The one rule: a token is printed once, alone
on its line, and never again.
"""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from citewell.interfaces.cli.arguments import Days, Json, Label, UserName
from citewell.interfaces.cli.run import DONE, run
from citewell.interfaces.cli.terminal import (
    escape_line_breaks,
    get_stderr,
    get_stdout,
    print_json,
    print_warning,
    style_text,
    write_paragraph,
)
from citewell.runtime.app import App
from citewell.service.admin import users as service
from citewell.service.admin.widget_scope import parse_binding
from citewell.store.users.access_tokens import Made


def run_token(
    name: UserName,
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

    async def make(app: App) -> int:
        if widget or collection or site:
            return await make_widget_token(
                app, name, token_name, days, collection=collection, site=site, json=json
            )
        return await make_token(app, name, token_name, days, json=json)

    run(make, json=json)


def run_revoke(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME|TOKEN_ID", help="All tokens of a user, or one.", show_default=False
        ),
    ],
    json: Json = False,
) -> None:
    """Make tokens good for nothing; who signed in with them is signed out."""
    run(lambda app: revoke_tokens(app, name, json=json), json=json)


async def make_token(
    app: App, name: str, token_name: str, days: float | None, *, json: bool
) -> int:
    made = await service.make_token(app, name, token_name, days=days)
    return _show_token(app, made, "", json=json)


async def make_widget_token(
    app: App,
    name: str,
    token_name: str,
    days: float | None,
    *,
    collection: str,
    site: str,
    json: bool,
) -> int:
    made = await service.make_widget_token(
        app, name, token_name, days=days, collection=collection, site=site
    )
    return _show_token(
        app, made, f", for the chat element, {parse_binding(made.info.bound).words}", json=json
    )


def _show_token(app: App, made: Made, what: str, *, json: bool) -> int:
    if json:
        print_json(made.model_dump(mode="json"))
    else:
        write_paragraph(
            get_stderr(),
            style_text(
                f"{made.info.token_id} of "
                f"{escape_line_breaks(made.info.user_id)}{escape_line_breaks(what)}, shown "
                "this once:"
            ),
        )
        print_token(made.token)
    warn_not_in_force(app)
    return DONE


async def revoke_tokens(app: App, name: str, *, json: bool) -> int:
    gone = await service.revoke_tokens(app, name)
    if json:
        print_json({"revoked": [token.model_dump(mode="json") for token in gone]})
        return DONE
    for token in gone:
        write_paragraph(
            get_stdout(),
            style_text(
                f"revoked {token.token_id} ({escape_line_breaks(token.name)}) "
                f"of {escape_line_breaks(token.user_id)}"
            ),
        )
    if not gone:
        write_paragraph(get_stdout(), style_text(f"{escape_line_breaks(name)} has no token"))
    return DONE


def print_token(token: str) -> None:
    """Alone on standard output, so that it can be put into a variable or a file."""
    sys.stdout.write(token + "\n")


def warn_not_in_force(app: App) -> None:
    if app.settings.auth == "none":
        print_warning(
            'nobody is asked to sign in yet: set auth = "token" in citewell.toml, or '
            "CITEWELL_AUTH=token, and start the server"
        )
