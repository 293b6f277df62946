"""`citewell models ...`: names, arguments and help. The one rule: as in commands.py, the work is
imported when it is done.
"""

from __future__ import annotations

from typing import Annotated

import typer

from citewell.interfaces.cli.arguments import Json

models_app = typer.Typer(
    help="The models that come with Citewell.", no_args_is_help=True, rich_markup_mode=None
)


@models_app.command()
def pull(
    verify: Annotated[
        bool,
        typer.Option("--verify", help="Read the whole file again, even if it was found right."),
    ] = False,
    json: Json = False,
) -> None:
    """Bring the built-in chat model into the cache folder."""
    from citewell.interfaces.cli.models import pull_model as work

    work(verify=verify, json=json)


@models_app.command(name="list")
def models_list(json: Json = False) -> None:
    """List the models in use and where they are."""
    from citewell.interfaces.cli.models import show_models

    show_models(json)
