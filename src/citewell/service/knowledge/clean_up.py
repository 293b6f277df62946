"""Cleaning up what people confirmed and nobody needs any more, and what it left behind.

The one rule: a dry run says just what a real one would do. Nothing in use goes: an item leaves use
first (`undone`, with the reason), and its row only after as many days as a trace is kept.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

import anyio.to_thread
from sqlalchemy import Connection

from citewell.runtime.app import App
from citewell.service.knowledge.update_items import hide_in, settle
from citewell.store.confirmed import feedback, health, rules
from citewell.store.confirmed import items as confirmed
from citewell.store.confirmed.evidence_weights import DAY, touched
from citewell.store.confirmed.files import path_of, remove
from citewell.store.confirmed.items import PATH
from citewell.store.confirmed.types import Confirmed, Rule
from citewell.store.retention_clock import deletable
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


async def gc(app: App, *, dry_run: bool = False) -> Cleaned:
    """Raises StorageError; what was done until then stays done, and the next run goes on."""
    now, settings = time.time(), app.settings
    if not dry_run:
        now = await app.db.write(lambda connection: deletable(connection, time.time()))
    stale_before = now - settings.feedback.stale_days * DAY
    gone_before = now - settings.trace_days * DAY
    items = await app.db.read(confirmed.listed)
    corrections = await app.db.read(rules.listed)
    stale = [
        i.item_id for i in items if i.state in {"active", "pending"} and touched(i) < stale_before
    ]
    dead = [i.item_id for i in items if _dead(i, stale_before, gone_before)]
    dead_rules = [r.rule_id for r in corrections if _dead_rule(r, stale_before, gone_before)]
    files = await anyio.to_thread.run_sync(
        _orphan_files, settings.home, [i for i in items if i.state == "active"]
    )
    there = await app.db.read(health.document_ids)
    lost = [
        i.item_id
        for i in items
        if i.state == "active" and i.item_id not in stale and not await _whole(app, i, there)
    ]
    if not dry_run:
        for item_id in stale:
            await _retire(app, item_id, f"not used for {settings.feedback.stale_days:g} days")
        for item_id in lost:
            await settle(app, item_id)
    orphans, votes, traces = await _rows(
        app, dead, dead_rules, gone_before=stale_before, dry_run=dry_run
    )
    if not dry_run:
        for file in files:
            await anyio.to_thread.run_sync(remove, file)
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


def _dead(item: Confirmed, stale_before: float, gone_before: float) -> bool:
    """Undone long enough ago to have been looked at, or set aside and never vouched for again."""
    before = {"undone": gone_before, "quarantined": stale_before}.get(item.state)
    return before is not None and item.updated_at < before


def _dead_rule(rule: Rule, stale_before: float, gone_before: float) -> bool:
    if rule.state in {"undone", "rejected"}:
        return rule.updated_at < gone_before
    return rule.state == "active" and touched(rule) < stale_before


async def _rows(
    app: App, dead: Sequence[str], dead_rules: Sequence[str], *, gone_before: float, dry_run: bool
) -> tuple[list[str], int, int]:
    """Rows that go, in one transaction: (documents, votes, traces)."""

    def clean(connection: Connection) -> tuple[list[str], int, int]:
        orphans = health.orphan_documents(connection)
        traces = app.traces.expire_in(connection, dry_run=dry_run)
        votes = health.orphan_feedback(connection, gone_before, [*dead, *dead_rules])
        if not dry_run:
            for doc_id in orphans:
                app.catalog.delete_in(connection, doc_id)
            health.delete_items(connection, dead)
            health.delete_rules(connection, dead_rules)
            health.delete_feedback(connection, votes)
        return orphans, len(votes), traces

    return await (app.db.read(clean) if dry_run else app.db.write(clean))


async def _whole(app: App, item: Confirmed, documents: set[str]) -> bool:
    """Whether an active item's file and index entry are there."""
    file = path_of(app.settings.home, item.trace_id)
    return item.doc_id in documents and await anyio.to_thread.run_sync(file.is_file)


async def _retire(app: App, item_id: str, why: str) -> None:
    """Out of use, by nobody's word but the calendar's."""

    def retire(connection: Connection) -> None:
        item, now = confirmed.get(connection, item_id), time.time()
        if item.state in {"active", "pending"}:
            hide_in(app, connection, item)
            confirmed.set_state(connection, item_id, "undone", why, now)
            confirmed.log(connection, item_id, "", "undone", now, why)
            feedback.release_item(connection, item_id)

    await app.db.write(retire)
    await settle(app, item_id)


def _orphan_files(home: Path, items: Sequence[Confirmed]) -> list[Path]:
    folder = home / Path(PATH).parent
    wanted = {path_of(home, item.trace_id) for item in items}
    return (
        sorted(file for file in folder.glob("*.md") if file not in wanted)
        if folder.is_dir()
        else []
    )
