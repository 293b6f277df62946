"""What people have confirmed and corrected: found for a question, listed, vouched for, reviewed,
undone.

The one rule: only what is `active` is found; what is undone leaves search, document and effect in
one transaction, and its file right after.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import get_args

import anyio.to_thread
from sqlalchemy import Connection

from citewell.errors import Conflict, InvalidInput, NotFound
from citewell.runtime.access_scope import has_visible_owner, is_shown
from citewell.runtime.app import App
from citewell.service.knowledge.conflicts import mark_conflicts, with_conflicts
from citewell.service.knowledge.correction_sql import judge_correction
from citewell.service.knowledge.give_feedback import KIND, normalize_user
from citewell.service.knowledge.reviewers import get_feedback_settings
from citewell.service.knowledge.update_items import hide_item_in, settle_item
from citewell.skills.answer.duplicate_question import find_same_questions
from citewell.store.confirmed import feedback, rules
from citewell.store.confirmed import items as confirmed
from citewell.store.confirmed import question_likeness as questions
from citewell.store.confirmed.evidence_weights import compute_weight
from citewell.store.confirmed.item_markdown import render_document
from citewell.store.confirmed.items import Logged
from citewell.store.confirmed.types import Confirmed, ItemState, Known, Rule, RuleState
from citewell.store.memory_rows import encode_vector
from citewell.store.users.identity import get_person_key, is_one_of
from citewell.text.normalize import normalize_text
from citewell.text.sentences import detect_language
from citewell.types import Followed

MOST = 5  # items and rules that a question is shown
NEAR = 0.01  # likenesses that differ by less are as good as equal: the weight decides
AGAIN = 64  # questions embedded again at one search after the embedder was changed, as of memories
LONGEST_REASON = 1_000


async def find_similar_items(
    app: App, question: str, *, agent: str, source: str = "", collection: str = ""
) -> list[Known]:
    """Active items and rules whose question is like this one, best first, at most MOST: of this
    source for the `data` agent, of this collection for all others. `similarity` is on one scale for
    all languages (store/confirmed/question_likeness.py). `conflicts` of an item: those beside it
    that answer the question asked otherwise.
    """
    words, group = normalize_text(question), "data" if agent == "data" else "other"
    there = await app.db.read(
        lambda connection: questions.has_candidates(connection, group, source, collection)
    )
    if not words or not there:
        return []
    await _embed_again(app)
    vector = encode_vector(app.embedder.name, await app.embedder.query(words))
    lang, floor = detect_language(words), questions.get_scale(app.embedder.name).floor

    def find(connection: Connection) -> list[Known]:
        items = questions.load_item_vectors(connection, group, source, collection, "active")
        near = questions.rank_similar(
            [*items, *questions.load_rule_vectors(connection, group, source, collection)],
            vector,
            lang,
        )
        near = [each for each in near if each.likeness >= floor]
        likeness = {each.id: each.likeness for each in near[: 4 * MOST]}
        found = _load_weighted(connection, likeness, app.settings.feedback.half_life_days)
        found = [each for each in found if has_visible_owner(app, each.item)]
        return sorted(
            found, key=lambda each: (-round(each.similarity / NEAR), -each.weight, -each.similarity)
        )[:MOST]

    found = await app.db.read(find)
    same = await find_same_questions(words, [each.item.question for each in found], app.reader)
    found = [replace(each, same=asks_same) for each, asks_same in zip(found, same, strict=True)]
    return found if len(found) < 2 else await anyio.to_thread.run_sync(mark_conflicts, found)


def _load_weighted(
    connection: Connection, likeness: dict[str, float], half_life: float
) -> list[Known]:
    items: list[Confirmed | Rule] = [
        *confirmed.find_items(connection, likeness).values(),
        *rules.find_rules(connection, likeness).values(),
    ]
    now = time.time()
    return [
        Known(item, likeness[_get_id(item)], compute_weight(item, now, half_life))
        for item in items
        if item.state == "active"
    ]


def _get_id(item: Confirmed | Rule) -> str:
    return item.item_id if isinstance(item, Confirmed) else item.rule_id


async def _embed_again(app: App) -> None:
    """A change of embedder loses nothing, as with memories."""
    embedder = app.embedder
    stale = await app.db.read(
        lambda connection: questions.list_stale_vectors(
            connection, embedder.name, 4 * embedder.dim, AGAIN
        )
    )
    for table, item_id, question in stale:
        stored = encode_vector(embedder.name, await embedder.query(question))

        def put(
            connection: Connection, what: tuple[str, str, str] = (table, item_id, question)
        ) -> None:
            questions.set_vector(connection, *what, stored)  # noqa: B023 - it is called before the next turn

        await app.db.write(put)


def note_uses_in(
    connection: Connection, trace_id: str, followed: Sequence[Followed], at: float
) -> None:
    """Count what an answer followed, in the transaction that keeps the answer."""
    confirmed.note_uses(connection, trace_id, followed, at)


async def list_items(
    app: App, *, state: str | None = None, source: str | None = None, collection: str | None = None
) -> list[Confirmed]:
    """The newest first. Raises InvalidInput for an unknown state."""
    _check_state(state, get_args(ItemState))
    items = await app.db.read(
        lambda connection: confirmed.list_items(
            connection, state=state, source=source, collection=collection
        )
    )
    return [item for item in items if is_shown(app, item)]


async def get_item(app: App, item_id: str) -> Confirmed:
    """With the ids of items that answer the same question otherwise. Raises NotFound."""
    return await with_conflicts(app, await _get_visible_item(app, item_id))


async def _get_visible_item(app: App, item_id: str) -> Confirmed:
    """Raises NotFound, also for one that is not shown to who asks."""
    item = await app.db.read(lambda connection: confirmed.find_item(connection, item_id))
    if item is None or not is_shown(app, item):
        raise confirmed.make_unknown_item(item_id)
    return item


async def get_history(app: App, item_id: str) -> list[Logged]:
    """Who did what to an item or a rule, and when; what Citewell did itself has no user."""
    return await app.db.read(lambda connection: confirmed.list_log_entries(connection, item_id))


async def get_item_document(app: App, item_id: str) -> str:
    """The Markdown document of an active item. Raises NotFound, also where it is not active."""
    item = await _get_visible_item(app, item_id)
    if item.state != "active":
        raise NotFound(f"{item_id} has no document: it is {item.state}", hint=item.reason)
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
        item, now = confirmed.get_item(connection, item_id), time.time()
        if item.state == "undone":
            raise Conflict(
                f"{item_id} is undone: {item.reason}", hint="ask again, and confirm the new answer"
            )
        if item.state == "quarantined":
            _check_reviewer(app, connection, user, "restore what was set aside")
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

    await app.db.write(endorse)
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
        item, now = confirmed.get_item(connection, item_id), time.time()
        if item.state in {state, "undone"}:
            return False
        if user:
            _check_reviewer(app, connection, user, "undo knowledge")
        gone = hide_item_in(app, connection, item)
        confirmed.set_state(
            connection, item_id, state, why or (f"undone by {user}" if user else ""), now
        )
        confirmed.log_action(connection, item_id, user, state, now, why)
        if state == "undone":
            feedback.release_item(connection, item_id)
        # it removes the file, should this be killed
        app.jobs.create_in(connection, KIND, {"item_id": item_id})
        return gone

    if await app.db.write(end):
        await app.db.forget()
    return await settle_item(app, item_id)


async def list_rules(app: App, state: str | None = None) -> list[Rule]:
    """Those that wait for review first. Raises InvalidInput for an unknown state."""
    _check_state(state, get_args(RuleState))
    return [
        rule
        for rule in await app.db.read(lambda connection: rules.list_rules(connection, state))
        if is_shown(app, rule)
    ]


async def get_rule(app: App, rule_id: str) -> Rule:
    """Raises NotFound, also for one that is not shown to who asks."""
    rule = await app.db.read(lambda connection: rules.find_rule(connection, rule_id))
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
        raise InvalidInput(f"unknown state: {state}", hint="known: active, rejected, undone")
    await get_rule(app, rule_id)
    logic = await _get_approved_statement(app, rule_id) if state == "active" else ""

    def review(connection: Connection) -> Rule:
        rule, now = rules.get_rule(connection, rule_id), time.time()
        if rule.state == state:
            return rule
        if rule.state == "undone":
            raise Conflict(
                f"{rule_id} is undone: {rule.reason}",
                hint="its author can give the correction again",
            )
        if state != "undone" or user != rule.user_id:
            _check_reviewer(app, connection, user, "review corrections")
        if (
            state == "active"
            and get_person_key(user) == get_person_key(rule.user_id)
            and app.settings.feedback.confirmations > 1
        ):
            hint = (
                f"feedback.confirmations is {app.settings.feedback.confirmations}: one person's "
                "word does not count alone"
            )
            raise InvalidInput(
                "a correction is approved by somebody else than its author", hint=hint
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

    return await app.db.write(review)


async def _get_approved_statement(app: App, rule_id: str) -> str:
    """The statement of a correction that is approved now; empty where it is words. Raises Conflict
    where it is refused.
    """
    rule = await get_rule(app, rule_id)
    if rule.state in {"active", "undone"}:
        return ""
    found = await judge_correction(app, rule.agent, rule.source, rule.correction)
    if found.problem:
        hint = (
            "approve it when its tables are there"
            if found.later
            else f"reject it: citewell knowledge reject {rule_id}"
        )
        raise Conflict(f"{rule_id}: {found.problem}", hint=hint)
    return found.logic


def _check_reviewer(app: App, connection: Connection, user: str, what: str) -> None:
    reviewers = get_feedback_settings(app, connection).reviewers
    if reviewers and not is_one_of(user, reviewers):
        by_role = ", or their role (reviewer, admin)" if app.settings.auth == "token" else ""
        own = "your own word can be withdrawn: citewell feedback TRACE_ID --wrong"
        hint = f"the setting feedback.reviewers names them{by_role}; {own}"
        raise InvalidInput(
            f"only reviewers may {what}, and {user} is none", hint=hint, code="not_a_reviewer"
        )


def _check_state(state: str | None, allowed: Sequence[str]) -> None:
    if state is not None and state not in allowed:
        raise InvalidInput(f"unknown state: {state}", hint=f"known: {', '.join(allowed)}")
