"""Tables that are removed, and tables of their name that come: what becomes of the statements that
people confirmed. Statements are set aside in the transaction that removes their tables, and what is
to be looked at is a job in the transaction that adds them; so no kill leaves a statement in force
for tables that are gone or others.
"""

from __future__ import annotations

import time
from typing import Final

from sqlalchemy import Connection

from citewell.messages import Text
from citewell.service.knowledge.give_feedback import KIND
from citewell.service.knowledge.update_items import hide_item_in
from citewell.service.tables.source_places import UPLOAD
from citewell.store.confirmed import items as confirmed
from citewell.store.confirmed import rules
from citewell.store.confirmed.types import Confirmed, Rule
from citewell.store.jobs import Jobs
from citewell.store.library.catalog import Catalog
from citewell.store.source_rows import Source

# the job that looks at what people confirmed when a schema has changed
CHECK: Final = "check_source"
CHECKED: Final = "checked: "  # how the reasons begin that a later check may take back
GONE: Final = "source removed"  # in an item's log: the reason says which tables they were
# in its log: it came back since, or counts only if said anew
SINCE: Final = ("holds again", "restored", "undone")


def mark_checked(why: str) -> str:
    """A reason that a later check may take back; it begins with `CHECKED`."""
    return Text("checked: {why}", why=why)


def remove_checked_mark(reason: str) -> str:
    """The reason itself; also of one that was kept before reasons were texts."""
    if isinstance(reason, Text) and reason.startswith(CHECKED) and "why" in reason.values:
        return str(reason.values["why"])
    return reason.removeprefix(CHECKED)


def can_check_change(item: Confirmed) -> bool:
    """Whether a check may change it: not what is undone, or set aside by people or votes."""
    return item.state in {"active", "pending"} or (
        item.state == "quarantined" and item.reason.startswith(CHECKED)
    )


def set_aside_in(
    catalog: Catalog, jobs: Jobs, connection: Connection, name: str, source: Source | None
) -> tuple[list[Confirmed], list[Rule]]:
    """Set aside all that was confirmed of these tables, as part of a transaction; returns it.
    `source`: as it was, if known.
    """
    confirmed.hold_knowledge(connection)
    why = mark_checked(Text("its tables {name} were removed", name=name))
    now = time.time()
    known = " ".join(sorted(get_identities(source))) if source is not None else ""
    items = [
        item for item in confirmed.list_items(connection, source=name) if can_check_change(item)
    ]
    if source is None:  # they were gone before, with what was set aside already
        items = [item for item in items if item.state != "quarantined"]
    for item in items:
        hide_item_in(catalog, connection, item)
        confirmed.set_state(connection, item.item_id, "quarantined", why, now)
        confirmed.log_action(connection, item.item_id, "", "quarantined", now, why)
        if _get_lost_tables(connection, item.item_id) is None:  # else these were others already
            confirmed.log_action(connection, item.item_id, "", GONE, now, known)
        # it removes the file, should this be killed
        jobs.create_in(connection, KIND, {"item_id": item.item_id})
    waiting = [
        rule
        for rule in rules.list_rules(connection, "active")
        if rule.source == name and rule.logic
    ]
    for rule in waiting:
        rules.set_state(connection, rule.rule_id, "waiting", why, rule.reviewed_by, now)
        confirmed.log_action(connection, rule.rule_id, "", "waiting", now, why)
    return items, waiting


def schedule_check_in(
    jobs: Jobs, connection: Connection, before: Source | None, source: Source
) -> bool:
    """Whether what was confirmed is checked now that a source is kept, by a job kept with it."""
    if before is not None and before.fingerprint == source.fingerprint:
        return False
    confirmed.hold_knowledge(connection)
    if before is None and not any(
        can_check_change(item) for item in confirmed.list_items(connection, source=source.name)
    ):
        return False
    jobs.create_in(connection, CHECK, {"source": source.name})
    return True


def get_identities(source: Source) -> set[str]:
    """What tells that tables added again are the same: the bytes of their file, or the place they
    are read from. The name of a file that was sent is no place.
    """
    digest = str(source.stat.get("sha256", ""))
    place = "" if source.location.startswith(UPLOAD) else source.location
    return {
        each for each in (f"sha256:{digest}" if digest else "", place.replace(" ", "%20")) if each
    }


def has_different_tables(connection: Connection, item_id: str, source: Source) -> bool:
    """Whether an item's tables were removed since, and these are not known to be the same."""
    known = _get_lost_tables(connection, item_id)
    return known is not None and not get_identities(source) & set(known.split())


def _get_lost_tables(connection: Connection, item_id: str) -> str | None:
    """Which tables an item lost, as they were; None where it lost none, or came back since."""
    log = confirmed.list_log_entries(connection, item_id)
    last = next((each for each in reversed(log) if each.action in {GONE, *SINCE}), None)
    return last.reason if last is not None and last.action == GONE else None
