"""`citewell user`: users and their tokens. The one rule: a token is printed once, alone on its
line, and never again.
"""

from __future__ import annotations

import sys
import time

from citewell.errors import InvalidInput
from citewell.interfaces.cli.run import DONE, ERROR
from citewell.interfaces.cli.terminal import (
    escape_line_breaks,
    get_stderr,
    get_stdout,
    print_json,
    print_warning,
    strip_controls,
    style_text,
    write_paragraph,
)
from citewell.runtime.app import App
from citewell.service.admin import users as service
from citewell.service.admin.users import UserWithTokens
from citewell.service.admin.widget_scope import parse_binding
from citewell.store.users.access_tokens import Made, TokenInfo


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
        _print_token(added.token)
    if not any(user.role == "admin" for user in await app.users.list()):
        print_warning(
            "there is no admin yet: `citewell user role "
            f"{escape_line_breaks(added.user.user_id)} admin` "
            "makes one"
        )
    _warn_not_in_force(app)
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
        _print_token(made.token)
    _warn_not_in_force(app)
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
        f"Remove {escape_line_breaks(user.user_id)} and their tokens? [y/N] "
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


def _print_token(token: str) -> None:
    """Alone on standard output, so that it can be put into a variable or a file."""
    sys.stdout.write(token + "\n")


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


def _warn_not_in_force(app: App) -> None:
    if app.settings.auth == "none":
        print_warning(
            'nobody is asked to sign in yet: set auth = "token" in citewell.toml, or '
            "CITEWELL_AUTH=token, and start the server"
        )


def ask_confirmation(question: str) -> bool:
    if not sys.stdin.isatty():
        raise InvalidInput("there is no terminal to ask on", hint="--yes removes without asking")
    sys.stderr.write(strip_controls(question))
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in {"y", "yes", "是"}
