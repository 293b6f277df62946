"""`citewell data glossary`: what words mean in the tables of a source. The one rule: a file adds to
what is there.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from citewell.interfaces.cli.arguments import Json, Several, SourceName
from citewell.interfaces.cli.run import DONE, run
from citewell.interfaces.cli.terminal import (
    escape_line_breaks,
    get_stdout,
    print_json,
    style_text,
    write_paragraph,
)
from citewell.runtime.app import App
from citewell.service.tables import sources as service
from citewell.service.tables.glossary import parse_term, read_glossary_file


def run_glossary(
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
    run(lambda app: edit_glossary(app, name, said or [], remove or [], file, json=json), json=json)


async def edit_glossary(
    app: App, name: str, said: Sequence[str], remove: Sequence[str], file: str | None, *, json: bool
) -> int:
    """Show it, after changes where there are some. A file adds to what is there."""
    put = await read_glossary_file(Path(file)) if file else []
    put += [parse_term(each) for each in said]
    source = await (
        service.change_glossary(app, name, put, remove)
        if put or remove
        else service.get_source(app, name)
    )
    if json:
        print_json(
            {"name": source.name, "glossary": [term.model_dump() for term in source.glossary]}
        )
        return DONE
    if not source.glossary:
        write_paragraph(
            get_stdout(),
            style_text(
                f"{escape_line_breaks(name)} has no glossary; --set TERM=MEANING begins one"
            ),
        )
    for term in source.glossary:
        write_paragraph(
            get_stdout(), style_text(term.term, "cyan") + style_text(f" = {term.meaning}")
        )
    return DONE
