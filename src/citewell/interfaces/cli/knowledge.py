"""`citewell knowledge`: confirmed answers and corrections. The one rule: who stands by something is
always shown with it.
"""

from __future__ import annotations

import time

from citewell.interfaces.cli.run import DONE
from citewell.interfaces.cli.terminal import (
    escape_line_breaks,
    get_stdout,
    print_json,
    style_text,
    write_paragraph,
)
from citewell.runtime.app import App
from citewell.service.knowledge import find_knowledge as service
from citewell.service.knowledge.catch_up import run_pending_jobs
from citewell.service.knowledge.give_feedback import list_wrong_questions
from citewell.store.confirmed.items import Logged
from citewell.store.confirmed.types import Confirmed, Rule

COLOURS = {"active": "green", "pending": "yellow", "waiting": "yellow", "quarantined": "red"}
LONGEST = 200  # characters of an answer in a list
RULE = "rule_"  # how ids of rules begin


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
        _show_head(item)
        write_paragraph(get_stdout(), style_text(_shorten_text(item.question)), indent=2)
        shown = item.logic if item.agent == "data" else item.answer
        write_paragraph(get_stdout(), style_text("→ " + _shorten_text(shown)), indent=2)
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
    _show_head(item)
    facts = {
        "question": item.question,
        "intent": item.intent.intent_type,
        "logic": item.logic,
        "answer": item.answer,
        "document": f"{item.path} ({item.doc_id})" if item.path else "",
        "used": f"{_format_times(item.uses)}, said to be right by {_format_people(item.good)}, "
        "wrong "
        f"by {_format_people(item.bad)}"
        if item.uses
        else "",
        "conflicts with": ", ".join(item.conflicts),
    }
    _show_facts(facts, log)
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
    return _report_result(done, json=json)


async def confirm_item(app: App, item_id: str, user: str, *, json: bool) -> int:
    await run_pending_jobs(app)
    return _report_result(await service.endorse_item(app, item_id, user), json=json)


async def review_rule(
    app: App, rule_id: str, state: str, reason: str, user: str, *, json: bool
) -> int:
    await run_pending_jobs(app)
    return _report_result(await service.review_rule(app, rule_id, state, user, reason), json=json)


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
        _show_head(rule)
        write_paragraph(get_stdout(), style_text(_shorten_text(rule.question)), indent=2)
        write_paragraph(get_stdout(), style_text("→ " + _shorten_text(rule.correction)), indent=2)
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
            style_text(f"{each.times} × ", "cyan") + style_text(_shorten_text(each.question)),
        )
        write_paragraph(
            get_stdout(),
            style_text(
                f"{each.agent}, {_format_people(each.people)}{corrected}, "
                f"last {each.last_trace_id}",
                "dim",
            ),
            indent=2,
        )
        write_paragraph(get_stdout(), style_text("→ " + _shorten_text(each.last_answer)), indent=2)
    return DONE


async def _show_rule(app: App, rule: Rule, *, json: bool) -> int:
    log = await service.get_history(app, rule.rule_id)
    if json:
        print_json(
            rule.model_dump(mode="json")
            | {"history": [each.model_dump(mode="json") for each in log]}
        )
        return DONE
    _show_head(rule)
    facts = {
        "question": rule.question,
        "wrong": rule.wrong,
        "correction": rule.correction,
        "statement": rule.logic,
    }
    _show_facts(facts | {"used": _format_times(rule.uses) if rule.uses else ""}, log)
    return DONE


def _show_facts(facts: dict[str, str], log: list[Logged]) -> None:
    for name, value in facts.items():
        if value:
            write_paragraph(
                get_stdout(), style_text(f"{name}: ", "dim") + style_text(value), indent=2
            )
    for each in log:
        why = f": {escape_line_breaks(each.reason)}" if each.reason else ""
        who = f" by {escape_line_breaks(each.user_id)}" if each.user_id else ""
        write_paragraph(
            get_stdout(),
            style_text(f"{_format_time(each.at)} {each.action}{who}{why}", "dim"),
            indent=2,
        )


def _report_result(done: Confirmed | Rule, *, json: bool) -> int:
    if json:
        print_json(done.model_dump(mode="json"))
    else:
        _show_head(done)
    return DONE


def _show_head(each: Confirmed | Rule) -> None:
    """The id, the state and why, where it counts, who stands by it."""
    item_id = each.rule_id if isinstance(each, Rule) else each.item_id
    where = f"source {each.source}" if each.source else f"collection {each.collection}"
    people = (
        [each.user_id] if isinstance(each, Rule) else [one.user_id for one in each.confirmed_by]
    )
    by = (
        ","
        f" {'by' if isinstance(each, Rule) else 'confirmed by'} "
        f"{escape_line_breaks(', '.join(people))}"
        if people
        else ""
    )
    reviewed = (
        f", reviewed by {escape_line_breaks(each.reviewed_by)}"
        if isinstance(each, Rule) and each.reviewed_by
        else ""
    )
    why = f" ({escape_line_breaks(each.reason)})" if each.reason else ""
    state = style_text(f" {each.state}", COLOURS.get(each.state, "dim"))
    write_paragraph(
        get_stdout(),
        style_text(item_id, "cyan")
        + state
        + style_text(f"{why} {each.agent}, {where}{by}{reviewed}", "dim"),
    )


def _format_people(count: int) -> str:
    return "1 person" if count == 1 else f"{count} people"


def _format_times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


def _shorten_text(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= LONGEST else line[:LONGEST] + "…"


def _format_time(at: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(at))
