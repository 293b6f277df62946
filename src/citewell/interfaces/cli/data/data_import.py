"""`citewell data import`: what another semantic layer says of a source's tables. What is not taken
is printed with the reason.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import anyio
import typer

from citewell.errors import InvalidInput
from citewell.interfaces.cli.arguments import Json, argument, option
from citewell.interfaces.cli.output.terminal import (
    escape_line_breaks,
    print_json,
    print_text,
    print_warning,
)
from citewell.interfaces.cli.run import DONE, command
from citewell.messages import Text
from citewell.runtime.app import App
from citewell.service.tables.import_description import import_description


@command
async def import_semantics(
    app: App,
    form: Annotated[Literal["dbt", "wren"], argument("Whose it is.", "dbt|wren")],
    path: Annotated[str, argument("A dbt project, or a WrenAI MDL file.", "PATH")],
    source: Annotated[str | None, option("Whose tables it is about; else the only one.")] = None,
    check: Annotated[bool, typer.Option("--check", help="Only report.")] = False,
    json: Json = False,
) -> int:
    """Add the descriptions, joins and metrics of a dbt project or a WrenAI model to a source."""
    names = [source] if source else [each.name for each in await app.sources.list()]
    if len(names) != 1:
        raise InvalidInput(Text("say which tables it is about"), hint=Text("--source NAME"))
    there = Path(await anyio.Path(path).expanduser())
    found = await import_description(app, names[0], form, there, keep=not check)
    if json:
        return print_json(found)
    name = escape_line_breaks(found.name)
    print_text(f"{name}: {'would take' if check else 'took'}", "bold")
    print_text(f"tables ({len(found.tables)}): {', '.join(found.tables) or 'none'}", indent=2)
    print_text(f"described columns: {found.columns}", indent=2)
    print_text(f"joins ({len(found.joins)}): {'; '.join(found.joins) or 'none'}", indent=2)
    print_text(f"metrics ({len(found.metrics)}): {', '.join(found.metrics) or 'none'}", indent=2)
    for each in found.left:
        print_warning(f"not taken: {each.what}: {each.why}")
    return DONE
