"""Whether what people confirmed still holds: statements are run again on their tables, quotes are
looked up in their documents.

The one rule: what does not hold any more is set aside with the reason, and comes back by itself
when just that holds again; what people set aside, only people bring back. A source that cannot be
reached proves nothing, and changes nothing.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection

from citewell.errors import (
    CitewellError,
    NotFound,
    SourceUnavailable,
    StatementFailed,
    StatementRefused,
)
from citewell.runtime.app import App
from citewell.service.jobs.job_lease import Holder
from citewell.service.knowledge.find_knowledge import quarantine_item
from citewell.service.knowledge.removed_sources import (
    CHECKED,
    can_check_change,
    has_different_tables,
    has_same_rows,
    set_aside_in,
)
from citewell.service.knowledge.update_items import settle_item
from citewell.service.tables.kept_schema import get_table_names
from citewell.service.tables.open_source import open_source
from citewell.sql.engines.engine import Engine, Limits, Rows
from citewell.sql.run_statement import run_query
from citewell.store.confirmed import items as confirmed
from citewell.store.confirmed import rules
from citewell.store.confirmed.evidence_weights import compute_weight
from citewell.store.confirmed.health import set_fingerprint
from citewell.store.confirmed.types import Confirmed, Rule
from citewell.store.job_rows import Job
from citewell.store.sources import Source
from citewell.types import Shown

__all__ = [
    "Checked",
    "Looked",
    "check_documents",
    "check_source",
    "compute_weight",
    "set_aside_source",
]

KIND = "check_source"  # of the job
PASSING = frozenset({"timeout", "memory"})  # limits that may be met another time
LIVE = ("active", "pending", "quarantined")
_OTHERS = (
    "its tables {0} were removed, and those of that name give other rows: somebody has to "
    "confirm it anew"
)
MOST_QUOTED = 80  # characters of a quote that a reason shows


class Looked(Shown):
    """`outcome`: `ok`, `quarantined`, `restored`, `unknown` (it could not be tried) or, of a rule,
    `waiting` (for review).
    """

    item_id: str
    question: str
    outcome: str
    reason: str = ""


class Checked(Shown):
    """What one check found. `problem`: why nothing could be tried."""

    source: str = ""
    looked: list[Looked]
    problem: str = ""

    @property
    def changed(self) -> list[Looked]:
        return [each for each in self.looked if each.outcome not in {"ok", "unknown"}]


async def recheck_source(app: App, job: Job, holder: Holder) -> Checked:
    """`check_source` as a job."""
    await holder.still()
    return await check_source(app, str(job.payload["source"]))


async def check_source(app: App, name: str) -> Checked:
    """Run every confirmed statement of a source again, and the statements of corrections. Raises
    StorageError.
    """
    items = [item for item in await _list_live_items(app, source=name) if can_check_change(item)]
    corrections = [
        rule for rule in await _list_active_rules(app) if rule.source == name and rule.logic
    ]
    try:
        async with open_source(app, name) as (source, engine):
            looked = [await _check_item(app, item, engine, source) for item in items]
            looked += [await _check_rule(app, rule, engine, source) for rule in corrections]
    except SourceUnavailable as error:
        return Checked(source=name, looked=[], problem=error.message)
    except NotFound:
        return await set_aside_source(app, name)
    return Checked(source=name, looked=looked)


async def set_aside_source(app: App, name: str) -> Checked:
    """There are no such tables (any more): their statements are set aside. Nothing changes where
    they were already.
    """

    def gone(connection: Connection) -> tuple[list[Confirmed], list[Rule]]:
        return set_aside_in(app, connection, name, None)

    why = f"its tables {name} were removed"
    items, waiting = await app.db.write(gone)
    await app.db.forget()
    for item in items:
        await settle_item(app, item.item_id)
    looked = [_build_outcome(item, "quarantined", why) for item in items]
    looked += [
        Looked(item_id=r.rule_id, question=r.question, outcome="waiting", reason=why)
        for r in waiting
    ]
    return Checked(source=name, looked=looked, problem=f"no source {name}")


async def check_documents(app: App, collection: str | None = None) -> Checked:
    """Look up what the confirmed answers of all other agents quote. Raises StorageError."""
    looked = []
    for item in await _list_live_items(app, collection=collection):
        if item.agent == "data" or not can_check_change(item):
            continue
        why = await find_missing_evidence(app, item)
        looked.append(await _settle_item(app, item, f"{CHECKED}{why}" if why else ""))
    return Checked(looked=looked)


async def find_missing_evidence(app: App, item: Confirmed) -> str:
    """What of an item's evidence is gone or says something else now; empty where it stands as it
    was confirmed.
    """
    for cited in item.evidence:
        quote, doc_id = str(cited.get("quote", "")), str(cited.get("doc_id", ""))
        if (
            not quote
            or not doc_id
            or cited.get("origin") == "memory"
            or str(cited.get("uri", "")).startswith("rule:")
        ):
            continue
        try:
            info = await app.catalog.document(doc_id)
            if cited.get("sha256") == info.sha256:
                continue
            text = (await app.catalog.content(doc_id)).text
        except NotFound:
            return f"{cited.get('title') or doc_id} was removed"
        if " ".join(quote.split()) not in " ".join(text.split()):
            return f"{info.title} does not say any more: {_shorten_quote(quote)}"
    return ""


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
        return await _settle_item(app, item, f"{CHECKED}its statement fails: {error.message}")
    except StatementRefused as error:
        return await _settle_item(app, item, f"{CHECKED}its statement is refused: {error.message}")
    if why := find_column_change(item.evidence, rows):
        return await _settle_item(app, item, f"{CHECKED}{why}")
    others = await app.db.read(
        lambda connection: has_different_tables(connection, item.item_id, source)
    )
    if others and not has_same_rows(item.evidence, rows):
        return await _settle_item(app, item, f"{CHECKED}{_OTHERS.format(source.name)}")
    if source.fingerprint != item.fingerprint:
        await app.db.write(
            lambda connection: set_fingerprint(connection, item.item_id, source.fingerprint)
        )
    return await _settle_item(app, item, "")


def find_column_change(evidence: Sequence[dict[str, Any]], rows: Rows) -> str:
    """How the columns differ from those that were confirmed: their names, or the kind of what
    stands in them. Other rows are no fault: data changes.
    """
    before = next(iter(evidence), {})
    columns = [str(name) for name in before.get("columns", [])]
    if not columns:
        return ""
    if columns != list(rows.columns):
        return f"its columns were {', '.join(columns)} and are {', '.join(rows.columns) or 'none'}"
    old, new = (
        _get_column_kinds(before.get("rows", []), len(columns)),
        _get_column_kinds(rows.rows, len(columns)),
    )
    for name, one, other in zip(columns, old, new, strict=True):
        if one and other and one != other:
            return f"column {name} held {one}s and holds {other}s"
    return ""


def _get_column_kinds(rows: Sequence[Sequence[Any]], width: int) -> list[str]:
    """What stands in each column; empty where nothing does."""
    found: list[set[str]] = [set() for _ in range(width)]
    for row in rows:
        for place, value in enumerate(row[:width]):
            if value is not None:
                figure = isinstance(value, int | float) and not isinstance(value, bool)
                found[place].add(
                    "number" if figure else "truth value" if isinstance(value, bool) else "text"
                )
    return [next(iter(kinds)) if len(kinds) == 1 else "" for kinds in found]


async def _settle_item(app: App, item: Confirmed, why: str) -> Looked:
    """Set aside, brought back, or left as it is."""
    if why and item.state != "quarantined":
        await quarantine_item(app, item.item_id, why)
        return _build_outcome(item, "quarantined", why)
    if why:
        await app.db.write(lambda connection: _update_reason(connection, item.item_id, why))
        return _build_outcome(item, "quarantined", why)
    if item.state != "quarantined":
        return _build_outcome(item, "ok", "")

    def back(connection: Connection) -> None:
        fresh, now = confirmed.get_item(connection, item.item_id), time.time()
        if fresh.state == "quarantined" and can_check_change(fresh):
            confirmed.log_action(connection, item.item_id, "", "holds again", now, fresh.reason)
            confirmed.set_state(connection, item.item_id, "pending", "", now)

    await app.db.write(back)
    settled = await settle_item(app, item.item_id)
    return _build_outcome(settled, "restored", item.reason.removeprefix(CHECKED))


def _update_reason(connection: Connection, item_id: str, why: str) -> None:
    """What is set aside already tells the newest reason; that of people stays."""
    fresh, now = confirmed.get_item(connection, item_id), time.time()
    if fresh.state == "quarantined" and can_check_change(fresh) and fresh.reason != why:
        confirmed.log_action(connection, item_id, "", "still quarantined", now, why)
        confirmed.set_state(connection, item_id, "quarantined", why, now)


async def _check_rule(app: App, rule: Rule, engine: Engine, source: Source) -> Looked:
    """A correction whose statement fails is used no longer: somebody reviews it again."""
    limits = Limits(
        seconds=app.settings.data.statement_seconds, memory_mib=app.settings.data.memory_mib
    )
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
        return await _return_to_review(app, rule, f"{CHECKED}its statement fails: {error.message}")
    return Looked(item_id=rule.rule_id, question=rule.question, outcome="ok")


async def _return_to_review(app: App, rule: Rule, why: str) -> Looked:
    def wait(connection: Connection) -> None:
        now = time.time()
        rules.set_state(connection, rule.rule_id, "waiting", why, rule.reviewed_by, now)
        confirmed.log_action(connection, rule.rule_id, "", "waiting", now, why)

    await app.db.write(wait)
    return Looked(item_id=rule.rule_id, question=rule.question, outcome="waiting", reason=why)


def _build_outcome(item: Confirmed, outcome: str, why: str) -> Looked:
    return Looked(
        item_id=item.item_id,
        question=item.question,
        outcome=outcome,
        reason=why.removeprefix(CHECKED),
    )


async def _list_live_items(
    app: App, *, source: str | None = None, collection: str | None = None
) -> list[Confirmed]:
    found = await app.db.read(
        lambda connection: confirmed.list_items(connection, source=source, collection=collection)
    )
    return [item for item in found if item.state in LIVE]


async def _list_active_rules(app: App) -> list[Rule]:
    return await app.db.read(lambda connection: rules.list_rules(connection, "active"))


def _shorten_quote(text: str) -> str:
    line = " ".join(text.split())
    return f"“{line[:MOST_QUOTED]}{'…' if len(line) > MOST_QUOTED else ''}”"


async def check_all(app: App, source: str | None = None) -> list[Checked]:
    """One source, or all of them and all documents. What goes wrong with one is its `problem`."""
    if source is not None:
        return [await check_source(app, source)]
    names = sorted({item.source for item in await _list_live_items(app) if item.agent == "data"})
    checked = [await check_documents(app)]
    for name in names:
        try:
            checked.append(await check_source(app, name))
        except CitewellError as error:
            checked.append(Checked(source=name, looked=[], problem=error.message))
    return checked
