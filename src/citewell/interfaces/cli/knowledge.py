"""`citewell knowledge`: confirmed answers and corrections. The one rule: who stands by something is
always shown with it.
"""

from __future__ import annotations

from typing import Annotated

import typer

from citewell.interfaces.cli.arguments import Json, Who
from citewell.interfaces.cli.group import create_group
from citewell.interfaces.cli.knowledge_health import (
    run_check,
    run_conflicts,
    run_export,
    run_gc,
    run_import,
)
from citewell.interfaces.cli.knowledge_show import (
    format_people,
    format_times,
    report_result,
    shorten_text,
    show_facts,
    show_head,
)
from citewell.interfaces.cli.run import DONE, run
from citewell.interfaces.cli.terminal import (
    get_stdout,
    print_json,
    style_text,
    write_paragraph,
)
from citewell.runtime.app import App
from citewell.service.knowledge import find_knowledge as service
from citewell.service.knowledge.catch_up import run_pending_jobs
from citewell.service.knowledge.give_feedback import list_wrong_questions
from citewell.store.confirmed.types import Confirmed, Rule

RULE = "rule_"  # how ids of rules begin
OfState = Annotated[
    str | None, typer.Option("--state", help="Only those in this state.", show_default=False)
]
ItemId = Annotated[
    str, typer.Argument(metavar="ID", help="A confirmed answer.", show_default=False)
]
Reason = Annotated[str, typer.Option("--reason", help="Why; kept with it.", show_default=False)]
RuleId = Annotated[str, typer.Argument(metavar="RULE", help="A correction.", show_default=False)]


def run_list(
    state: OfState = None,
    source: Annotated[
        str | None, typer.Option("--source", help="Only on these tables.", show_default=False)
    ] = None,
    json: Json = False,
) -> None:
    """List confirmed answers, the newest first."""
    run(lambda app: show_items(app, state, source, json=json), json=json)


def run_show(item_id: ItemId, json: Json = False) -> None:
    """Show a confirmed answer or a correction: what it says, who stands by it, how often it was
    used.
    """
    run(lambda app: show_item(app, item_id, json=json), json=json)


def run_undo(item_id: ItemId, reason: Reason = "", user: Who = "local", json: Json = False) -> None:
    """Take a confirmed answer or a rule back: its document, its index entry and its effect."""
    run(lambda app: undo_item(app, item_id, reason, user, json=json), json=json)


def run_confirm(item_id: ItemId, user: Who = "local", json: Json = False) -> None:
    """Stand by an answer that waits for more people, or that was set aside."""
    run(lambda app: confirm_item(app, item_id, user, json=json), json=json)


def run_rules(state: OfState = None, json: Json = False) -> None:
    """List corrections: those that wait for review first."""
    run(lambda app: show_rules(app, state, json=json), json=json)


def run_approve(
    rule_id: RuleId, reason: Reason = "", user: Who = "local", json: Json = False
) -> None:
    """Have a correction used."""
    run(lambda app: review_rule(app, rule_id, "active", reason, user, json=json), json=json)


def run_reject(
    rule_id: RuleId, reason: Reason = "", user: Who = "local", json: Json = False
) -> None:
    """Refuse a correction; it is kept, and not used."""
    run(lambda app: review_rule(app, rule_id, "rejected", reason, user, json=json), json=json)


def run_wrong(json: Json = False) -> None:
    """List questions whose answers were said to be wrong, the most often first."""
    run(lambda app: show_wrong(app, json=json), json=json)


async def show_items(app: App, state: str | None, source: str | None, *, json: bool) -> int:
    await run_pending_jobs(app)
    items = await service.list_items(app, state=state, source=source)
    if json:
        print_json({"confirmed": [item.model_dump(mode="json") for item in items]})
        return DONE
    if not items:
        write_paragraph(
            get_stdout(),
            style_text("nothing is confirmed yet; `citewell feedback TRACE_ID --correct` does it"),
        )
    for item in items:
        show_head(item)
        write_paragraph(get_stdout(), style_text(shorten_text(item.question)), indent=2)
        shown = item.logic if item.agent == "data" else item.answer
        write_paragraph(get_stdout(), style_text("→ " + shorten_text(shown)), indent=2)
    return DONE


async def show_item(app: App, item_id: str, *, json: bool) -> int:
    await run_pending_jobs(app)
    if item_id.startswith(RULE):
        rule = await service.get_rule(app, item_id)
        return await _show_rule(app, rule, json=json)
    item = await service.get_item(app, item_id)
    log = await service.get_history(app, item_id)
    if json:
        print_json(
            item.model_dump(mode="json")
            | {"history": [each.model_dump(mode="json") for each in log]}
        )
        return DONE
    show_head(item)
    facts = {
        "question": item.question,
        "intent": item.intent.intent_type,
        "logic": item.logic,
        "answer": item.answer,
        "document": f"{item.path} ({item.doc_id})" if item.path else "",
        "used": f"{format_times(item.uses)}, said to be right by {format_people(item.good)}, "
        "wrong "
        f"by {format_people(item.bad)}"
        if item.uses
        else "",
        "conflicts with": ", ".join(item.conflicts),
    }
    show_facts(facts, log)
    return DONE


async def undo_item(app: App, item_id: str, reason: str, user: str, *, json: bool) -> int:
    await run_pending_jobs(app)
    done: Confirmed | Rule
    is_rule = item_id.startswith(RULE)
    before = await (service.get_rule(app, item_id) if is_rule else service.get_item(app, item_id))
    if before.state == "undone" and not json:
        write_paragraph(get_stdout(), style_text("already undone; nothing has changed"))
    if is_rule:
        done = await service.review_rule(app, item_id, "undone", user, reason)
    else:
        done = await service.undo_item(app, item_id, user, reason)
    return report_result(done, json=json)


async def confirm_item(app: App, item_id: str, user: str, *, json: bool) -> int:
    await run_pending_jobs(app)
    return report_result(await service.endorse_item(app, item_id, user), json=json)


async def review_rule(
    app: App, rule_id: str, state: str, reason: str, user: str, *, json: bool
) -> int:
    await run_pending_jobs(app)
    return report_result(await service.review_rule(app, rule_id, state, user, reason), json=json)


async def show_rules(app: App, state: str | None, *, json: bool) -> int:
    await run_pending_jobs(app)
    found = await service.list_rules(app, state)
    if json:
        print_json({"rules": [rule.model_dump(mode="json") for rule in found]})
        return DONE
    if not found:
        write_paragraph(
            get_stdout(),
            style_text(
                "no corrections; `citewell feedback TRACE_ID --wrong --correction TEXT` gives one"
            ),
        )
    for rule in found:
        show_head(rule)
        write_paragraph(get_stdout(), style_text(shorten_text(rule.question)), indent=2)
        write_paragraph(get_stdout(), style_text("→ " + shorten_text(rule.correction)), indent=2)
    return DONE


async def show_wrong(app: App, *, json: bool) -> int:
    await run_pending_jobs(app)
    found = await list_wrong_questions(app)
    if json:
        print_json({"wrong": [each.model_dump(mode="json") for each in found]})
        return DONE
    if not found:
        write_paragraph(get_stdout(), style_text("nobody has said that an answer is wrong"))
    for each in found:
        corrected = f", {each.corrected} with a correction" if each.corrected else ""
        write_paragraph(
            get_stdout(),
            style_text(f"{each.times} × ", "cyan") + style_text(shorten_text(each.question)),
        )
        write_paragraph(
            get_stdout(),
            style_text(
                f"{each.agent}, {format_people(each.people)}{corrected}, last {each.last_trace_id}",
                "dim",
            ),
            indent=2,
        )
        write_paragraph(get_stdout(), style_text("→ " + shorten_text(each.last_answer)), indent=2)
    return DONE


async def _show_rule(app: App, rule: Rule, *, json: bool) -> int:
    log = await service.get_history(app, rule.rule_id)
    if json:
        print_json(
            rule.model_dump(mode="json")
            | {"history": [each.model_dump(mode="json") for each in log]}
        )
        return DONE
    show_head(rule)
    facts = {
        "question": rule.question,
        "wrong": rule.wrong,
        "correction": rule.correction,
        "statement": rule.logic,
    }
    show_facts(facts | {"used": format_times(rule.uses) if rule.uses else ""}, log)
    return DONE


group = create_group(
    "What people have confirmed or corrected.",
    {
        "list": run_list,
        "show": run_show,
        "undo": run_undo,
        "confirm": run_confirm,
        "rules": run_rules,
        "approve": run_approve,
        "reject": run_reject,
        "wrong": run_wrong,
        "check": run_check,
        "conflicts": run_conflicts,
        "gc": run_gc,
        "export": run_export,
        "import": run_import,
    },
)
