"""`citewell add`: read files and embed what is new. The one rule: a bad file costs only itself, and
the exit code tells.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Annotated

import typer

from citewell.errors import StorageError
from citewell.interfaces.cli.arguments import Collection, Json
from citewell.interfaces.cli.progress import show_progress
from citewell.interfaces.cli.run import DONE, ERROR, run
from citewell.interfaces.cli.terminal import (
    escape_line_breaks,
    get_stdout,
    print_error,
    print_json,
    print_warning,
    style_text,
    write_paragraph,
)
from citewell.runtime.app import App
from citewell.service.library.add import AddReport, FileReport
from citewell.service.library.documents import check_priority
from citewell.service.library.read_and_embed import ingest_paths

MOST_LINKS = 10  # told of one by one
STYLES = {"added": "green", "replaced": "green", "unchanged": "dim", "failed": "red"}


def run_add(
    paths: Annotated[
        list[str],
        typer.Argument(
            metavar="PATH|URL...", help="Files, folders, web pages.", show_default=False
        ),
    ],
    collection: Collection = None,
    priority: Annotated[
        int | None,
        typer.Option(help="0 (ordinary) to 10: found before others as good.", show_default=False),
    ] = None,
    follow_links: Annotated[
        bool,
        typer.Option(
            "--follow-links", help="Take what links in a folder lead to outside of it, too."
        ),
    ] = False,
    json: Json = False,
) -> None:
    """Add files, folders and web pages to a collection."""
    run(
        lambda app: add_documents(
            app, paths, collection, json, priority=priority, links=follow_links
        ),
        json=json,
    )


async def add_documents(
    app: App,
    paths: Sequence[str],
    collection: str | None,
    json: bool,
    *,
    priority: int | None = None,
    links: bool = False,
) -> int:
    if priority is not None:
        check_priority(priority)
    async with show_progress() as tell:
        into = app.settings.collection if collection is None else collection
        done = await ingest_paths(
            app, paths, into, on_progress=tell, priority=priority, links=links
        )
    report = done.report
    if json:
        print_json(report.model_dump(mode="json"))
    else:
        show_report(report)
    if report.skipped:
        kinds = ", ".join(f"{count} {suffix}" for suffix, count in report.skipped.items())
        print_warning(f"skipped files of unknown kinds: {kinds}")
    for link in report.links[:MOST_LINKS]:
        print_warning(f"not followed, for it leads out of its folder: {escape_line_breaks(link)}")
    if report.links:
        more = f"{len(report.links) - MOST_LINKS} more; " if len(report.links) > MOST_LINKS else ""
        print_warning(f"{more}--follow-links follows such links")
    if report.error is not None:
        print_warning(
            "the files that are listed are kept whole; the others were not dealt with: add again "
            "when this is solved:"
        )
        print_error(StorageError(report.error["message"], hint=report.error["hint"]))
    elif done.problem is not None:
        print_warning(
            "the files can be found by their words; to find them by meaning, add again when this "
            "is solved:"
        )
        print_error(done.problem)
    if done.others:
        print_warning(
            f"{done.others} passages of other files are still found by words only: add those "
            "again, or run citewell serve"
        )
    return ERROR if report.failed or report.error is not None or done.problem is not None else DONE


def show_report(report: AddReport) -> None:
    """A line for each file, then the sums."""
    console = get_stdout()
    for file in report.files:
        write_paragraph(
            console,
            style_text(f"{file.status:<9} ", STYLES[file.status])
            + style_text(_format_result(file)),
        )
        for warning in file.warnings:
            write_paragraph(console, style_text(f"warning: {warning}", "yellow"), indent=10)
    sums = Counter(file.status for file in report.files)
    write_paragraph(
        console,
        style_text(
            ", ".join(f"{count} {status}" for status, count in sorted(sums.items()))
            or "nothing to add",
            "bold",
        ),
    )


def _format_result(file: FileReport) -> str:
    if file.status == "failed":
        return f"{escape_line_breaks(file.path)}: {file.reason}"
    return f"{escape_line_breaks(file.path)} ({file.chunks} passages)"
