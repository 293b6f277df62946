"""`citewell feedback`: an answer is right or wrong. The reply is printed before the work."""

from __future__ import annotations

from typing import Annotated

import typer

from citewell.interfaces.cli.arguments import Json, Who, argument, option
from citewell.interfaces.cli.output.terminal import (
    get_stderr,
    get_stdout,
    print_json,
    print_parts,
    print_text,
    print_warning,
    write_paragraph,
)
from citewell.interfaces.cli.run import DONE, ERROR, command
from citewell.runtime.app import App
from citewell.service.knowledge.feedback_job import run_pending_jobs
from citewell.service.knowledge.give_feedback import get_feedback, submit_feedback
from citewell.store.confirmed.feedback import Vote

TOLD = {
    "active": "it is knowledge now: {item_id}",
    "pending": "it waits for more people: {item_id}",
    "quarantined": "it was set aside before, and waits to be restored: {item_id}",
    "rule": "the correction waits for review: {item_id}",
    "kept": "kept for analysis",
}


@command
async def give_feedback(
    app: App,
    trace_id: Annotated[str, argument("The answer's trace.")],
    correct: Annotated[bool, typer.Option("--correct", help="The answer is right.")] = False,
    wrong: Annotated[bool, typer.Option("--wrong", help="The answer is wrong.")] = False,
    correction: Annotated[
        str | None, option("What would be right: words, or SQL.", "--correction")
    ] = None,
    user: Who = "local",
    json: Json = False,
) -> int:
    """Say that an answer is right or wrong: what is right becomes knowledge, a correction a
    rule.
    """
    if correct == wrong:
        raise typer.BadParameter(
            "say which: --correct or --wrong" + (", not both" if correct else "")
        )
    given = await submit_feedback(app, trace_id, correct, correction, user)
    if not json:
        print_parts((given.feedback_id, "cyan"), f" {given.message}")
        get_stdout().file.flush()
    await run_pending_jobs(app)
    vote = await get_feedback(app, given.feedback_id, user)
    if json:
        print_json(
            given.model_dump(mode="json")
            | {"state": vote.state, "outcome": vote.outcome, "item_id": vote.item_id}
        )
    elif vote.state == "done":
        print_text(_format_outcome(vote), "dim", indent=2)
        if vote.outcome.startswith("rule: "):
            print_warning(vote.outcome.removeprefix("rule: "))
    if vote.state == "done":
        return DONE
    why = vote.outcome or "another process is at it"
    print_warning(f"it is kept, and not done yet: {why}")
    write_paragraph(
        get_stderr(),
        "it is tried again by the server, and by the next `citewell feedback` or "
        "`citewell knowledge`",
        "dim",
    )
    return ERROR if vote.state == "failed" else DONE


def _format_outcome(vote: Vote) -> str:
    outcome = "rule" if vote.outcome.startswith("rule: ") else vote.outcome
    return TOLD[outcome].format(item_id=vote.item_id) if outcome in TOLD else outcome
