"""The log of administration: who added, changed, removed what, each entry chained to the one before
by an HMAC.

The one rule: an entry is part of the transaction of what it tells. Names of people stand beside the
log under an alias, so a person can be forgotten and the chain still holds.

What it shows: a changed, added or removed entry, to whoever has the home's key. What it cannot: a
log whose newest entries and SQLite's own count of them are gone together (compare the last `mac`
with one that was noted elsewhere), or one written anew by somebody who has the key.
"""

from __future__ import annotations

import hmac
import json
import logging
import secrets
import time
from collections.abc import Callable, Iterator
from typing import Any, Literal

from sqlalchemy import Connection, Row, text

from citewell.store.db import Database
from citewell.store.users.actor import ACTOR
from citewell.store.users.home_key import derive_key, get_home_folder, get_home_key, get_key_id
from citewell.types import Shown

log = logging.getLogger("citewell.audit")
FIRST = "0" * 64  # what the first entry is chained to
MOST = 1_000  # entries of one listing
Kind = Literal["user", "token", "collection", "source", "home"]
What = Literal["missing", "changed", "other_key", "renamed", "cut"]


class Entry(Shown):
    """`who` did `action` to `subject`; a name that is empty was forgotten, or nobody asked (channel
    `server`).
    """

    seq: int
    at: float
    channel: str
    who: str
    action: str
    kind: str
    subject: str
    detail: dict[str, Any]
    mac: str


class Damage(Shown):
    """`missing`: entries before this one are gone; `changed`: it is not as it was written;
    `other_key`: signed by a key that is not the home's; `renamed`: a person's name is not the one
    that was written; `cut`: the newest entries are gone.
    """

    seq: int
    what: What


class Verified(Shown):
    """`last` and `mac`: of the newest entry; note them elsewhere, and a later check can be held
    against them.
    """

    entries: int
    last: int
    mac: str
    damage: list[Damage]


def record_event(
    connection: Connection, action: str, kind: Kind, subject: str, person: str = "", **detail: Any
) -> None:
    """Part of the transaction that it tells of. `person`: whom it concerns, where `subject` is not
    a user's name itself.
    """
    actor, key = ACTOR.get(), get_home_key(get_home_folder(connection))
    signing, plain = derive_key(key, "audit"), dict(detail) | ({"person": person} if person else {})
    if person:
        detail["person"] = _get_alias(connection, signing, person)
    before = connection.execute(_LAST).one_or_none()
    entry = {
        "seq": int(connection.execute(_COUNTED).scalar_one_or_none() or 0) + 1,
        "at": time.time(),
        "channel": actor.channel,
        "who": _get_alias(connection, signing, actor.name),
        "action": action,
        "kind": kind,
        "subject": _get_alias(connection, signing, subject) if kind == "user" else subject,
        "detail": json.dumps(detail, sort_keys=True),
        "key": get_key_id(key),
    }
    entry["mac"] = _compute_mac(signing, before.mac if before else FIRST, entry)
    connection.execute(_ADD, entry)
    # a command tells its user itself
    level = logging.WARNING if actor.channel == "http" else logging.INFO
    who, aside = (
        actor.name or actor.channel,
        json.dumps({"mac": entry["mac"], **plain}, sort_keys=True),
    )
    log.log(level, "audit %s: %s %s %s %s", entry["seq"], who, action, subject, aside)


def forget_name(connection: Connection, is_theirs: Callable[[str], bool]) -> int:
    """Take a person's names out: what they did, and what was done to them, stays under an alias
    that leads nowhere.
    """
    rows = connection.execute(text("SELECT alias, name FROM audit_names")).all()
    gone = [row.alias for row in rows if is_theirs(row.name)]
    for alias in gone:
        connection.execute(text("DELETE FROM audit_names WHERE alias = :alias"), {"alias": alias})
    return len(gone)


class Audit:
    """Raises StorageError."""

    def __init__(self, db: Database) -> None:
        self._db = db

    async def record(self, action: str, kind: Kind, subject: str, **detail: Any) -> None:
        """For what is no transaction of this database: a backup, a restore."""
        await self._db.write(
            lambda connection: record_event(connection, action, kind, subject, **detail)
        )

    async def list_by_action(self, action: str) -> list[Entry]:
        """All of one action, the oldest first."""

        def listed(connection: Connection) -> list[Entry]:
            names = _load_names(connection)
            return [_parse_entry(row, names) for row in connection.execute(_OF, {"action": action})]

        return await self._db.read(listed)

    async def list(self, limit: int = 100, before: int | None = None) -> list[Entry]:
        """The newest first; `before`: those that came before this one."""
        values = {"limit": min(limit, MOST), "before": before}

        def listed(connection: Connection) -> list[Entry]:
            names = _load_names(connection)
            return [_parse_entry(row, names) for row in connection.execute(_LIST, values)]

        return await self._db.read(listed)

    async def verify(self) -> Verified:
        """The whole chain, from the first entry on."""
        return await self._db.read(_verify_chain)


def _verify_chain(connection: Connection) -> Verified:
    damage, entries, last, mac = list[Damage](), 0, 0, FIRST
    key = get_home_key(get_home_folder(connection))
    signing, name = derive_key(key, "audit"), get_key_id(key)
    for row in connection.execute(_ALL):
        entries += 1
        if row.seq != last + 1:
            damage.append(Damage(seq=row.seq, what="missing"))
        if row.key != name:
            damage.append(Damage(seq=row.seq, what="other_key"))
        elif not hmac.compare_digest(
            row.mac, _compute_mac(signing, mac, {name: getattr(row, name) for name in _SIGNED})
        ):
            damage.append(Damage(seq=row.seq, what="changed"))
        last, mac = row.seq, row.mac
    if int(connection.execute(_COUNTED).scalar_one_or_none() or 0) > last:
        damage.append(Damage(seq=last, what="cut"))
    if not any(each.what == "other_key" for each in damage):
        damage += [Damage(seq=seq, what="renamed") for seq in _find_renamed(connection, signing)]
    return Verified(entries=entries, last=last, mac=mac if entries else "", damage=damage)


def _find_renamed(connection: Connection, signing: bytes) -> Iterator[int]:
    """The first entry of each person whose name is not the one that their alias was made of."""
    for row in connection.execute(text("SELECT alias, name, salt FROM audit_names")).all():
        if row.alias != _compute_alias(signing, row.name, row.salt):
            yield int(connection.execute(_FIRST_OF, {"alias": row.alias}).scalar_one() or 0)


def _compute_mac(signing: bytes, before: str, entry: dict[str, Any]) -> str:
    said = [before, *(entry[name] for name in _SIGNED)]
    return hmac.new(signing, json.dumps(said).encode(), "sha256").hexdigest()


def _get_alias(connection: Connection, signing: bytes, name: str) -> str:
    """What stands in the log for a name; empty for nobody."""
    if not name:
        return ""
    known = connection.execute(
        text("SELECT alias FROM audit_names WHERE name = :name"), {"name": name}
    ).scalar_one_or_none()
    if known:
        return str(known)
    salt = secrets.token_bytes(16)
    row = {"alias": _compute_alias(signing, name, salt), "name": name, "salt": salt}
    connection.execute(
        text("INSERT INTO audit_names (alias, name, salt) VALUES (:alias, :name, :salt)"), row
    )
    return str(row["alias"])


def _compute_alias(signing: bytes, name: str, salt: bytes) -> str:
    return (
        "p_" + hmac.new(signing, salt + name.encode("utf-8", "replace"), "sha256").hexdigest()[:24]
    )


def _load_names(connection: Connection) -> dict[str, str]:
    return {
        row.alias: row.name
        for row in connection.execute(text("SELECT alias, name FROM audit_names"))
    }


def _parse_entry(row: Row[Any], names: dict[str, str]) -> Entry:
    shown = {name: getattr(row, name) for name in Entry.model_fields}
    shown["who"], detail = names.get(row.who, ""), json.loads(row.detail)
    if row.kind == "user":
        shown["subject"] = names.get(row.subject, "")
    if "person" in detail:
        detail["person"] = names.get(detail["person"], "")
    return Entry(**shown | {"detail": detail})


_SIGNED = ("seq", "at", "channel", "who", "action", "kind", "subject", "detail", "key")
_LAST = text("SELECT seq, mac FROM audit ORDER BY seq DESC LIMIT 1")
# how many there ever were, by SQLite's own count
_COUNTED = text("SELECT seq FROM sqlite_sequence WHERE name = 'audit'")
_ALL = text("SELECT * FROM audit ORDER BY seq")
_LIST = text(
    "SELECT * FROM audit WHERE :before IS NULL OR seq < :before ORDER BY seq DESC LIMIT :limit"
)
_OF = text("SELECT * FROM audit WHERE action = :action ORDER BY seq")
_FIRST_OF = text("SELECT min(seq) FROM audit WHERE who = :alias OR subject = :alias")
_ADD = text(
    """INSERT INTO audit (seq, at, channel, who, action, kind, subject, detail, key, mac)
    VALUES (:seq, :at, :channel, :who, :action, :kind, :subject, :detail, :key, :mac)"""
)
