"""How much there is, in figures for watching; each is counted cheaply, from an index."""

from __future__ import annotations

from pydantic import Field
from sqlalchemy import Connection, func, select

from citewell.store.index import vectors
from citewell.store.schema.job_tables import jobs
from citewell.store.schema.library import chunks, documents
from citewell.types import Shown


class Totals(Shown):
    """`jobs`: how many of each kind and state. `queued`: jobs that wait, the oldest since `oldest`
    (0: none). `waiting`: chunks without a vector of the embedder in use.
    """

    documents: int = 0
    chunks: int = 0
    waiting: int = 0
    jobs: dict[tuple[str, str], int] = Field(default_factory=dict)
    queued: int = 0
    oldest: float = 0.0


def count_totals(connection: Connection, embedder: str) -> Totals:
    """On one snapshot."""
    found = connection.execute(_COUNTS).mappings().one()
    rows = connection.execute(_JOBS).all()
    return Totals(
        **dict(found),
        waiting=vectors.count_unembedded(connection, embedder),
        jobs={(row.kind, row.state): row.number for row in rows},
        queued=sum(row.number for row in rows if row.state == "queued"),
        oldest=min((row.oldest for row in rows if row.state == "queued"), default=0.0),
    )


_COUNT = func.count()
_COUNTS = select(
    select(_COUNT).select_from(documents).scalar_subquery().label("documents"),
    select(_COUNT)
    .select_from(chunks)
    .where(chunks.c.kind != "summary")
    .scalar_subquery()
    .label("chunks"),
)
_JOBS = select(
    jobs.c.kind, jobs.c.state, _COUNT.label("number"), func.min(jobs.c.created_at).label("oldest")
).group_by(jobs.c.kind, jobs.c.state)
