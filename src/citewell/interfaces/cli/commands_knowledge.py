"""`citewell feedback` and `citewell knowledge ...`: names, arguments and help. The one rule: as in
commands.py, the work is imported when it is done.
"""

from __future__ import annotations

from typing import Annotated

import typer

from citewell.interfaces.cli.arguments import Json

knowledge_app = typer.Typer(
    help="What people have confirmed or corrected.", no_args_is_help=True, rich_markup_mode=None
)

Who = Annotated[str, typer.Option("--user", help="Who says so.")]
ItemId = Annotated[
    str, typer.Argument(metavar="ID", help="A confirmed answer.", show_default=False)
]
RuleId = Annotated[str, typer.Argument(metavar="RULE", help="A correction.", show_default=False)]
Reason = Annotated[str, typer.Option("--reason", help="Why; kept with it.", show_default=False)]
OfState = Annotated[
    str | None, typer.Option("--state", help="Only those in this state.", show_default=False)
]


def feedback(
    trace_id: Annotated[str, typer.Argument(help="The answer's trace.", show_default=False)],
    correct: Annotated[bool, typer.Option("--correct", help="The answer is right.")] = False,
    wrong: Annotated[bool, typer.Option("--wrong", help="The answer is wrong.")] = False,
    correction: Annotated[
        str | None,
        typer.Option(
            "--correction", help="What would be right: words, or SQL.", show_default=False
        ),
    ] = None,
    user: Who = "local",
    json: Json = False,
) -> None:
    """Say that an answer is right or wrong: what is right becomes knowledge, a correction a
    rule.
    """
    from citewell.interfaces.cli.feedback import give_feedback as work
    from citewell.interfaces.cli.run import run

    if correct == wrong:
        raise typer.BadParameter(
            "say which: --correct or --wrong" + (", not both" if correct else "")
        )
    run(lambda app: work(app, trace_id, correct, correction, user, json=json), json=json)


@knowledge_app.command(name="list")
def knowledge_list(
    state: OfState = None,
    source: Annotated[
        str | None, typer.Option("--source", help="Only on these tables.", show_default=False)
    ] = None,
    json: Json = False,
) -> None:
    """List confirmed answers, the newest first."""
    from citewell.interfaces.cli.knowledge import show_items
    from citewell.interfaces.cli.run import run

    run(lambda app: show_items(app, state, source, json=json), json=json)


@knowledge_app.command(name="show")
def knowledge_show(item_id: ItemId, json: Json = False) -> None:
    """Show a confirmed answer or a correction: what it says, who stands by it, how often it was
    used.
    """
    from citewell.interfaces.cli.knowledge import show_item
    from citewell.interfaces.cli.run import run

    run(lambda app: show_item(app, item_id, json=json), json=json)


@knowledge_app.command(name="undo")
def knowledge_undo(
    item_id: ItemId, reason: Reason = "", user: Who = "local", json: Json = False
) -> None:
    """Take a confirmed answer or a rule back: its document, its index entry and its effect."""
    from citewell.interfaces.cli.knowledge import undo_item
    from citewell.interfaces.cli.run import run

    run(lambda app: undo_item(app, item_id, reason, user, json=json), json=json)


@knowledge_app.command(name="confirm")
def knowledge_confirm(item_id: ItemId, user: Who = "local", json: Json = False) -> None:
    """Stand by an answer that waits for more people, or that was set aside."""
    from citewell.interfaces.cli.knowledge import confirm_item
    from citewell.interfaces.cli.run import run

    run(lambda app: confirm_item(app, item_id, user, json=json), json=json)


@knowledge_app.command(name="rules")
def knowledge_rules(state: OfState = None, json: Json = False) -> None:
    """List corrections: those that wait for review first."""
    from citewell.interfaces.cli.knowledge import show_rules
    from citewell.interfaces.cli.run import run

    run(lambda app: show_rules(app, state, json=json), json=json)


@knowledge_app.command(name="approve")
def knowledge_approve(
    rule_id: RuleId, reason: Reason = "", user: Who = "local", json: Json = False
) -> None:
    """Have a correction used."""
    from citewell.interfaces.cli.knowledge import review_rule
    from citewell.interfaces.cli.run import run

    run(lambda app: review_rule(app, rule_id, "active", reason, user, json=json), json=json)


@knowledge_app.command(name="reject")
def knowledge_reject(
    rule_id: RuleId, reason: Reason = "", user: Who = "local", json: Json = False
) -> None:
    """Refuse a correction; it is kept, and not used."""
    from citewell.interfaces.cli.knowledge import review_rule
    from citewell.interfaces.cli.run import run

    run(lambda app: review_rule(app, rule_id, "rejected", reason, user, json=json), json=json)


@knowledge_app.command(name="wrong")
def knowledge_wrong(json: Json = False) -> None:
    """List questions whose answers were said to be wrong, the most often first."""
    from citewell.interfaces.cli.knowledge import show_wrong
    from citewell.interfaces.cli.run import run

    run(lambda app: show_wrong(app, json=json), json=json)


@knowledge_app.command(name="check")
def knowledge_check(
    source: Annotated[
        str | None, typer.Option("--source", help="Only these tables.", show_default=False)
    ] = None,
    json: Json = False,
) -> None:
    """Run confirmed statements again and look up what confirmed answers quote; exit 3 where
    something does not hold.
    """
    from citewell.interfaces.cli.knowledge_health import check_knowledge
    from citewell.interfaces.cli.run import run

    run(lambda app: check_knowledge(app, source, json=json), json=json)


@knowledge_app.command(name="conflicts")
def knowledge_conflicts(json: Json = False) -> None:
    """Show confirmed answers that answer one question in two ways, side by side; exit 3 where there
    are any.
    """
    from citewell.interfaces.cli.knowledge_health import show_conflicts
    from citewell.interfaces.cli.run import run

    run(lambda app: show_conflicts(app, json=json), json=json)


@knowledge_app.command(name="gc")
def knowledge_gc(
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would go.")] = False,
    json: Json = False,
) -> None:
    """Clean away what nobody has used for long, what was undone, and what it left behind."""
    from citewell.interfaces.cli.knowledge_health import clean_knowledge
    from citewell.interfaces.cli.run import run

    run(lambda app: clean_knowledge(app, dry_run=dry_run, json=json), json=json)


@knowledge_app.command(name="export")
def knowledge_export(
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
    from citewell.interfaces.cli.knowledge_health import export_knowledge
    from citewell.interfaces.cli.run import run

    run(lambda app: export_knowledge(app, folder, prune=prune, json=json), json=json)


@knowledge_app.command(name="import")
def knowledge_import(
    folder: Annotated[
        str, typer.Argument(metavar="FOLDER", help="What `export` wrote.", show_default=False)
    ],
    user: Who = "local",
    json: Json = False,
) -> None:
    """Take such files in; each is checked for itself. Exit 1 where one is refused."""
    from citewell.interfaces.cli.knowledge_health import import_knowledge
    from citewell.interfaces.cli.run import run

    run(lambda app: import_knowledge(app, folder, user, json=json), json=json)
