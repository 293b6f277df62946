"""Every column of the database that holds somebody's id, and what becomes of it when that person is
forgotten.

A new column with a user in it is declared here; a test reads the tables and fails where one is not.

`delete`: the row goes. `alias`: the row is the house's (who confirmed, who reviewed) and stays,
under a word that leads nowhere. `given_up`: what belongs to them alone goes by its own verb first,
with its files; rows that are left are deleted.
"""

from __future__ import annotations

import re
import secrets
from collections import Counter
from typing import Final, Literal, NamedTuple

from sqlalchemy import Column, Connection, Delete, Update, delete, exists, func, select, update

from citewell.store.schema.metadata import metadata
from citewell.store.schema.people import sign_ins, tokens
from citewell.store.users.identity import get_person_key

Becomes = Literal["delete", "alias", "given_up"]


class Held(NamedTuple):
    table: str
    column: str
    becomes: Becomes

    @property
    def expression(self) -> Column[str]:
        return metadata.tables[self.table].c[self.column]


# the order is that of the deletion: what refers stands before what is referred to
PERSON_COLUMNS: Final[tuple[Held, ...]] = (
    Held("runs", "user_id", "delete"),
    Held("live_runs", "user_id", "delete"),
    Held("traces", "user_id", "delete"),
    Held("share_readers", "user_id", "delete"),
    Held("shares", "user_id", "delete"),
    Held("folders", "user_id", "delete"),
    Held("sessions", "user_id", "delete"),
    Held("memories", "user_id", "delete"),
    Held("feedback", "user_id", "delete"),
    Held("confirmations", "user_id", "alias"),
    Held("rules", "reviewed_by", "alias"),
    Held("rules", "owner", "delete"),
    Held("rules", "user_id", "alias"),
    Held("confirmed", "owner", "delete"),
    Held("knowledge_log", "user_id", "alias"),
    Held("jobs", "owner", "given_up"),
    Held("boards", "owner", "delete"),
    Held("saved_questions", "owner", "delete"),
    Held("sources", "owner", "given_up"),
    Held("collections", "owner", "given_up"),
    Held("tokens", "user_id", "delete"),
    Held("users", "user_id", "delete"),
    Held("users", "person", "delete"),
    Held("audit_names", "name", "delete"),
)
# these go with a row of theirs, by their reference to it
GO_ALONG: Final = {"sign_ins": "tokens", "memory_uses": "memories"}
# these hold what the names below look for, and nobody: who wrote a summary is a model
NOBODY: Final = {("chunks", "author")}
LOOKS_LIKE_A_PERSON: Final = re.compile(
    r"user|owner|person|people|author|actor|reviewer|_by$|^who$|^by$|holder"
)
# a process, a memory, an alias
MACHINES: Final = {
    ("runs", "holder"),
    ("object_holds", "holder"),
    ("memories", "replaced_by"),
    ("audit", "who"),
}
MOST_IDS: Final = 200  # removed rows whose ids are looked for in the bytes of the files
# random, so they are looked for
_IDS: Final = {"sessions": "session_id", "memories": "memory_id", "feedback": "feedback_id"}


def find_spellings(connection: Connection, name: str) -> dict[Held, list[str]]:
    """How a person's id is written in each column where it is found."""
    wanted, found = get_person_key(name), dict[Held, list[str]]()
    for held in PERSON_COLUMNS:
        values = connection.execute(select(held.expression).distinct()).scalars()
        same = [str(value) for value in values if value and get_person_key(str(value)) == wanted]
        if same:
            found[held] = same
    return found


def count_person_rows(connection: Connection, name: str) -> dict[str, int]:
    """Rows by table in which a person's id stands; those that go along, too."""
    rows = Counter[str]()
    for held, same in find_spellings(connection, name).items():
        if held.column != "person":
            query = select(func.count()).where(held.expression.in_(same))
            rows[held.table] += connection.execute(query).scalar_one()
    signed_in = connection.execute(select(tokens.c.user_id).join_from(sign_ins, tokens)).scalars()
    rows["sign_ins"] = sum(get_person_key(value) == get_person_key(name) for value in signed_in)
    return {table: count for table, count in rows.items() if count}


def sample_ids(connection: Connection, name: str) -> list[str]:
    """Random ids of what is theirs, some of each table: they stand nowhere by chance."""
    found: list[str] = []
    for held, same in find_spellings(connection, name).items():
        if held.table in _IDS and held.column == "user_id":
            ids = metadata.tables[held.table].c[_IDS[held.table]]
            query = select(ids).where(held.expression.in_(same)).limit(MOST_IDS)
            found += connection.execute(query).scalars()
    return found


def get_earliest_time(connection: Connection, name: str) -> float | None:
    """The first moment of which something of theirs is kept; None where nothing is."""
    dated = {"sessions": "last_updated", "confirmations": "at"} | dict.fromkeys(
        ("traces", "memories", "feedback", "users", "collections", "sources"), "created_at"
    )
    moments: list[float] = []
    for held, same in find_spellings(connection, name).items():
        if held.table in dated and held.column != "person":
            moment = func.min(held.expression.table.c[dated[held.table]])
            query = select(moment).where(held.expression.in_(same))
            moments.append(connection.execute(query).scalar_one())
    return min(moments, default=None)


def forget_person(connection: Connection, name: str) -> dict[str, int]:
    """Delete and alias, as declared; rows by table that were changed."""
    alias, changed = f"forgotten-{secrets.token_hex(6)}", Counter[str]()
    for held, same in find_spellings(connection, name).items():
        if held.table == "audit_names":
            continue  # after the entry that tells of this (audit.forget_name)
        theirs = held.expression.in_(same)
        if held.becomes == "alias":
            changed[held.table] += _merge_spellings(connection, held.expression, same)
            statement: Update | Delete = (
                update(held.expression.table).where(theirs).values({held.expression: alias})
            )
        else:
            statement = delete(held.expression.table).where(theirs)
        changed[held.table] += connection.execute(statement).rowcount
    return dict(changed)


def _merge_spellings(connection: Connection, column: Column[str], same: list[str]) -> int:
    """Rows of a key that would be one under one name: the others go. How many those were."""
    table = column.table
    if not column.primary_key:
        return 0
    twin = table.alias()
    alike = [twin.c[key.name] == key for key in table.primary_key if key is not column]
    later = exists().where(*alike, twin.c[column.name].in_(same), twin.c[column.name] > column)
    return connection.execute(delete(table).where(column.in_(same), later)).rowcount
