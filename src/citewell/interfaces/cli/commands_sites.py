"""`citewell sites ...`: names, arguments and help. The one rule: as in commands.py, the work is
imported when it is done.
"""

from __future__ import annotations

from typing import Annotated

import typer

from citewell.interfaces.cli.arguments import Json

sites_app = typer.Typer(
    help="Web sites that are kept.", no_args_is_help=True, rich_markup_mode=None
)

Name = Annotated[
    str, typer.Argument(metavar="NAME", help="The site: its collection.", show_default=False)
]


@sites_app.command(name="list")
def sites_list(json: Json = False) -> None:
    """List sites: their pages, and when those were last asked for."""
    from citewell.interfaces.cli.run import run
    from citewell.interfaces.cli.sites import show_sites

    run(lambda app: show_sites(app, json=json), json=json)


@sites_app.command(name="pages")
def sites_pages(name: Name, json: Json = False) -> None:
    """List the pages of a site, and what could not be read."""
    from citewell.interfaces.cli.run import run
    from citewell.interfaces.cli.sites import show_pages

    run(lambda app: show_pages(app, name, json=json), json=json)


@sites_app.command(name="refresh")
def sites_refresh(name: Name, json: Json = False) -> None:
    """Ask for every page anew; what is gone from the site is removed."""
    from citewell.interfaces.cli.run import run
    from citewell.interfaces.cli.sites import refresh_site

    run(lambda app: refresh_site(app, name, json=json), json=json)


@sites_app.command(name="export")
def sites_export(
    name: Name,
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE", help="A .jsonl file; - for standard output.", show_default=False
        ),
    ],
    json: Json = False,
) -> None:
    """Write the pages of a site, one JSON object a line: text, links, address, time, hash."""
    from citewell.interfaces.cli.run import run
    from citewell.interfaces.cli.sites import export_site

    if json and file == "-":
        raise typer.BadParameter("--json prints one object, and - prints the pages; choose one")
    run(lambda app: export_site(app, name, file, json=json), json=json)


@sites_app.command(name="delete")
def sites_delete(
    name: Name,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    json: Json = False,
) -> None:
    """Delete a site with its pages; files that were added to its collection stay."""
    from citewell.interfaces.cli.run import run
    from citewell.interfaces.cli.sites import delete_site

    run(lambda app: delete_site(app, name, yes=yes, json=json), json=json)
