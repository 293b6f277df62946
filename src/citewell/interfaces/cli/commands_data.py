"""`citewell data ...`: names, arguments and help of what adds, shows and removes tables. The one
rule: as in commands.py, the work is imported when it is done.
"""

from __future__ import annotations

from typing import Annotated

import typer

from citewell.interfaces.cli.arguments import Json

data_app = typer.Typer(
    help="Tables that are asked: files and databases.", no_args_is_help=True, rich_markup_mode=None
)

SourceName = Annotated[str, typer.Argument(metavar="NAME", help="The source.", show_default=False)]
Several = list[str] | None


@data_app.command(name="add")
def data_add(
    locations: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE|URL...",
            help="Files with tables, or URLs of databases.",
            show_default=False,
        ),
    ],
    name: Annotated[
        str | None,
        typer.Option(
            help="What it is called; else after the file or the database.", show_default=False
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Add tables: CSV, TSV, XLSX, XLS, ODS, Parquet, JSON, SQLite files; PostgreSQL, MySQL, SQLite
    by URL.
    """
    from citewell.interfaces.cli.data import add_sources
    from citewell.interfaces.cli.run import run

    if name is not None and len(locations) > 1:
        raise typer.BadParameter("--name goes with one FILE or URL")
    run(lambda app: add_sources(app, locations, name, json=json), json=json)


@data_app.command(name="list")
def data_list(json: Json = False) -> None:
    """List the sources that were added."""
    from citewell.interfaces.cli.data import show_sources
    from citewell.interfaces.cli.run import run

    run(lambda app: show_sources(app, json=json), json=json)


@data_app.command(name="show")
def data_show(
    name: SourceName,
    table: Annotated[
        str | None, typer.Option(help="Only this table, with its first rows.", show_default=False)
    ] = None,
    rows: Annotated[int, typer.Option(min=0, max=1_000, help="With --table: so many rows.")] = 10,
    json: Json = False,
) -> None:
    """Show one: its tables, columns, types, stored values, glossary."""
    from citewell.interfaces.cli.data_show import show_source
    from citewell.interfaces.cli.run import run

    run(lambda app: show_source(app, name, table, rows, json=json), json=json)


@data_app.command(name="remove")
def data_remove(name: SourceName, json: Json = False) -> None:
    """Remove a source and the copy of its file; the file or the database itself stays as it is."""
    from citewell.interfaces.cli.data import remove_source
    from citewell.interfaces.cli.run import run

    run(lambda app: remove_source(app, name, json=json), json=json)


@data_app.command(name="refresh")
def data_refresh(
    name: Annotated[
        str | None,
        typer.Argument(metavar="[NAME]", help="The source; else all.", show_default=False),
    ] = None,
    json: Json = False,
) -> None:
    """Read files and databases again, whether they seem changed or not."""
    from citewell.interfaces.cli.data import refresh_sources
    from citewell.interfaces.cli.run import run

    run(lambda app: refresh_sources(app, name, json=json), json=json)


@data_app.command(name="glossary")
def data_glossary(
    name: SourceName,
    said: Annotated[
        Several,
        typer.Option(
            "--set",
            metavar="TERM=MEANING",
            help="Say what a word means; may be repeated.",
            show_default=False,
        ),
    ] = None,
    remove: Annotated[
        Several,
        typer.Option(
            "--remove", metavar="TERM", help="Take a word out; may be repeated.", show_default=False
        ),
    ] = None,
    file: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Words from a file: `term = meaning` lines, TOML, YAML, CSV.",
            show_default=False,
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Show what words mean in these tables; with an option, change it first."""
    from citewell.interfaces.cli.data import edit_glossary
    from citewell.interfaces.cli.run import run

    run(lambda app: edit_glossary(app, name, said or [], remove or [], file, json=json), json=json)
