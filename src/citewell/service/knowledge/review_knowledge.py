"""What people have confirmed and corrected: listed, vouched for, reviewed, undone. What is undone
leaves search, document and effect in one transaction, and its file right after.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import get_args

import anyio.to_thread
from sqlalchemy import Connection

from citewell.errors import Conflict, InvalidInput, NotFound
from citewell.messages import Text
from citewell.runtime.access_scope import is_shown
from citewell.runtime.app import App
from citewell.service.knowledge.conflicts import add_conflicts
from citewell.service.knowledge.correction_sql import judge_correction
from citewell.service.knowledge.give_feedback import KIND, normalize_user
from citewell.service.knowledge.update_items import get_feedback_settings, hide_item_in, settle_item
from citewell.store.confirmed import feedback, rules
from citewell.store.confirmed import items as confirmed
from citewell.store.confirmed.item_files import render_document
from citewell.store.confirmed.items import Logged
from citewell.store.confirmed.types import Confirmed, ItemState, Rule, RuleState
from citewell.store.db import Database
from citewell.store.users.identity import get_person_key, is_one_of
from citewell.text.normalize import normalize_text

LONGEST_REASON = 1_000


async def list_items(
    app: App, *, state: str | None = None, source: str | None = None, collection: str | None = None
) -> list[Confirmed]:
    """The newest first. Raises InvalidInput for an unknown state."""
    _check_state(state, get_args(ItemState))
    items = await app.db.read(
        confirmed.list_items, state=state, source=source, collection=collection
    )
    return [item for item in items if is_shown(app, item)]


async def get_item(app: App, item_id: str) -> Confirmed:
    """With the ids of items that answer the same question otherwise. Raises NotFound."""
    return await add_conflicts(app, await _get_visible_item(app, item_id))


async def _get_visible_item(app: App, item_id: str) -> Confirmed:
    """Raises NotFound, also for one that is not shown to who asks."""
    item = await app.db.read(confirmed.find_item, item_id)
    if item is None or not is_shown(app, item):
        raise confirmed.make_unknown_item(item_id)
    return item


async def get_history(db: Database, item_id: str) -> list[Logged]:
    """Who did what to an item or a rule, and when; what Citewell did itself has no user."""
    return await db.read(confirmed.list_log_entries, item_id)


async def get_item_document(app: App, item_id: str) -> str:
    """The Markdown document of an active item. Raises NotFound, also where it is not active."""
    item = await _get_visible_item(app, item_id)
    if item.state != "active":
        raise NotFound(
            Text("{item_id} has no document: it is {state}", item_id=item_id, state=item.state),
            hint=item.reason,
        )
    return await anyio.to_thread.run_sync(render_document, item)


async def endorse_item(app: App, item_id: str, user_id: str = "local") -> Confirmed:
    """Stand by an item: one that waits for more people, or that was set aside, which is then used
    again: at once where one person's word is enough, else when as many as are needed have said so
    anew. Nothing changes where one stands by it already. Raises NotFound, Conflict for one that is
    undone, InvalidInput for what only reviewers may do.
    """
    user = normalize_user(user_id)
    await _get_visible_item(app, item_id)

    def endorse(connection: Connection) -> None:
        confirmed.hold_knowledge(connection)
        item, now = confirmed.get_item(connection, item_id), time.time()
        if item.state == "undone":
            raise Conflict(
                Text("{item_id} is undone: {reason}", item_id=item_id, reason=item.reason),
                hint=Text("ask again, and confirm the new answer"),
            )
        if item.state == "quarantined":
            _check_reviewer(app, connection, user, Text("restore what was set aside"))
            confirmed.log_action(connection, item_id, user, "restored", now, item.reason)
            confirmed.set_state(connection, item_id, "pending", "", now)
            reviewers = get_feedback_settings(app, connection).reviewers
            confirmed.set_votes(
                connection, item_id, confirmed.count_votes(connection, item_id, reviewers)
            )
            # else one of those whom others contradicted would be enough
            if app.settings.feedback.confirmations > 1:
                confirmed.withdraw_confirmations(connection, item_id)
        if confirmed.confirm_item(connection, item_id, user, item.trace_id, now):
            confirmed.log_action(connection, item_id, user, "confirmed", now)
        app.jobs.create_in(connection, KIND, {"item_id": item_id})

    await app.db.write_beside(endorse)
    return await settle_item(app, item_id)


async def undo_item(app: App, item_id: str, user_id: str = "local", reason: str = "") -> Confirmed:
    """Take an item out of search and use, for everybody. Its row stays as history, with who, when
    and why. Raises NotFound, InvalidInput where only reviewers may, StorageError where the file
    stays (it is tried again; it has no effect).
    """
    await _get_visible_item(app, item_id)
    return await _end_item(app, item_id, "undone", normalize_user(user_id), reason)


async def quarantine_item(app: App, item_id: str, reason: str) -> Confirmed:
    """Set an item aside until somebody vouches for it again: its statement fails, its documents are
    gone. Raises NotFound.
    """
    return await _end_item(app, item_id, "quarantined", "", reason)


async def _end_item(app: App, item_id: str, state: ItemState, user: str, reason: str) -> Confirmed:
    why = normalize_text(reason)[:LONGEST_REASON]

    def end(connection: Connection) -> bool:
        confirmed.hold_knowledge(connection)
        item, now = confirmed.get_item(connection, item_id), time.time()
        if item.state in {state, "undone"}:
            return False
        if user:
            _check_reviewer(app, connection, user, Text("undo knowledge"))
        gone = hide_item_in(app.catalog, connection, item)
        confirmed.set_state(
            connection, item_id, state, why or (f"undone by {user}" if user else ""), now
        )
        confirmed.log_action(connection, item_id, user, state, now, why)
        if state == "undone":
            feedback.release_item(connection, item_id)
        # it removes the file, should this be killed
        app.jobs.create_in(connection, KIND, {"item_id": item_id})
        return gone

    if await app.db.write_beside(end):
        await app.db.forget()
    return await settle_item(app, item_id)


async def list_rules(app: App, state: str | None = None) -> list[Rule]:
    """Those that wait for review first. Raises InvalidInput for an unknown state."""
    _check_state(state, get_args(RuleState))
    return [rule for rule in await app.db.read(rules.list_rules, state) if is_shown(app, rule)]


async def get_rule(app: App, rule_id: str) -> Rule:
    """Raises NotFound, also for one that is not shown to who asks."""
    rule = await app.db.read(rules.find_rule, rule_id)
    if rule is None or not is_shown(app, rule):
        raise rules.make_unknown_rule(rule_id)
    return rule


async def review_rule(
    app: App, rule_id: str, state: str, user_id: str = "local", reason: str = ""
) -> Rule:
    """`active`, `rejected` or `undone`. Raises NotFound, Conflict for one that is undone,
    InvalidInput for an unknown state and where somebody else must: only reviewers where there are
    some; and where more than one person must confirm an answer, not its author. A correction that
    is a statement is looked at again before it is approved: Conflict where it is refused.
    """
    user = normalize_user(user_id)
    if state not in {"active", "rejected", "undone"}:
        raise InvalidInput(
            Text("unknown state: {state}", state=state),
            hint=Text("known: active, rejected, undone"),
        )
    await get_rule(app, rule_id)
    logic = await _get_approved_statement(app, rule_id) if state == "active" else ""

    def review(connection: Connection) -> Rule:
        confirmed.hold_knowledge(connection)
        rule, now = rules.get_rule(connection, rule_id), time.time()
        if rule.state == state:
            return rule
        if rule.state == "undone":
            raise Conflict(
                Text("{rule_id} is undone: {reason}", rule_id=rule_id, reason=rule.reason),
                hint=Text("its author can give the correction again"),
            )
        if state != "undone" or user != rule.user_id:
            _check_reviewer(app, connection, user, Text("review corrections"))
        if (
            state == "active"
            and get_person_key(user) == get_person_key(rule.user_id)
            and app.settings.feedback.confirmations > 1
        ):
            hint = Text(
                "feedback.confirmations is {confirmations}: one person's word does not count alone",
                confirmations=app.settings.feedback.confirmations,
            )
            raise InvalidInput(
                Text("a correction is approved by somebody else than its author"), hint=hint
            )
        why = normalize_text(reason)[:LONGEST_REASON]
        why_now, by = (
            (why or f"undone by {user}", rule.reviewed_by) if state == "undone" else (why, user)
        )
        rules.set_state(connection, rule_id, state, why_now, by, now)  # type: ignore[arg-type]  # checked above
        if logic and not rule.logic:
            rules.set_logic(connection, rule_id, logic)
        confirmed.log_action(connection, rule_id, user, state, now, why)
        return rules.get_rule(connection, rule_id)

    return await app.db.write_beside(review)


async def _get_approved_statement(app: App, rule_id: str) -> str:
    """The statement of a correction now approved; empty for words. Raises Conflict if refused."""
    rule = await get_rule(app, rule_id)
    if rule.state in {"active", "undone"}:
        return ""
    found = await judge_correction(app, rule.agent, rule.source, rule.correction)
    if found.problem:
        hint = (
            Text("approve it when its tables are there")
            if found.later
            else Text("reject it: citewell knowledge reject {rule_id}", rule_id=rule_id)
        )
        raise Conflict(
            Text("{rule_id}: {problem}", rule_id=rule_id, problem=found.problem), hint=hint
        )
    return found.logic


def _check_reviewer(app: App, connection: Connection, user: str, what: str) -> None:
    reviewers = get_feedback_settings(app, connection).reviewers
    if reviewers and not is_one_of(user, reviewers):
        by_role = Text(", or their role (reviewer, admin)") if app.settings.auth == "token" else ""
        own = Text("your own word can be withdrawn: citewell feedback TRACE_ID --wrong")
        hint = Text(
            "the setting feedback.reviewers names them{by_role}; {own}", by_role=by_role, own=own
        )
        raise InvalidInput(
            Text("only reviewers may {what}, and {user} is none", what=what, user=user),
            hint=hint,
            code="not_a_reviewer",
        )


def _check_state(state: str | None, allowed: Sequence[str]) -> None:
    if state is not None and state not in allowed:
        raise InvalidInput(
            Text("unknown state: {state}", state=state),
            hint=Text("known: {allowed}", allowed=", ".join(allowed)),
        )
