"""`citewell knowledge check|conflicts|gc|export|import`: does it still hold, who disagrees, what
may go, and files for git. What was changed, and why, is said item by item.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from citewell.interfaces.cli.arguments import Json, Who, argument, option
from citewell.interfaces.cli.output.terminal import (
    escape_line_breaks,
    print_json,
    print_parts,
    print_text,
    print_warning,
    style_text,
)
from citewell.interfaces.cli.run import DONE, ERROR, NO_ANSWER, command
from citewell.runtime.app import App
from citewell.service.knowledge import clean_up, conflicts, exchange_files, recheck
from citewell.service.knowledge.conflicts import Side
from citewell.service.knowledge.feedback_job import run_pending_jobs

COLOURS = {
    "ok": "green",
    "restored": "green",
    "quarantined": "red",
    "waiting": "yellow",
    "unknown": "yellow",
}
STATUS = {
    "added": "green",
    "merged": "green",
    "unchanged": "dim",
    "kept": "yellow",
    "failed": "red",
}


@command
async def check_knowledge(
    app: App,
    source: Annotated[str | None, option("Only these tables.", "--source")] = None,
    json: Json = False,
) -> int:
    """Run confirmed statements again and look up what confirmed answers quote; exit 3 where
    something does not hold.
    """
    await run_pending_jobs(app)
    checked = await recheck.check_all(app, source)
    bad = [
        each for one in checked for each in one.looked if each.outcome in {"quarantined", "waiting"}
    ]
    if json:
        print_json({"checked": checked})
        return NO_ANSWER if bad else DONE
    for one in checked:
        if one.problem:
            print_warning(f"{one.source}: {one.problem}")
        for each in one.looked:
            head = style_text(f"{each.outcome:<12}", COLOURS[each.outcome]) + style_text(
                each.item_id, "cyan"
            )
            print_text(head + style_text(f" {escape_line_breaks(each.question)}"))
            if each.reason:
                print_text(each.reason, "dim", indent=4)
    looked = sum(len(one.looked) for one in checked)
    print_text(f"{looked} looked at, {len(bad)} of them do not hold")
    return NO_ANSWER if bad else DONE


@command
async def show_conflicts(app: App, json: Json = False) -> int:
    """Show confirmed answers that answer one question in two ways, side by side; exit 3 where there
    are any.
    """
    await run_pending_jobs(app)
    found = await conflicts.list_conflicts(app)
    if json:
        print_json({"conflicts": found})
        return NO_ANSWER if found else DONE
    if not found:
        print_text("nobody disagrees")
    for n, each in enumerate(found, start=1):
        where = f"tables {each.source}" if each.source else f"collection {each.collection}"
        print_parts(
            (f"{n}. {escape_line_breaks(each.sides[0].question)}", "bold"), (f" ({where})", "dim")
        )
        for side in each.sides:
            _show_side(side)
        print_text("`citewell knowledge undo ID` takes one of them back", "dim", indent=3)
    return NO_ANSWER if found else DONE


def _show_side(side: Side) -> None:
    people = ", ".join(
        f"{by.user_id} on {time.strftime('%Y-%m-%d', time.localtime(by.at))}"
        for by in side.confirmed_by
    )
    used = f"used {side.uses} {'time' if side.uses == 1 else 'times'}, weight {side.weight:.2f}"
    print_parts((side.item_id, "cyan"), f" confirmed by {people}; {used}", indent=3)
    print_text(escape_line_breaks(side.question), "dim", indent=6)
    print_text(side.logic if side.agent == "data" else side.answer, indent=6)


@command
async def clean_knowledge(
    app: App,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would go.")] = False,
    json: Json = False,
) -> int:
    """Clean away what nobody has used for long, what was undone, and what it left behind."""
    await run_pending_jobs(app)
    done = await clean_up.collect_garbage(app, dry_run=dry_run)
    if json:
        return print_json(done)
    if done.nothing:
        print_text("nothing to clean")
        return DONE
    told = {
        "out of use, for nobody used it": done.stale,
        "deleted, undone or set aside long ago": done.deleted,
        "correction deleted": done.rules,
        "document of no item": done.documents,
        "file of no item": done.files,
        "document made anew": done.repaired,
    }
    for what, ids in told.items():
        for each in ids:
            print_parts((f"{what}: ", "dim"), (each, "cyan"))
    for count, one, many in ((done.traces, "trace", "traces"), (done.feedback, "vote", "votes")):
        if count:
            print_text(f"{count} {one if count == 1 else many} past use", "dim")
    if dry_run:
        print_text("nothing was changed; without --dry-run this is done")
    return DONE


@command
async def export_knowledge(
    app: App,
    folder: Annotated[str, argument("Where the files go; a git repository.", "FOLDER")],
    prune: Annotated[
        bool, typer.Option("--prune", help="Delete files of what is not here (any more).")
    ] = False,
    json: Json = False,
) -> int:
    """Write confirmed answers and corrections as plain files, one each."""
    await run_pending_jobs(app)
    done = await exchange_files.export_knowledge(app, Path(folder), prune=prune)
    if json:
        return print_json(done)
    for name in done.written:
        print_parts(("written ", "green"), escape_line_breaks(name))
    for name in done.pruned:
        print_parts(("deleted ", "red"), escape_line_breaks(name))
    for name in done.left:
        print_parts(
            ("left alone ", "yellow"),
            f"{escape_line_breaks(name)}: not here (any more); --prune deletes it",
        )
    print_text(
        f"{done.items} answers, {done.rules} corrections; {len(done.written)} files are new "
        "or changed"
    )
    return DONE


@command
async def import_knowledge(
    app: App,
    folder: Annotated[str, argument("What `export` wrote.", "FOLDER")],
    user: Who = "local",
    json: Json = False,
) -> int:
    """Take such files in; each is checked for itself. Exit 1 where one is refused."""
    await run_pending_jobs(app)
    done = await exchange_files.import_knowledge(app, Path(folder), user)
    if json:
        print_json(done)
        return ERROR if done.failed else DONE
    for each in done.files:
        state = f" ({each.state})" if each.state else ""
        print_parts(
            (f"{each.status:<10}", STATUS[each.status]), escape_line_breaks(each.path) + state
        )
        if each.reason:
            print_text(each.reason, "dim", indent=4)
    counts = ", ".join(
        f"{sum(e.status == s for e in done.files)} {s}"
        for s in STATUS
        if any(e.status == s for e in done.files)
    )
    print_text(counts)
    return ERROR if done.failed else DONE
