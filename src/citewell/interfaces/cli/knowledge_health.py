"""`citewell knowledge check|conflicts|gc|export|import`: does it still hold, who disagrees, what
may go, and files for git.

The one rule: what was changed, and why, is said item by item.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from citewell.interfaces.cli.arguments import Json, Who
from citewell.interfaces.cli.run import DONE, ERROR, NO_ANSWER, run
from citewell.interfaces.cli.terminal import (
    escape_line_breaks,
    get_stdout,
    print_json,
    print_warning,
    style_text,
    write_paragraph,
)
from citewell.runtime.app import App
from citewell.service.knowledge import clean_up, conflicts, exchange_files, recheck
from citewell.service.knowledge.catch_up import run_pending_jobs
from citewell.service.knowledge.conflicts import Side

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


def run_check(
    source: Annotated[
        str | None, typer.Option("--source", help="Only these tables.", show_default=False)
    ] = None,
    json: Json = False,
) -> None:
    """Run confirmed statements again and look up what confirmed answers quote; exit 3 where
    something does not hold.
    """
    run(lambda app: check_knowledge(app, source, json=json), json=json)


def run_conflicts(json: Json = False) -> None:
    """Show confirmed answers that answer one question in two ways, side by side; exit 3 where there
    are any.
    """
    run(lambda app: show_conflicts(app, json=json), json=json)


def run_gc(
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would go.")] = False,
    json: Json = False,
) -> None:
    """Clean away what nobody has used for long, what was undone, and what it left behind."""
    run(lambda app: clean_knowledge(app, dry_run=dry_run, json=json), json=json)


def run_export(
    folder: Annotated[
        str,
        typer.Argument(
            metavar="FOLDER", help="Where the files go; a git repository.", show_default=False
        ),
    ],
    prune: Annotated[
        bool, typer.Option("--prune", help="Delete files of what is not here (any more).")
    ] = False,
    json: Json = False,
) -> None:
    """Write confirmed answers and corrections as plain files, one each."""
    run(lambda app: export_knowledge(app, folder, prune=prune, json=json), json=json)


def run_import(
    folder: Annotated[
        str, typer.Argument(metavar="FOLDER", help="What `export` wrote.", show_default=False)
    ],
    user: Who = "local",
    json: Json = False,
) -> None:
    """Take such files in; each is checked for itself. Exit 1 where one is refused."""
    run(lambda app: import_knowledge(app, folder, user, json=json), json=json)


async def check_knowledge(app: App, source: str | None, *, json: bool) -> int:
    await run_pending_jobs(app)
    checked = await recheck.check_all(app, source)
    bad = [
        each for one in checked for each in one.looked if each.outcome in {"quarantined", "waiting"}
    ]
    if json:
        print_json({"checked": [each.model_dump(mode="json") for each in checked]})
        return NO_ANSWER if bad else DONE
    for one in checked:
        if one.problem:
            print_warning(f"{one.source}: {one.problem}")
        for each in one.looked:
            head = style_text(f"{each.outcome:<12}", COLOURS[each.outcome]) + style_text(
                each.item_id, "cyan"
            )
            write_paragraph(
                get_stdout(), head + style_text(f" {escape_line_breaks(each.question)}")
            )
            if each.reason:
                write_paragraph(get_stdout(), style_text(each.reason, "dim"), indent=4)
    looked = sum(len(one.looked) for one in checked)
    write_paragraph(get_stdout(), style_text(f"{looked} looked at, {len(bad)} of them do not hold"))
    return NO_ANSWER if bad else DONE


async def show_conflicts(app: App, *, json: bool) -> int:
    await run_pending_jobs(app)
    found = await conflicts.list_conflicts(app)
    if json:
        print_json({"conflicts": [each.model_dump(mode="json") for each in found]})
        return NO_ANSWER if found else DONE
    if not found:
        write_paragraph(get_stdout(), style_text("nobody disagrees"))
    for n, each in enumerate(found, start=1):
        where = f"tables {each.source}" if each.source else f"collection {each.collection}"
        write_paragraph(
            get_stdout(),
            style_text(f"{n}. {escape_line_breaks(each.sides[0].question)}", "bold")
            + style_text(f" ({where})", "dim"),
        )
        for side in each.sides:
            _show_side(side)
        write_paragraph(
            get_stdout(),
            style_text("`citewell knowledge undo ID` takes one of them back", "dim"),
            indent=3,
        )
    return NO_ANSWER if found else DONE


def _show_side(side: Side) -> None:
    people = ", ".join(
        f"{by.user_id} on {time.strftime('%Y-%m-%d', time.localtime(by.at))}"
        for by in side.confirmed_by
    )
    used = f"used {side.uses} {'time' if side.uses == 1 else 'times'}, weight {side.weight:.2f}"
    write_paragraph(
        get_stdout(),
        style_text(side.item_id, "cyan") + style_text(f" confirmed by {people}; {used}"),
        indent=3,
    )
    write_paragraph(get_stdout(), style_text(escape_line_breaks(side.question), "dim"), indent=6)
    write_paragraph(
        get_stdout(), style_text(side.logic if side.agent == "data" else side.answer), indent=6
    )


async def clean_knowledge(app: App, *, dry_run: bool, json: bool) -> int:
    await run_pending_jobs(app)
    done = await clean_up.collect_garbage(app, dry_run=dry_run)
    if json:
        print_json(done.model_dump(mode="json"))
        return DONE
    if done.nothing:
        write_paragraph(get_stdout(), style_text("nothing to clean"))
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
            write_paragraph(get_stdout(), style_text(f"{what}: ", "dim") + style_text(each, "cyan"))
    for count, one, many in ((done.traces, "trace", "traces"), (done.feedback, "vote", "votes")):
        if count:
            write_paragraph(
                get_stdout(), style_text(f"{count} {one if count == 1 else many} past use", "dim")
            )
    if dry_run:
        write_paragraph(
            get_stdout(), style_text("nothing was changed; without --dry-run this is done")
        )
    return DONE


async def export_knowledge(app: App, folder: str, *, prune: bool, json: bool) -> int:
    await run_pending_jobs(app)
    done = await exchange_files.export_knowledge(app, Path(folder), prune=prune)
    if json:
        print_json(done.model_dump(mode="json"))
        return DONE
    for name in done.written:
        write_paragraph(
            get_stdout(), style_text("written ", "green") + style_text(escape_line_breaks(name))
        )
    for name in done.pruned:
        write_paragraph(
            get_stdout(), style_text("deleted ", "red") + style_text(escape_line_breaks(name))
        )
    for name in done.left:
        write_paragraph(
            get_stdout(),
            style_text("left alone ", "yellow")
            + style_text(f"{escape_line_breaks(name)}: not here (any more); --prune deletes it"),
        )
    write_paragraph(
        get_stdout(),
        style_text(
            f"{done.items} answers, {done.rules} corrections; {len(done.written)} files are new "
            "or changed"
        ),
    )
    return DONE


async def import_knowledge(app: App, folder: str, user: str, *, json: bool) -> int:
    await run_pending_jobs(app)
    done = await exchange_files.import_knowledge(app, Path(folder), user)
    if json:
        print_json(done.model_dump(mode="json"))
        return ERROR if done.failed else DONE
    for each in done.files:
        state = f" ({each.state})" if each.state else ""
        write_paragraph(
            get_stdout(),
            style_text(f"{each.status:<10}", STATUS[each.status])
            + style_text(escape_line_breaks(each.path) + state),
        )
        if each.reason:
            write_paragraph(get_stdout(), style_text(each.reason, "dim"), indent=4)
    counts = ", ".join(
        f"{sum(e.status == s for e in done.files)} {s}"
        for s in STATUS
        if any(e.status == s for e in done.files)
    )
    write_paragraph(get_stdout(), style_text(counts))
    return ERROR if done.failed else DONE
