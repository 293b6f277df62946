"""Places that documents are taken from again and again, and items seen there, as rows."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from sqlalchemy import Connection, Row, bindparam, select

from citewell.errors import NotFound
from citewell.messages import Text, decode_column, load_json
from citewell.store.schema.job_tables import syncs


@dataclass(frozen=True, slots=True)
class Sync:
    """A place and its schedule. `place` has no password in it; `secret` says where one is. `every`:
    seconds between two runs, 0 for none. `report`: of the last run, empty before it. `mark`:
    what the place as a whole was when all of it had been read. Times are seconds since the epoch.
    """

    sync_id: str
    collection: str
    kind: str
    place: str
    secret: str = ""
    every: float = 0.0
    next_at: float = 0.0
    job_id: str = ""
    ran_at: float = 0.0
    created_at: float = 0.0
    mark: str = ""
    options: Mapping[str, str] = field(default_factory=dict)
    report: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SeenItem:
    """What is known of an item. `version`: what its place called it when it was read; empty: to be
    read again. `problem`: why it could not be. `seen_at`: when it was last there as it was read.
    `document`: the address of what was made of it; empty: its own.
    """

    uri: str
    version: str
    problem: str = ""
    seen_at: float = 0.0
    gone_at: float | None = None
    document: str = ""


def get_sync(connection: Connection, sync_id: str, *, lock: bool = False) -> Sync:
    """`lock`: as it is until the end of the transaction. Raises NotFound."""
    row = connection.execute(_LOCK if lock else _GET, {"id": sync_id}).one_or_none()
    if row is None:
        raise NotFound(
            Text("no watched place {sync_id}", sync_id=sync_id),
            hint=Text("`citewell sync list` shows them and their ids"),
        )
    return parse_sync(row)


def parse_sync(row: Row[Any]) -> Sync:
    kept = {each.name: getattr(row, each.name) for each in fields(Sync)}
    return Sync(
        **kept | {"options": json.loads(row.options), "report": load_json(row.report or "{}")}
    )


def parse_item(row: Row[Any]) -> SeenItem:
    return SeenItem(
        row.uri, row.version, decode_column(row.problem), row.seen_at, row.gone_at, row.document
    )


ONE = syncs.c.sync_id == bindparam("id")
_GET = select(syncs).where(ONE)
_LOCK = _GET.with_for_update()
