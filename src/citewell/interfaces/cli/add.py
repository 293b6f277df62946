"""`citewell add`: read files and embed what is new. The one rule: a bad file costs only itself, and
the exit code tells.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from citewell.errors import StorageError
from citewell.interfaces.cli.progress import watching
from citewell.interfaces.cli.run import DONE, ERROR
from citewell.interfaces.cli.terminal import fail, one_line, out, print_json, styled, warn, write
from citewell.runtime.app import App
from citewell.service.library.add import AddReport, FileReport
from citewell.service.library.documents import check_priority
from citewell.service.library.read_and_embed import ingest

MOST_LINKS = 10  # told of one by one
STYLES = {"added": "green", "replaced": "green", "unchanged": "dim", "failed": "red"}


async def add(
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
    async with watching() as tell:
        into = app.settings.collection if collection is None else collection
        done = await ingest(app, paths, into, on_progress=tell, priority=priority, links=links)
    report = done.report
    if json:
        print_json(report.model_dump(mode="json"))
    else:
        show(report)
    if report.skipped:
        kinds = ", ".join(f"{count} {suffix}" for suffix, count in report.skipped.items())
        warn(f"skipped files of unknown kinds: {kinds}")
    for link in report.links[:MOST_LINKS]:
        warn(f"not followed, for it leads out of its folder: {one_line(link)}")
    if report.links:
        more = f"{len(report.links) - MOST_LINKS} more; " if len(report.links) > MOST_LINKS else ""
        warn(f"{more}--follow-links follows such links")
    if report.error is not None:
        warn(
            "the files that are listed are kept whole; the others were not dealt with: add again "
            "when this is solved:"
        )
        fail(StorageError(report.error["message"], hint=report.error["hint"]))
    elif done.problem is not None:
        warn(
            "the files can be found by their words; to find them by meaning, add again when this "
            "is solved:"
        )
        fail(done.problem)
    if done.others:
        warn(
            f"{done.others} passages of other files are still found by words only: add those "
            "again, or run citewell serve"
        )
    return ERROR if report.failed or report.error is not None or done.problem is not None else DONE


def show(report: AddReport) -> None:
    """A line for each file, then the sums."""
    console = out()
    for file in report.files:
        write(console, styled(f"{file.status:<9} ", STYLES[file.status]) + styled(_tail(file)))
        for warning in file.warnings:
            write(console, styled(f"warning: {warning}", "yellow"), indent=10)
    sums = Counter(file.status for file in report.files)
    write(
        console,
        styled(
            ", ".join(f"{count} {status}" for status, count in sorted(sums.items()))
            or "nothing to add",
            "bold",
        ),
    )


def _tail(file: FileReport) -> str:
    if file.status == "failed":
        return f"{one_line(file.path)}: {file.reason}"
    return f"{one_line(file.path)} ({file.chunks} passages)"
