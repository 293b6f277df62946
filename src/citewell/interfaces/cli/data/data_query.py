"""`citewell data query` and `citewell data saved`: statements that people write, run and kept. A
statement is guarded and limited as the agent's own are; a file that is named appears whole or not
at all.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated, cast

import anyio.to_thread
import typer

from citewell.errors import InvalidInput, NotFound, StorageError
from citewell.interfaces.cli.arguments import Json, SourceName, argument, option
from citewell.interfaces.cli.data.data_answer import wrap_sql
from citewell.interfaces.cli.group import create_group
from citewell.interfaces.cli.output.bars import show_chart
from citewell.interfaces.cli.output.rows import as_rows, show_rows
from citewell.interfaces.cli.output.terminal import (
    escape_line_breaks,
    get_stdout,
    print_json,
    print_parts,
    print_text,
    print_warning,
    style_text,
)
from citewell.interfaces.cli.run import DONE, command
from citewell.runtime.app import App
from citewell.service.tables.query_tables import (
    Form,
    Result,
    delete_result,
    explain_cut,
    export_tables,
    query_tables,
    run_saved_question,
)
from citewell.store.boards.saved_questions import SavedQuestion
from citewell.text.language import detect_language

Sql = Annotated[str, argument("One statement.", "SQL")]
Output = Annotated[str | None, option("Write all rows: .csv or .xlsx.", metavar="FILE")]
Saved = Annotated[str, argument("The saved question.", "NAME|ID")]
Whose = Annotated[str, typer.Option("--user", help="Whose saved questions.")]


@command
async def query(
    app: App, name: SourceName, sql: Sql, output: Output = None, json: Json = False
) -> int:
    """Run one statement that reads, and show its rows."""
    if output:
        return await _write_rows(app, name, sql, output, "en", json=json)
    return _show_result(await query_tables(app, name, sql), json=json)


@command
async def list_saved(app: App, user: Whose = "local", json: Json = False) -> int:
    """List saved questions: one's own, and those that are shared."""
    found = await app.saved_questions.list_seen(user)
    if json:
        return print_json({"saved": [each.model_dump(mode="json") for each in found]})
    if not found:
        print_text("none yet; `citewell data saved add NAME SOURCE SQL` keeps one")
    for each in found:
        _show_saved(each)
    return DONE


@command
async def add_saved(
    app: App,
    name: Saved,
    source: Annotated[str, typer.Argument(metavar="SOURCE", show_default=False)],
    sql: Sql,
    user: Whose = "local",
    json: Json = False,
) -> int:
    """Keep a statement under a name."""
    found = await app.sources.get(source)
    values = {"name": name, "source": found.name, "sql": sql, "edited": True}
    values["lang"] = detect_language(name)
    return _describe_saved(await app.saved_questions.add(user, values), json=json)


@command
async def run_saved(
    app: App, name: Saved, output: Output = None, user: Whose = "local", json: Json = False
) -> int:
    """Run one, and show its rows."""
    saved = await _find_saved(app, name, user)
    if output:
        return await _write_rows(app, saved.source, saved.sql, output, saved.lang, json=json)
    return _show_result(await run_saved_question(app, saved), json=json, lang=saved.lang)


@command
async def rename_saved(
    app: App,
    name: Saved,
    new: Annotated[str, typer.Argument(metavar="NEW", show_default=False)],
    user: Whose = "local",
    json: Json = False,
) -> int:
    """Give one another name."""
    saved = await _find_saved(app, name, user)
    changed = await app.saved_questions.change(saved.saved_id, user, {"name": new})
    return _describe_saved(changed, json=json)


@command
async def remove_saved(app: App, name: Saved, user: Whose = "local", json: Json = False) -> int:
    """Delete one, with its cards on boards."""
    saved = await _find_saved(app, name, user)
    return _describe_saved(await app.saved_questions.remove(saved.saved_id, user), json=json)


async def _find_saved(app: App, name: str, user: str) -> SavedQuestion:
    """By its id, or by its name where only one has it. Raises NotFound, InvalidInput."""
    found = [
        each
        for each in await app.saved_questions.list_seen(user)
        if name in {each.saved_id, each.name}
    ]
    if not found:
        raise NotFound(f"no saved question {name!r}", hint="citewell data saved list")
    if len(found) > 1:
        ids = ", ".join(each.saved_id for each in found)
        raise InvalidInput(f"{len(found)} are called {name!r}", hint=f"give an id: {ids}")
    return found[0]


def _describe_saved(saved: SavedQuestion, *, json: bool) -> int:
    if json:
        return print_json(saved)
    _show_saved(saved)
    return DONE


def _show_saved(saved: SavedQuestion) -> None:
    console = get_stdout()
    facts = f" {saved.saved_id} {escape_line_breaks(saved.source)}"
    print_parts((escape_line_breaks(saved.name), "cyan"), (facts, "dim"))
    for line in wrap_sql(saved.sql, console.width - 2 if console.is_terminal else 0):
        console.print(style_text(f"  {line}"), soft_wrap=True)


def _show_result(result: Result, *, json: bool, lang: str = "en") -> int:
    if json:
        return print_json(result)
    console, rows = get_stdout(), as_rows(result.data)
    show_rows(console, rows, lang)
    chart = result.data.chosen or result.data.chart
    if chart is not None and chart.kind != "table" and console.is_terminal:
        console.print()
        show_chart(console, chart, rows, lang)
    if result.problem:
        print_warning(result.problem)
    return DONE


async def _write_rows(
    app: App, source: str, sql: str, output: str, lang: str, *, json: bool
) -> int:
    path = Path(output)
    form = path.suffix.lower().removeprefix(".")
    if form not in {"csv", "xlsx"}:
        raise InvalidInput(f"{path}: not a name for CSV or XLSX", hint="name it NAME.csv")
    began = time.monotonic()
    made = await export_tables(app, source, sql, cast("Form", form), lang)
    try:
        await anyio.to_thread.run_sync(_move_file, made.path, path)
    finally:
        await delete_result(made.path)
    if made.truncated:
        print_warning(explain_cut(made.rows))
    seconds = round(time.monotonic() - began, 1)
    if json:
        return print_json(
            {"path": str(path), "rows": made.rows, "truncated": made.truncated, "seconds": seconds}
        )
    print_text(f"{made.rows:,} rows in {path}")
    return DONE


def _move_file(source: Path, target: Path) -> None:
    """Raises StorageError."""
    part = target.with_name(target.name + ".part")
    try:
        part.write_bytes(source.read_bytes())
        part.replace(target)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise StorageError(
            f"{target}: cannot be written: {error.strerror}",
            hint="see that the folder is there, can be written to and has room",
        ) from error


saved_group = create_group(
    "Questions to tables that are kept.",
    {
        "list": list_saved,
        "add": add_saved,
        "run": run_saved,
        "rename": rename_saved,
        "remove": remove_saved,
    },
)
