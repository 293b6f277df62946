"""The rows of jobs. Functions of a connection; `jobs.py` has the methods. A worker reads its job by
`get_held_job`; equal `attempts` prove that no other worker has taken it since.
"""

from __future__ import annotations

from typing import Any, Literal

from sqlalchemy import Connection, RowMapping, bindparam, exists, select, update

from citewell.errors import Conflict, NotFound
from citewell.messages import AnyText, AnyTexts, Text, load_json
from citewell.store.dialects.expressions import json_field
from citewell.store.schema.job_tables import jobs
from citewell.store.schema.library import collections
from citewell.store.schema.metadata import match_optional
from citewell.store.users.visibility import may_see
from citewell.types import Shown

# somebody waits for it; it is somebody's; it is a whole collection, and may wait
URGENT, USUAL, BULK = 0, 1, 2
State = Literal["queued", "running", "done", "failed", "cancelled"]
ENDED = frozenset({"done", "failed", "cancelled"})


class Job(Shown):
    """`done` of `total` are steps of the work (`total` 0: not known yet); `detail` says what it is
    at. `result` is of what was done so far until the job is done. `error` of one that waits or
    runs: why it was put off.
    """

    job_id: str
    kind: str
    payload: dict[str, Any]
    state: State
    done: int
    total: int
    detail: AnyText
    result: AnyTexts | None
    error: dict[str, AnyText] | None
    attempts: int
    created_at: float
    updated_at: float


def get_row(
    connection: Connection, job_id: str, viewer: str | None = None, *, lock: bool = False
) -> RowMapping:
    """`lock`: nobody else changes it until the end of the transaction."""
    query = _LOCK if lock else _GET
    row = connection.execute(query, {"id": job_id, "viewer": viewer}).mappings().one_or_none()
    if row is None:
        raise NotFound(
            Text("no job {job_id!r}", job_id=job_id),
            hint=Text("an upload answers with the id of its job; GET /api/jobs lists them"),
        )
    return row


def list_newest(
    connection: Connection, viewer: str | None, limit: int, state: State | None = None
) -> list[Job]:
    values = {"limit": limit, "viewer": viewer, "state": state}
    return [parse_job(row) for row in connection.execute(_NEWEST, values).mappings()]


def change_job(connection: Connection, job_id: str, **values: Any) -> Job:
    connection.execute(_CHANGE, {"id": job_id, **values})
    return parse_job(get_row(connection, job_id))


def count_postponements(job: Job) -> int:
    """How often it was put off in a row."""
    return int((job.error or {}).get("times", "0"))


def get_held_job(
    connection: Connection, job_id: str, attempt: int | None, *, lock: bool = False
) -> Job:
    row = get_row(connection, job_id, lock=lock)
    if row["state"] != "running" or attempt not in (None, row["attempts"]):
        hint = Text(
            "its lease ran out and another worker took it, or it has ended; drop this run's result"
        )
        raise Conflict(
            Text(
                "job {job_id}: it is {state}, attempt {attempts}, and not this worker's",
                job_id=job_id,
                state=row["state"],
                attempts=row["attempts"],
            ),
            hint=hint,
        )
    return parse_job(row)


def parse_job(row: RowMapping) -> Job:
    shown = {name: row[name] for name in Job.model_fields}
    decoded = {
        name: load_json(row[name]) if row[name] else None for name in ("payload", "result", "error")
    }
    return Job(**shown | decoded)


_ONE = jobs.c.job_id == bindparam("id")
# work on a shared collection is everybody's to see, as the collection is; not that on one of its
# name that was there before
_SEEN = may_see(jobs.c.owner) | exists().where(
    collections.c.owner == "",
    collections.c.name == json_field(jobs.c.payload, "collection"),
    collections.c.created_at <= jobs.c.created_at,
)
_GET = select(jobs).where(_ONE, _SEEN)
_LOCK = _GET.with_for_update(of=jobs)
_NEWEST = (
    select(jobs)
    .where(_SEEN, match_optional(jobs.c.state, "state"))
    .order_by(jobs.c.created_at.desc(), jobs.c.rowid.desc())
    .limit(bindparam("limit"))
)
_CHANGE = update(jobs).where(_ONE)
