"""Cleaning up what people confirmed and nobody needs any more, and what it left behind. A dry run
says just what a real one would do. Nothing in use goes: an item leaves use first (`undone`, with
the reason), and its row only after as many days as a trace is kept.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

import anyio.to_thread
from sqlalchemy import Connection

from citewell.runtime.app import App
from citewell.service.knowledge.update_items import hide_item_in, settle_item
from citewell.store.confirmed import feedback, health, rules
from citewell.store.confirmed import items as confirmed
from citewell.store.confirmed.item_files import remove_file
from citewell.store.confirmed.item_folder import ItemFolder
from citewell.store.confirmed.types import DAY, Confirmed, Rule, get_last_activity
from citewell.store.retention_clock import get_deletion_time
from citewell.types import Shown


class Cleaned(Shown):
    """`stale`: items taken out of use, because nobody used them for `feedback.stale_days`.
    `deleted`, `rules`: those whose rows went, undone or refused `trace_days` ago or set aside for
    `stale_days`. `traces`: past their day. `documents` of the index and `files` that belonged to no
    item. `feedback`: votes on what is not there any more. `repaired`: items whose document was
    missing.
    """

    dry_run: bool
    stale: list[str]
    deleted: list[str]
    rules: list[str]
    traces: int
    documents: list[str]
    files: list[str]
    feedback: int
    repaired: list[str]

    @property
    def nothing(self) -> bool:
        return not any(self.model_dump(exclude={"dry_run"}).values())


async def collect_garbage(app: App, *, dry_run: bool = False) -> Cleaned:
    """Raises StorageError; what was done until then stays done, and the next run goes on."""
    now, settings = time.time(), app.settings
    if not dry_run:
        now = await app.db.write_beside(
            lambda connection: get_deletion_time(connection, time.time())
        )
    stale_before = now - settings.feedback.stale_days * DAY
    gone_before = now - settings.trace_days * DAY
    items = await app.db.read(confirmed.list_items)
    corrections = await app.db.read(rules.list_rules)
    stale = [
        i.item_id
        for i in items
        if i.state in {"active", "pending"} and get_last_activity(i) < stale_before
    ]
    dead = [i.item_id for i in items if _is_expired_item(i, stale_before, gone_before)]
    dead_rules = [r.rule_id for r in corrections if _is_expired_rule(r, stale_before, gone_before)]
    folder = ItemFolder(settings)
    files = await folder.list_orphans(i.trace_id for i in items if i.state == "active")
    there = await app.db.read(health.list_document_ids)
    lost = [
        i.item_id
        for i in items
        if i.state == "active"
        and i.item_id not in stale
        and not (i.doc_id in there and await folder.has(i.trace_id))
    ]
    if not dry_run:
        for item_id in stale:
            await _retire_item(app, item_id, f"not used for {settings.feedback.stale_days:g} days")
        for item_id in lost:
            await settle_item(app, item_id)
    orphans, votes, traces = await _delete_rows(
        app, dead, dead_rules, gone_before=stale_before, dry_run=dry_run
    )
    if not dry_run:
        for file in files:
            await anyio.to_thread.run_sync(remove_file, file)
        await app.db.forget()
    return Cleaned(
        dry_run=dry_run,
        stale=stale,
        deleted=dead,
        rules=dead_rules,
        traces=traces,
        documents=orphans,
        files=[file.name for file in files],
        feedback=votes,
        repaired=lost,
    )


def _is_expired_item(item: Confirmed, stale_before: float, gone_before: float) -> bool:
    """Undone long enough ago to have been looked at, or set aside and never vouched for again."""
    before = {"undone": gone_before, "quarantined": stale_before}.get(item.state)
    return before is not None and item.updated_at < before


def _is_expired_rule(rule: Rule, stale_before: float, gone_before: float) -> bool:
    if rule.state in {"undone", "rejected"}:
        return rule.updated_at < gone_before
    return rule.state == "active" and get_last_activity(rule) < stale_before


async def _delete_rows(
    app: App, dead: Sequence[str], dead_rules: Sequence[str], *, gone_before: float, dry_run: bool
) -> tuple[list[str], int, int]:
    """Rows that go, in one transaction: (documents, votes, traces)."""

    def clean(connection: Connection) -> tuple[list[str], int, int]:
        if not dry_run:
            confirmed.hold_knowledge(connection)
        orphans = health.list_orphan_documents(connection)
        traces = app.traces.expire_in(connection, dry_run=dry_run)
        votes = health.list_orphan_feedback(connection, gone_before, [*dead, *dead_rules])
        if not dry_run:
            for doc_id in orphans:
                app.catalog.delete_in(connection, doc_id)
            health.delete_items(connection, dead)
            health.delete_rules(connection, dead_rules)
            health.delete_feedback(connection, votes)
        return orphans, len(votes), traces

    return await (app.db.read(clean) if dry_run else app.db.write_beside(clean))


async def _retire_item(app: App, item_id: str, why: str) -> None:
    """Out of use, by nobody's word but the calendar's."""

    def retire(connection: Connection) -> None:
        confirmed.hold_knowledge(connection)
        item, now = confirmed.get_item(connection, item_id), time.time()
        if item.state in {"active", "pending"}:
            hide_item_in(app.catalog, connection, item)
            confirmed.set_state(connection, item_id, "undone", why, now)
            confirmed.log_action(connection, item_id, "", "undone", now, why)
            feedback.release_item(connection, item_id)

    await app.db.write_beside(retire)
    await settle_item(app, item_id)
