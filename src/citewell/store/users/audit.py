"""The log of administration: who added, changed, removed what, each entry chained to the one before
by an HMAC.

An entry is part of the transaction of what it tells. Names of people stand beside the log under an
alias, so a person can be forgotten and the chain still holds.

What it shows: a changed, added or removed entry, to whoever has the home's key. What it cannot: a
log whose newest entries and the count of them are gone together (compare the last `mac` with one
that was noted elsewhere), or one written anew by somebody who has the key.
"""

from __future__ import annotations

import hmac
import json
import logging
import secrets
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, Literal

from sqlalchemy import Connection, Row, bindparam, delete, func, insert, or_, select

from citewell.store.db import Database
from citewell.store.dialects.server import AFTER
from citewell.store.dialects.upserts import upsert
from citewell.store.schema.people import audit, audit_count, audit_names
from citewell.store.users.actor import ACTOR
from citewell.store.users.home_key import derive_key, get_home_folder, get_home_key, get_key_id
from citewell.types import Shown

log = logging.getLogger("citewell.audit")
FIRST = "0" * 64  # what the first entry is chained to
MOST = 1_000  # entries of one listing
Kind = Literal["user", "token", "collection", "source", "home"]
What = Literal["missing", "changed", "other_key", "renamed", "cut"]


class Entry(Shown):
    """`who` did `action` to `subject`; empty names: forgotten, or nobody (`server`)."""

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
    """`last` and `mac`: of the newest entry; noted elsewhere, a later check is held to them."""

    entries: int
    last: int
    mac: str
    damage: list[Damage]


def record_event(
    connection: Connection, action: str, kind: Kind, subject: str, person: str = "", **detail: Any
) -> None:
    """Part of the transaction that it tells of. `person`: whom it concerns, where `subject` is not
    a user's name itself.

    The count's row is taken first: from then until the end of the transaction no other entry is
    written, so the one before is the last, and a name has one alias. Tell of it late, then.
    """
    actor, key = ACTOR.get(), get_home_key(get_home_folder(connection))
    signing, plain = derive_key(key, "audit"), dict(detail) | ({"person": person} if person else {})
    seq = connection.execute(_COUNT, {"audit": 1, "entries": 1}).scalar_one()
    if person:
        detail["person"] = _get_alias(connection, signing, person)
    before = connection.execute(_LAST).one_or_none()
    entry = {
        "seq": seq,
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
    connection.execute(insert(audit), entry)
    # a command tells its user itself
    level = logging.WARNING if actor.channel == "http" else logging.INFO
    who, aside = (
        actor.name or actor.channel,
        json.dumps({"mac": entry["mac"], **plain}, sort_keys=True),
    )
    said = ("audit %s: %s %s %s %s", entry["seq"], who, action, subject, aside)
    connection.info[AFTER].append(partial(log.log, level, *said))


def forget_name(connection: Connection, is_theirs: Callable[[str], bool]) -> int:
    """Take a person's names out: their entries stay, under an alias that leads nowhere."""
    gone = [alias for alias, name in _load_names(connection).items() if is_theirs(name)]
    connection.execute(_FORGET, {"aliases": gone})
    return len(gone)


class Audit:
    """Raises StorageError."""

    def __init__(self, db: Database) -> None:
        self._db = db

    async def record(self, action: str, kind: Kind, subject: str, **detail: Any) -> None:
        """For what is no transaction of this database: a backup, a restore."""
        await self._db.write_beside(
            lambda connection: record_event(connection, action, kind, subject, **detail)
        )

    async def list_by_action(self, action: str) -> list[Entry]:
        """All of one action, the oldest first."""

        def list_entries(connection: Connection) -> list[Entry]:
            names = _load_names(connection)
            return [_parse_entry(row, names) for row in connection.execute(_OF, {"action": action})]

        return await self._db.read(list_entries)

    async def list(self, limit: int = 100, before: int | None = None) -> list[Entry]:
        """The newest first; `before`: those that came before this one."""
        values = {"limit": min(limit, MOST), "before": sys.maxsize if before is None else before}

        def list_entries(connection: Connection) -> list[Entry]:
            names = _load_names(connection)
            return [_parse_entry(row, names) for row in connection.execute(_LIST, values)]

        return await self._db.read(list_entries)

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
    if (connection.execute(select(audit_count.c.entries)).scalar_one_or_none() or 0) > last:
        damage.append(Damage(seq=last, what="cut"))
    if not any(each.what == "other_key" for each in damage):
        damage += [Damage(seq=seq, what="renamed") for seq in _find_renamed(connection, signing)]
    return Verified(entries=entries, last=last, mac=mac if entries else "", damage=damage)


def _find_renamed(connection: Connection, signing: bytes) -> Iterator[int]:
    """The first entry of each person whose name is not the one that their alias was made of."""
    for row in connection.execute(select(audit_names)).all():
        if row.alias != _compute_alias(signing, row.name, row.salt):
            yield int(connection.execute(_FIRST_OF, {"alias": row.alias}).scalar_one() or 0)


def _compute_mac(signing: bytes, before: str, entry: dict[str, Any]) -> str:
    said = [before, *(entry[name] for name in _SIGNED)]
    return hmac.new(signing, json.dumps(said).encode(), "sha256").hexdigest()


def _get_alias(connection: Connection, signing: bytes, name: str) -> str:
    """What stands in the log for a name; empty for nobody."""
    if not name:
        return ""
    known = connection.execute(_ALIAS, {"name": name}).scalar_one_or_none()
    if known:
        return str(known)
    salt = secrets.token_bytes(16)
    row = {"alias": _compute_alias(signing, name, salt), "name": name, "salt": salt}
    connection.execute(insert(audit_names), row)
    return str(row["alias"])


def _compute_alias(signing: bytes, name: str, salt: bytes) -> str:
    return (
        "p_" + hmac.new(signing, salt + name.encode("utf-8", "replace"), "sha256").hexdigest()[:24]
    )


def _load_names(connection: Connection) -> dict[str, str]:
    return {row.alias: row.name for row in connection.execute(select(audit_names))}


def _parse_entry(row: Row[Any], names: dict[str, str]) -> Entry:
    shown = {name: getattr(row, name) for name in Entry.model_fields}
    shown["who"], detail = names.get(row.who, ""), json.loads(row.detail)
    if row.kind == "user":
        shown["subject"] = names.get(row.subject, "")
    if "person" in detail:
        detail["person"] = names.get(detail["person"], "")
    return Entry(**shown | {"detail": detail})


_SIGNED = ("seq", "at", "channel", "who", "action", "kind", "subject", "detail", "key")
_ALL = select(audit).order_by(audit.c.seq)
_NEWEST = select(audit).order_by(audit.c.seq.desc())
_LAST = _NEWEST.limit(1)
_COUNT = upsert(
    audit_count, audit_count.c.audit, update={audit_count.c.entries: audit_count.c.entries + 1}
).returning(audit_count.c.entries)
_LIST = _NEWEST.where(audit.c.seq < bindparam("before")).limit(bindparam("limit"))
_OF = _ALL.where(audit.c.action == bindparam("action"))
_FIRST_OF = select(func.min(audit.c.seq)).where(
    or_(audit.c.who == bindparam("alias"), audit.c.subject == bindparam("alias"))
)
_ALIAS = select(audit_names.c.alias).where(audit_names.c.name == bindparam("name"))
_FORGET = delete(audit_names).where(audit_names.c.alias.in_(bindparam("aliases", expanding=True)))
