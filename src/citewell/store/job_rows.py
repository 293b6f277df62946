"""The row of a job, and what is known of it. Functions of a connection; `jobs.py` gives the verbs.

The one rule: a worker gets its job by `get_held_job`, and proves by the `attempts` of it that it is
still its own.
"""

from __future__ import annotations

import json
from typing import Any, Literal

from sqlalchemy import Connection, RowMapping, text

from citewell.errors import Conflict, NotFound
from citewell.types import Shown

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
    detail: str
    result: dict[str, Any] | None
    error: dict[str, str] | None
    attempts: int
    created_at: float
    updated_at: float


def get_row(connection: Connection, job_id: str, viewer: str | None = None) -> RowMapping:
    row = connection.execute(_ONE, {"id": job_id, "viewer": viewer}).mappings().one_or_none()
    if row is None:
        raise NotFound(
            f"no job {job_id!r}",
            hint="an upload answers with the id of its job; GET /api/jobs lists them",
        )
    return row


def list_newest(connection: Connection, viewer: str | None, limit: int) -> list[Job]:
    values = {"limit": limit, "viewer": viewer}
    return [parse_job(row) for row in connection.execute(_NEWEST, values).mappings()]


def count_postponements(job: Job) -> int:
    """How often the disk has refused it."""
    return int((job.error or {}).get("times", "0"))


def get_held_job(connection: Connection, job_id: str, attempt: int | None) -> Job:
    row = get_row(connection, job_id)
    if row["state"] != "running" or attempt not in (None, row["attempts"]):
        hint = (
            "its lease ran out and another worker took it, or it has ended; drop this run's result"
        )
        raise Conflict(
            f"job {job_id}: it is {row['state']}, attempt {row['attempts']}, and not this worker's",
            hint=hint,
        )
    return parse_job(row)


def parse_job(row: RowMapping) -> Job:
    shown = {name: row[name] for name in Job.model_fields}
    decoded = {
        name: json.loads(row[name]) if row[name] else None
        for name in ("payload", "result", "error")
    }
    return Job(**shown | decoded)


# work on a shared collection is everybody's to see, as the collection is; not that on one of its
# name that was there before
_SEEN = """(:viewer IS NULL OR owner = :viewer OR EXISTS (SELECT 1 FROM collections c
    WHERE c.owner = '' AND c.name = json_extract(jobs.payload, '$.collection')
    AND c.created_at <= jobs.created_at))"""
_ONE = text(f"SELECT * FROM jobs WHERE job_id = :id AND {_SEEN}")  # noqa: S608 - words of ours only
_NEWEST = text(
    f"SELECT * FROM jobs WHERE {_SEEN} ORDER BY created_at DESC, rowid DESC LIMIT :limit"  # noqa: S608
)
