"""`citewell knowledge`: confirmed answers and corrections. The one rule: who stands by something is
always shown with it.
"""

from __future__ import annotations

import time

from citewell.interfaces.cli.run import DONE
from citewell.interfaces.cli.terminal import one_line, out, print_json, styled, write
from citewell.runtime.app import App
from citewell.service.knowledge import find_knowledge as service
from citewell.service.knowledge.catch_up import catch_up
from citewell.service.knowledge.give_feedback import wrong_questions
from citewell.store.confirmed.items import Logged
from citewell.store.confirmed.types import Confirmed, Rule

COLOURS = {"active": "green", "pending": "yellow", "waiting": "yellow", "quarantined": "red"}
LONGEST = 200  # characters of an answer in a list
RULE = "rule_"  # how ids of rules begin


async def show_all(app: App, state: str | None, source: str | None, *, json: bool) -> int:
    await catch_up(app)
    items = await service.list_items(app, state=state, source=source)
    if json:
        print_json({"confirmed": [item.model_dump(mode="json") for item in items]})
        return DONE
    if not items:
        write(
            out(),
            styled("nothing is confirmed yet; `citewell feedback TRACE_ID --correct` does it"),
        )
    for item in items:
        _head(item)
        write(out(), styled(_short(item.question)), indent=2)
        shown = item.logic if item.agent == "data" else item.answer
        write(out(), styled("→ " + _short(shown)), indent=2)
    return DONE


async def show_one(app: App, item_id: str, *, json: bool) -> int:
    await catch_up(app)
    if item_id.startswith(RULE):
        rule = await service.get_rule(app, item_id)
        return await _shown_rule(app, rule, json=json)
    item = await service.get_item(app, item_id)
    log = await service.history_of(app, item_id)
    if json:
        print_json(
            item.model_dump(mode="json")
            | {"history": [each.model_dump(mode="json") for each in log]}
        )
        return DONE
    _head(item)
    facts = {
        "question": item.question,
        "intent": item.intent.intent_type,
        "logic": item.logic,
        "answer": item.answer,
        "document": f"{item.path} ({item.doc_id})" if item.path else "",
        "used": f"{_times(item.uses)}, said to be right by {_people(item.good)}, wrong "
        f"by {_people(item.bad)}"
        if item.uses
        else "",
        "conflicts with": ", ".join(item.conflicts),
    }
    _facts(facts, log)
    return DONE


async def undo(app: App, item_id: str, reason: str, user: str, *, json: bool) -> int:
    await catch_up(app)
    done: Confirmed | Rule
    is_rule = item_id.startswith(RULE)
    before = await (service.get_rule(app, item_id) if is_rule else service.get_item(app, item_id))
    if before.state == "undone" and not json:
        write(out(), styled("already undone; nothing has changed"))
    if is_rule:
        done = await service.review_rule(app, item_id, "undone", user, reason)
    else:
        done = await service.undo_item(app, item_id, user, reason)
    return _told(done, json=json)


async def confirm(app: App, item_id: str, user: str, *, json: bool) -> int:
    await catch_up(app)
    return _told(await service.endorse_item(app, item_id, user), json=json)


async def review(app: App, rule_id: str, state: str, reason: str, user: str, *, json: bool) -> int:
    await catch_up(app)
    return _told(await service.review_rule(app, rule_id, state, user, reason), json=json)


async def show_rules(app: App, state: str | None, *, json: bool) -> int:
    await catch_up(app)
    found = await service.list_rules(app, state)
    if json:
        print_json({"rules": [rule.model_dump(mode="json") for rule in found]})
        return DONE
    if not found:
        write(
            out(),
            styled(
                "no corrections; `citewell feedback TRACE_ID --wrong --correction TEXT` gives one"
            ),
        )
    for rule in found:
        _head(rule)
        write(out(), styled(_short(rule.question)), indent=2)
        write(out(), styled("→ " + _short(rule.correction)), indent=2)
    return DONE


async def show_wrong(app: App, *, json: bool) -> int:
    await catch_up(app)
    found = await wrong_questions(app)
    if json:
        print_json({"wrong": [each.model_dump(mode="json") for each in found]})
        return DONE
    if not found:
        write(out(), styled("nobody has said that an answer is wrong"))
    for each in found:
        corrected = f", {each.corrected} with a correction" if each.corrected else ""
        write(out(), styled(f"{each.times} × ", "cyan") + styled(_short(each.question)))
        write(
            out(),
            styled(
                f"{each.agent}, {_people(each.people)}{corrected}, last {each.last_trace_id}", "dim"
            ),
            indent=2,
        )
        write(out(), styled("→ " + _short(each.last_answer)), indent=2)
    return DONE


async def _shown_rule(app: App, rule: Rule, *, json: bool) -> int:
    log = await service.history_of(app, rule.rule_id)
    if json:
        print_json(
            rule.model_dump(mode="json")
            | {"history": [each.model_dump(mode="json") for each in log]}
        )
        return DONE
    _head(rule)
    facts = {
        "question": rule.question,
        "wrong": rule.wrong,
        "correction": rule.correction,
        "statement": rule.logic,
    }
    _facts(facts | {"used": _times(rule.uses) if rule.uses else ""}, log)
    return DONE


def _facts(facts: dict[str, str], log: list[Logged]) -> None:
    for name, value in facts.items():
        if value:
            write(out(), styled(f"{name}: ", "dim") + styled(value), indent=2)
    for each in log:
        why = f": {one_line(each.reason)}" if each.reason else ""
        who = f" by {one_line(each.user_id)}" if each.user_id else ""
        write(out(), styled(f"{_time(each.at)} {each.action}{who}{why}", "dim"), indent=2)


def _told(done: Confirmed | Rule, *, json: bool) -> int:
    if json:
        print_json(done.model_dump(mode="json"))
    else:
        _head(done)
    return DONE


def _head(each: Confirmed | Rule) -> None:
    """The id, the state and why, where it counts, who stands by it."""
    item_id = each.rule_id if isinstance(each, Rule) else each.item_id
    where = f"source {each.source}" if each.source else f"collection {each.collection}"
    people = (
        [each.user_id] if isinstance(each, Rule) else [one.user_id for one in each.confirmed_by]
    )
    by = (
        f", {'by' if isinstance(each, Rule) else 'confirmed by'} {one_line(', '.join(people))}"
        if people
        else ""
    )
    reviewed = (
        f", reviewed by {one_line(each.reviewed_by)}"
        if isinstance(each, Rule) and each.reviewed_by
        else ""
    )
    why = f" ({one_line(each.reason)})" if each.reason else ""
    state = styled(f" {each.state}", COLOURS.get(each.state, "dim"))
    write(
        out(),
        styled(item_id, "cyan")
        + state
        + styled(f"{why} {each.agent}, {where}{by}{reviewed}", "dim"),
    )


def _people(count: int) -> str:
    return "1 person" if count == 1 else f"{count} people"


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= LONGEST else line[:LONGEST] + "…"


def _time(at: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(at))
