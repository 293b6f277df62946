"""`citewell data describe`: what people write of a source's tables. What does not fit the tables is
told with its line, and nothing of it is kept.
"""

from __future__ import annotations

from typing import Annotated

import anyio
import typer

from citewell.errors import InvalidInput
from citewell.interfaces.cli.arguments import Json, SourceName, option
from citewell.interfaces.cli.output.terminal import (
    escape_line_breaks,
    print_json,
    print_text,
    print_warning,
)
from citewell.interfaces.cli.run import DONE, ERROR, command
from citewell.messages import Text
from citewell.runtime.app import App
from citewell.service.tables import descriptions as service


@command
async def describe_source(
    app: App,
    name: SourceName,
    file: Annotated[
        str | None, option("Check this YAML file, and keep it.", metavar="FILE")
    ] = None,
    check: Annotated[bool, typer.Option("--check", help="With --file: only check it.")] = False,
    draft: Annotated[bool, typer.Option("--draft", help="Write one anew from the tables.")] = False,
    json: Json = False,
) -> int:
    """Print what is written of a source's tables, or a first draft; --file checks and keeps one."""
    if check and file is None:
        raise typer.BadParameter("--check goes with --file")
    if file is not None and draft:
        raise typer.BadParameter("--draft prints; --file reads")
    if file is not None:
        return await _take_file(app, name, file, check=check, json=json)
    found = await service.get_description(app, name, draft=draft)
    if json:
        return print_json(found)
    typer.echo(found.text, nl=not found.text.endswith("\n"))
    return DONE


async def _take_file(app: App, name: str, file: str, *, check: bool, json: bool) -> int:
    """Exit 1 where something in it is wrong."""
    path = await anyio.Path(file).expanduser()
    checked = await service.check_description(app, name, await _read_text(path))
    kept = not checked.problems and not check
    if kept:
        await service.keep_description(app, name, await _read_text(path))
    if json:
        print_json({"name": name, "kept": kept, **checked.model_dump(mode="json")})
        return ERROR if checked.problems else DONE
    for each in checked.problems:
        hint = f"; {each.hint}" if each.hint else ""
        print_warning(f"{path.name}:{each.line}: {each.message}{hint}")
    if checked.problems:
        return ERROR
    tried = f"metrics tried: {checked.metrics}, filters tried: {checked.filters}"
    print_text(f"{escape_line_breaks(name)} {'is described' if kept else 'fits'}; {tried}")
    return DONE


async def _read_text(path: anyio.Path) -> str:
    try:
        return await path.read_text("utf-8-sig")
    except UnicodeDecodeError:
        raise InvalidInput(Text("{name} is not UTF-8", name=path.name)) from None
    except OSError as error:
        raise InvalidInput(
            Text(
                "{given}: cannot be read: {strerror}", given=path, strerror=error.strerror or error
            )
        ) from None
