"""Whether what people confirmed still holds: statements are run again on their tables, quotes are
looked up in their documents. What does not hold any more is set aside with the reason, and comes
back by itself when just that holds again; what people set aside, only people bring back. A source
that cannot be reached proves nothing, and changes nothing.
"""

from __future__ import annotations

import time

from sqlalchemy import Connection

from citewell.config import Settings
from citewell.errors import (
    CitewellError,
    NotFound,
    SourceUnavailable,
    StatementFailed,
    StatementRefused,
)
from citewell.messages import AnyText, Text
from citewell.runtime.app import App
from citewell.service.jobs.job_lease import Holder
from citewell.service.knowledge.chains import (
    find_column_change,
    find_missing_evidence,
    has_same_rows,
)
from citewell.service.knowledge.removed_sources import (
    can_check_change,
    has_different_tables,
    mark_checked,
    remove_checked_mark,
    set_aside_in,
)
from citewell.service.knowledge.review_knowledge import quarantine_item
from citewell.service.knowledge.update_items import settle_item
from citewell.service.tables.kept_schema import get_table_names
from citewell.service.tables.open_source import open_source
from citewell.sql.engines.engine import Engine, Limits
from citewell.sql.run_statement import run_query
from citewell.store.confirmed import items as confirmed
from citewell.store.confirmed import rules
from citewell.store.confirmed.types import Confirmed, Rule
from citewell.store.db import Database
from citewell.store.job_rows import Job
from citewell.store.source_rows import Source
from citewell.types import Shown

PASSING = frozenset({"timeout", "memory"})  # limits that may be met another time
LIVE = ("active", "pending", "quarantined")


class Looked(Shown):
    """`outcome`: `ok`, `quarantined`, `restored`, `unknown` (untried), `waiting` (a rule)."""

    item_id: str
    question: str
    outcome: str
    reason: AnyText = ""


class Checked(Shown):
    """What one check found. `problem`: why nothing could be tried."""

    source: str = ""
    looked: list[Looked]
    problem: AnyText = ""

    @property
    def changed(self) -> list[Looked]:
        return [each for each in self.looked if each.outcome not in {"ok", "unknown"}]


async def recheck_source(app: App, job: Job, holder: Holder) -> Checked:
    """`check_source` as a job."""
    await holder.check_held()
    return await check_source(app, str(job.payload["source"]))


async def check_source(app: App, name: str) -> Checked:
    """Run a source's confirmed statements, and those of corrections, again. Raises StorageError."""
    items = [item for item in await _list_live_items(app.db, source=name) if can_check_change(item)]
    corrections = [
        rule for rule in await _list_active_rules(app.db) if rule.source == name and rule.logic
    ]
    try:
        async with open_source(app, name) as (source, engine):
            looked = [await _check_item(app, item, engine, source) for item in items]
            looked += [
                await _check_rule(app.db, app.settings, rule, engine, source)
                for rule in corrections
            ]
    except SourceUnavailable as error:
        return Checked(source=name, looked=[], problem=error.message)
    except NotFound:
        return await set_aside_source(app, name)
    return Checked(source=name, looked=looked)


async def set_aside_source(app: App, name: str) -> Checked:
    """Set aside the statements of tables that are gone. Nothing changes if they already are."""
    why = Text("its tables {name} were removed", name=name)
    items, waiting = await app.db.write_beside(
        lambda connection: set_aside_in(app.catalog, app.jobs, connection, name, None)
    )
    await app.db.forget()
    for item in items:
        await settle_item(app, item.item_id)
    looked = [_build_outcome(item, "quarantined", why) for item in items]
    looked += [
        Looked(item_id=r.rule_id, question=r.question, outcome="waiting", reason=why)
        for r in waiting
    ]
    return Checked(source=name, looked=looked, problem=Text("no source {name}", name=name))


async def check_documents(app: App) -> Checked:
    """Look up what the confirmed answers of all other agents quote. Raises StorageError."""
    looked = []
    for item in await _list_live_items(app.db):
        if item.agent == "data" or not can_check_change(item):
            continue
        why = await find_missing_evidence(app.catalog, item)
        looked.append(await _settle_item(app, item, mark_checked(why) if why else ""))
    return Checked(looked=looked)


# ---------------------------------------------------------------- one item


async def _check_item(app: App, item: Confirmed, engine: Engine, source: Source) -> Looked:
    settings = app.settings.data
    limits = Limits(
        seconds=settings.statement_seconds, rows=settings.max_rows, memory_mib=settings.memory_mib
    )
    try:
        rows = await run_query(engine, item.logic, limits, get_table_names(source))
    except StatementFailed as error:
        if error.code in PASSING:
            return _build_outcome(item, "unknown", error.message)
        return await _settle_item(app, item, _explain_failure(error))
    except StatementRefused as error:
        return await _settle_item(
            app,
            item,
            mark_checked(Text("its statement is refused: {message}", message=error.message)),
        )
    if why := find_column_change(item.evidence, rows):
        return await _settle_item(app, item, mark_checked(why))
    others = await app.db.read(has_different_tables, item.item_id, source)
    if others and not has_same_rows(item.evidence, rows):
        return await _settle_item(app, item, _explain_other_rows(source.name))
    if source.fingerprint != item.fingerprint:
        await app.db.write_beside(confirmed.set_fingerprint, item.item_id, source.fingerprint)
    return await _settle_item(app, item, "")


async def _settle_item(app: App, item: Confirmed, why: str) -> Looked:
    """Set aside, brought back, or left as it is."""
    if why and item.state != "quarantined":
        await quarantine_item(app, item.item_id, why)
        return _build_outcome(item, "quarantined", why)
    if why:
        await app.db.write_beside(_update_reason, item.item_id, why)
        return _build_outcome(item, "quarantined", why)
    if item.state != "quarantined":
        return _build_outcome(item, "ok", "")

    def restore_item(connection: Connection) -> None:
        confirmed.hold_knowledge(connection)
        fresh, now = confirmed.get_item(connection, item.item_id), time.time()
        if fresh.state == "quarantined" and can_check_change(fresh):
            confirmed.log_action(connection, item.item_id, "", "holds again", now, fresh.reason)
            confirmed.set_state(connection, item.item_id, "pending", "", now)

    await app.db.write_beside(restore_item)
    settled = await settle_item(app, item.item_id)
    return _build_outcome(settled, "restored", remove_checked_mark(item.reason))


def _update_reason(connection: Connection, item_id: str, why: str) -> None:
    """What is set aside already tells the newest reason; that of people stays."""
    confirmed.hold_knowledge(connection)
    fresh, now = confirmed.get_item(connection, item_id), time.time()
    if fresh.state == "quarantined" and can_check_change(fresh) and fresh.reason != why:
        confirmed.log_action(connection, item_id, "", "still quarantined", now, why)
        confirmed.set_state(connection, item_id, "quarantined", why, now)


async def _check_rule(
    db: Database, settings: Settings, rule: Rule, engine: Engine, source: Source
) -> Looked:
    """A correction whose statement fails is used no longer: somebody reviews it again."""
    limits = Limits(seconds=settings.data.statement_seconds, memory_mib=settings.data.memory_mib)
    try:
        await run_query(engine, rule.logic, limits, get_table_names(source))
    except (StatementFailed, StatementRefused) as error:
        if error.code in PASSING:
            return Looked(
                item_id=rule.rule_id,
                question=rule.question,
                outcome="unknown",
                reason=error.message,
            )
        return await _return_to_review(db, rule, _explain_failure(error))
    return Looked(item_id=rule.rule_id, question=rule.question, outcome="ok")


def _explain_failure(error: CitewellError) -> str:
    return mark_checked(Text("its statement fails: {message}", message=error.message))


def _explain_other_rows(source: str) -> str:
    return mark_checked(
        Text(
            "its tables {source} were removed, and those of that name give other rows: somebody "
            "has to confirm it anew",
            source=source,
        )
    )


async def _return_to_review(db: Database, rule: Rule, why: str) -> Looked:
    def wait(connection: Connection) -> None:
        confirmed.hold_knowledge(connection)
        now = time.time()
        rules.set_state(connection, rule.rule_id, "waiting", why, rule.reviewed_by, now)
        confirmed.log_action(connection, rule.rule_id, "", "waiting", now, why)

    await db.write_beside(wait)
    return Looked(item_id=rule.rule_id, question=rule.question, outcome="waiting", reason=why)


def _build_outcome(item: Confirmed, outcome: str, why: str) -> Looked:
    return Looked(
        item_id=item.item_id,
        question=item.question,
        outcome=outcome,
        reason=remove_checked_mark(why),
    )


async def _list_live_items(
    db: Database, *, source: str | None = None, collection: str | None = None
) -> list[Confirmed]:
    found = await db.read(confirmed.list_items, source=source, collection=collection)
    return [item for item in found if item.state in LIVE]


async def _list_active_rules(db: Database) -> list[Rule]:
    return await db.read(rules.list_rules, "active")


async def check_all(app: App, source: str | None = None) -> list[Checked]:
    """One source, or all of them and all documents. What goes wrong with one is its `problem`."""
    if source is not None:
        return [await check_source(app, source)]
    names = sorted({item.source for item in await _list_live_items(app.db) if item.agent == "data"})
    checked = [await check_documents(app)]
    for name in names:
        try:
            checked.append(await check_source(app, name))
        except CitewellError as error:
            checked.append(Checked(source=name, looked=[], problem=error.message))
    return checked
