"""`citewell sync`: collections kept in step with places elsewhere. Every item that failed is told
with why, and a place is not forgotten unasked.
"""

from __future__ import annotations

from typing import Annotated

import typer

from citewell.errors import CitewellError
from citewell.interfaces.cli.arguments import Collection, Json, Yes, argument, option
from citewell.interfaces.cli.group import create_group
from citewell.interfaces.cli.output.progress import show_progress
from citewell.interfaces.cli.output.skipped_files import warn_of_skipped_files
from citewell.interfaces.cli.output.terminal import (
    ask_confirmation,
    escape_line_breaks,
    format_minute,
    get_stderr,
    print_error,
    print_json,
    print_parts,
    print_text,
    print_warning,
    style_text,
    write_paragraph,
)
from citewell.interfaces.cli.run import DONE, ERROR, command
from citewell.runtime.app import App
from citewell.service.sync import sync_places as service
from citewell.service.sync.durations import format_duration, parse_duration
from citewell.service.sync.run_sync import run_sync
from citewell.service.sync.sync_report import SyncInfo, SyncReport

STYLES = {"added": "green", "replaced": "green", "failed": "red", "gone": "yellow"}
Target = Annotated[str, argument("A place, as listed.", "ID|PLACE")]
Every = Annotated[
    str, typer.Option(help="How often `citewell serve` looks: 15m, 1h, 1d; 0: only when asked.")
]


@command
async def add_place(
    app: App,
    place: Annotated[
        str,
        argument(
            "A folder, or an address: https:// (feed, sitemap), davs://, s3://, git+https://, "
            "imaps://.",
            "PLACE",
        ),
    ],
    collection: Collection = None,
    every: Every = "1h",
    secret: Annotated[str, option("Where its password is.", metavar="env:NAME|file:PATH")] = "",
    later: Annotated[bool, typer.Option("--later", help="Do not read it now.")] = False,
    json: Json = False,
) -> int:
    """Keep a collection in step with a place, and read it now."""
    into = app.settings.collection if collection is None else collection
    info = await service.add_sync(app, place, into, parse_duration(every), secret=secret)
    if later:
        if json:
            return print_json(info)
        _show_place(info)
        return DONE
    return await _run_and_show(app, [info], json=json)


@command
async def show_places(app: App, json: Json = False) -> int:
    """List places: how often they are looked at, and what the last run came to."""
    places = await service.list_syncs(app)
    if json:
        return print_json({"syncs": places})
    if not places:
        print_text("nothing is kept in step yet; `citewell sync add PLACE -c COLLECTION` does")
    for each in places:
        _show_place(each)
    return DONE


@command
async def show_status(app: App, target: Target, json: Json = False) -> int:
    """Show one place and the report of its last run."""
    info = await service.find_target(app, target)
    if json:
        return print_json(info)
    _show_place(info)
    if info.report is not None:
        show_report(info.report)
    return DONE


@command
async def run_places(
    app: App,
    target: Annotated[str | None, argument("A place, as listed.", "ID|PLACE")] = None,
    every_one: Annotated[bool, typer.Option("--all", help="All places.")] = False,
    json: Json = False,
) -> int:
    """Look at a place now: read what is new or changed, mark what is gone."""
    if (target is None) is not every_one:
        raise typer.BadParameter("name a place, or --all")
    places = (
        await service.list_syncs(app)
        if target is None
        else [await service.find_target(app, target)]
    )
    return await _run_and_show(app, places, json=json, several=target is None)


async def _run_and_show(
    app: App, places: list[SyncInfo], *, json: bool, several: bool = False
) -> int:
    reports: list[SyncReport] = []
    for each in places:
        async with show_progress() as tell:
            report = await run_sync(app, each.sync_id, tell)
        reports.append(report)
        if not json:
            if several:
                print_text(escape_line_breaks(each.place), "bold")
            show_report(report)
    if json:
        print_json({"reports": reports} if several else reports[0])
    bad = any(report.failed or report.error or report.problem for report in reports)
    return ERROR if bad else DONE


@command
async def change_schedule(
    app: App,
    target: Target,
    every: Annotated[str, typer.Argument(metavar="EVERY", help="15m, 1h, 1d; 0: only when asked.")],
    json: Json = False,
) -> int:
    """Change how often a place is looked at."""
    info = await service.find_target(app, target)
    info = await service.schedule_sync(app, info.sync_id, parse_duration(every))
    if json:
        return print_json(info)
    _show_place(info)
    return DONE


@command
async def remove_place(
    app: App,
    target: Target,
    documents: Annotated[
        bool, typer.Option("--documents", help="Delete the documents that came of it, too.")
    ] = False,
    yes: Yes = False,
    json: Json = False,
) -> int:
    """Look at a place no more; its documents stay as they are."""
    info = await service.find_target(app, target)
    what = " and delete its documents" if documents else ""
    if not yes and not ask_confirmation(
        f"Look at {escape_line_breaks(info.place)} no more{what}? [y/N] ", "removes"
    ):
        write_paragraph(get_stderr(), style_text("nothing removed"))
        return ERROR
    removed = await service.remove_sync(app, info.sync_id, documents=documents)
    if json:
        return print_json(removed)
    kept = f"{removed.documents} documents deleted" if documents else "its documents stay"
    print_text(f"removed {escape_line_breaks(removed.place)}; {kept}")
    return DONE


def show_report(report: SyncReport) -> None:
    """A line for each item that is not as it was, then the sums."""
    for file in report.files:
        told = f": {file.reason}" if file.status == "failed" else f" ({file.chunks} passages)"
        print_parts(
            (f"{file.status:<9} ", STYLES[file.status]), escape_line_breaks(file.path) + told
        )
        for warning in file.warnings:
            print_text(f"warning: {warning}", "yellow", indent=10)
    for uri in report.gone:
        print_parts(("gone      ", STYLES["gone"]), escape_line_breaks(uri))
    print_text(_format_sums(report), "bold")
    warn_of_skipped_files(report.skipped)
    for each in report.warnings:
        print_warning(each)
    if report.problem:
        print_warning(
            f"what was read can be found by its words only, until this is solved: {report.problem}"
        )
    if report.error is not None:
        print_error(CitewellError(report.error["message"], hint=report.error["hint"]))


def _format_sums(report: SyncReport) -> str:
    sums = {
        "added": report.added,
        "replaced": report.replaced,
        "unchanged": report.unchanged,
        "failed": report.failed,
        "gone": report.gone_count,
        "removed for good": report.removed_count,
    }
    return ", ".join(f"{count} {what}" for what, count in sums.items() if count) or "nothing there"


def _show_place(info: SyncInfo) -> None:
    facts = [
        f"into {escape_line_breaks(info.collection)}",
        f"every {format_duration(info.every)}" if info.every else "only when asked",
        f"{info.items} items",
    ]
    facts += [f"{info.gone} gone"] if info.gone else []
    facts += [f"last {format_minute(info.ran_at)}"] if info.ran_at else ["not read yet"]
    facts += [f"next {format_minute(info.next_at)}"] if info.next_at else []
    facts += [info.state] if info.state != "idle" else []
    print_parts((escape_line_breaks(info.place), "bold"), (f" {info.sync_id}", "dim"))
    print_text(", ".join(facts), indent=2)
    report = info.report
    if report is not None and (report.error or report.failed):
        error = report.error["message"] if report.error else ""
        told = "; ".join(filter(None, [f"{report.failed} failed" if report.failed else "", error]))
        print_text(told, "red", indent=2)


group = create_group(
    "Collections kept in step with folders, feeds, buckets, repositories, mail.",
    {
        "add": add_place,
        "list": show_places,
        "status": show_status,
        "run": run_places,
        "schedule": change_schedule,
        "remove": remove_place,
    },
)
