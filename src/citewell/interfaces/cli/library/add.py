"""`citewell add`: read files and embed what is new. A bad file costs only itself."""

from __future__ import annotations

from collections import Counter
from typing import Annotated

import typer

from citewell.errors import StorageError
from citewell.interfaces.cli.arguments import Collection, Json, argument, option
from citewell.interfaces.cli.output.progress import show_progress
from citewell.interfaces.cli.output.skipped_files import warn_of_skipped_files
from citewell.interfaces.cli.output.terminal import (
    escape_line_breaks,
    print_error,
    print_json,
    print_parts,
    print_text,
    print_warning,
)
from citewell.interfaces.cli.run import DONE, ERROR, command
from citewell.runtime.app import App
from citewell.service.library.add_report import AddReport, FileReport
from citewell.service.library.documents import check_priority
from citewell.service.library.read_and_embed import Engine, Ingested, ingest_paths

MOST_LINKS = 10  # told of one by one
STYLES = {"added": "green", "replaced": "green", "unchanged": "dim", "failed": "red"}


@command
async def add_documents(
    app: App,
    paths: Annotated[
        list[str], argument("Files, folders, web pages, s3://BUCKET/PREFIX.", "PATH|URL...")
    ],
    collection: Collection = None,
    priority: Annotated[
        int | None, option("0 (ordinary) to 10: found before others as good.")
    ] = None,
    links: Annotated[
        bool,
        typer.Option(
            "--follow-links", help="Take what links in a folder lead to outside of it, too."
        ),
    ] = False,
    engine: Annotated[
        Engine,
        typer.Option(
            "--engine", help="local, or ray: on the Ray cluster of RAY_ADDRESS, else one here."
        ),
    ] = "local",
    json: Json = False,
) -> int:
    """Add files, folders, buckets and web pages to a collection."""
    if priority is not None:
        check_priority(priority)
    async with show_progress() as tell:
        into = app.settings.collection if collection is None else collection
        done = await ingest_paths(
            app, paths, into, on_progress=tell, priority=priority, links=links, engine=engine
        )
    report = done.report
    if json:
        print_json(report)
    else:
        show_report(report)
    warn_of_rest(done)
    return ERROR if report.failed or report.error is not None or done.problem is not None else DONE


def warn_of_rest(done: Ingested) -> None:
    """What was passed over, what stopped the run, and what is still to be embedded."""
    report = done.report
    warn_of_skipped_files(report.skipped)
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


def show_report(report: AddReport) -> None:
    """A line for each file, then the sums."""
    for file in report.files:
        print_parts((f"{file.status:<9} ", STYLES[file.status]), _format_result(file))
        for warning in file.warnings:
            print_text(f"warning: {warning}", "yellow", indent=10)
    sums = Counter(file.status for file in report.files)
    print_text(
        ", ".join(f"{count} {status}" for status, count in sorted(sums.items()))
        or "nothing to add",
        "bold",
    )


def _format_result(file: FileReport) -> str:
    if file.status == "failed":
        return f"{escape_line_breaks(file.path)}: {file.reason}"
    return f"{escape_line_breaks(file.path)} ({file.chunks} passages)"
