"""`citewell knowledge`: confirmed answers, corrections, always with who stands by them."""

from __future__ import annotations

from typing import Annotated

from citewell.interfaces.cli.arguments import Json, Who, argument, option
from citewell.interfaces.cli.group import create_group
from citewell.interfaces.cli.knowledge.knowledge_health import (
    check_knowledge,
    clean_knowledge,
    export_knowledge,
    import_knowledge,
    show_conflicts,
)
from citewell.interfaces.cli.knowledge.knowledge_show import (
    format_people,
    format_times,
    report_result,
    shorten_text,
    show_facts,
    show_head,
)
from citewell.interfaces.cli.output.terminal import print_json, print_parts, print_text
from citewell.interfaces.cli.run import DONE, command
from citewell.runtime.app import App
from citewell.service.knowledge import review_knowledge as service
from citewell.service.knowledge.feedback_job import run_pending_jobs
from citewell.service.knowledge.give_feedback import list_wrong_questions
from citewell.store.confirmed.types import Confirmed, Rule
from citewell.store.db import Database

RULE = "rule_"  # how ids of rules begin
OfState = Annotated[str | None, option("Only those in this state.", "--state")]
ItemId = Annotated[str, argument("A confirmed answer.", "ID")]
Reason = Annotated[str, option("Why; kept with it.", "--reason")]
RuleId = Annotated[str, argument("A correction.", "RULE")]


@command
async def run_approve(
    app: App, rule_id: RuleId, reason: Reason = "", user: Who = "local", json: Json = False
) -> int:
    """Have a correction used."""
    return await _review_rule(app, rule_id, "active", reason, user, json=json)


@command
async def run_reject(
    app: App, rule_id: RuleId, reason: Reason = "", user: Who = "local", json: Json = False
) -> int:
    """Refuse a correction; it is kept, and not used."""
    return await _review_rule(app, rule_id, "rejected", reason, user, json=json)


@command
async def show_items(
    app: App,
    state: OfState = None,
    source: Annotated[str | None, option("Only on these tables.", "--source")] = None,
    json: Json = False,
) -> int:
    """List confirmed answers, the newest first."""
    await run_pending_jobs(app)
    items = await service.list_items(app, state=state, source=source)
    if json:
        return print_json({"confirmed": items})
    if not items:
        print_text("nothing is confirmed yet; `citewell feedback TRACE_ID --correct` does it")
    for item in items:
        show_head(item)
        print_text(shorten_text(item.question), indent=2)
        shown = item.logic if item.agent == "data" else item.answer
        print_text("→ " + shorten_text(shown), indent=2)
    return DONE


@command
async def show_item(app: App, item_id: ItemId, json: Json = False) -> int:
    """Show a confirmed answer or a correction: what it says, who stands by it, how often it was
    used.
    """
    await run_pending_jobs(app)
    if item_id.startswith(RULE):
        rule = await service.get_rule(app, item_id)
        return await _show_rule(app.db, rule, json=json)
    item = await service.get_item(app, item_id)
    log = await service.get_history(app.db, item_id)
    if json:
        return print_json(item.model_dump(mode="json") | {"history": log})
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


@command
async def undo_item(
    app: App, item_id: ItemId, reason: Reason = "", user: Who = "local", json: Json = False
) -> int:
    """Take a confirmed answer or a rule back: its document, its index entry and its effect."""
    await run_pending_jobs(app)
    done: Confirmed | Rule
    is_rule = item_id.startswith(RULE)
    before = await (service.get_rule(app, item_id) if is_rule else service.get_item(app, item_id))
    if before.state == "undone" and not json:
        print_text("already undone; nothing has changed")
    if is_rule:
        done = await service.review_rule(app, item_id, "undone", user, reason)
    else:
        done = await service.undo_item(app, item_id, user, reason)
    return report_result(done, json=json)


@command
async def confirm_item(app: App, item_id: ItemId, user: Who = "local", json: Json = False) -> int:
    """Stand by an answer that waits for more people, or that was set aside."""
    await run_pending_jobs(app)
    return report_result(await service.endorse_item(app, item_id, user), json=json)


async def _review_rule(
    app: App, rule_id: str, state: str, reason: str, user: str, *, json: bool
) -> int:
    await run_pending_jobs(app)
    return report_result(await service.review_rule(app, rule_id, state, user, reason), json=json)


@command
async def show_rules(app: App, state: OfState = None, json: Json = False) -> int:
    """List corrections: those that wait for review first."""
    await run_pending_jobs(app)
    found = await service.list_rules(app, state)
    if json:
        return print_json({"rules": found})
    if not found:
        print_text(
            "no corrections; `citewell feedback TRACE_ID --wrong --correction TEXT` gives one"
        )
    for rule in found:
        show_head(rule)
        print_text(shorten_text(rule.question), indent=2)
        print_text("→ " + shorten_text(rule.correction), indent=2)
    return DONE


@command
async def show_wrong(app: App, json: Json = False) -> int:
    """List questions whose answers were said to be wrong, the most often first."""
    await run_pending_jobs(app)
    found = await list_wrong_questions(app)
    if json:
        return print_json({"wrong": found})
    if not found:
        print_text("nobody has said that an answer is wrong")
    for each in found:
        corrected = f", {each.corrected} with a correction" if each.corrected else ""
        print_parts((f"{each.times} × ", "cyan"), shorten_text(each.question))
        print_text(
            f"{each.agent}, {format_people(each.people)}{corrected}, last {each.last_trace_id}",
            "dim",
            indent=2,
        )
        print_text("→ " + shorten_text(each.last_answer), indent=2)
    return DONE


async def _show_rule(db: Database, rule: Rule, *, json: bool) -> int:
    log = await service.get_history(db, rule.rule_id)
    if json:
        return print_json(rule.model_dump(mode="json") | {"history": log})
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
        "list": show_items,
        "show": show_item,
        "undo": undo_item,
        "confirm": confirm_item,
        "rules": show_rules,
        "approve": run_approve,
        "reject": run_reject,
        "wrong": show_wrong,
        "check": check_knowledge,
        "conflicts": show_conflicts,
        "gc": clean_knowledge,
        "export": export_knowledge,
        "import": import_knowledge,
    },
)
