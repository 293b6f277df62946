"""Candidates for search by meaning in PostgreSQL, each with its exact vector. Functions of a
connection.

HNSW follows neighbours and loses what a filter leaves over where that is little, so where few pass,
each of those is looked at, through the index of their collection.
"""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np
from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Connection,
    Double,
    Text,
    bindparam,
    cast,
    column,
    func,
    literal_column,
    select,
    table,
)

from citewell.models.base import Vector
from citewell.store.index.filter_conditions import (
    Condition,
    build_conditions,
    build_there_condition,
    count_passing,
    narrow_filter,
)
from citewell.store.index.postgres_rows import write_vector
from citewell.store.index.protocol import Filter
from citewell.store.index.search_tables import HalfVec, vector_index
from citewell.store.schema.library import documents, vectors

FEW: Final = 5_000  # vectors that are all looked at, in about 5 ms
# HNSW takes five times as long for each that it looks at, and to find 50 it looks at 50 N / n
# of N, where n pass: that is as long as for all of n where n is the root of 5 * 50 * N
_EVEN: Final = 250
_LOOKED_AT: Final = 200  # candidates of one round of HNSW
_MOST_LOOKED_AT: Final = 40_000  # tuples, all rounds together


def find_nearest(
    connection: Connection, embedder: str, query: Vector, count: int, where: Filter
) -> dict[int, Vector]:
    """The vectors of the `count` that look nearest among those that pass the filter, by id."""
    narrow = narrow_filter(connection, where)
    if narrow is None:
        return {}
    conditions = [
        # a literal: an index of one embedder's vectors is used where the statement names it
        vector_index.c.embedder == bindparam(None, embedder, Text, literal_execute=True),
        *build_conditions(vector_index.c, narrow),
    ]
    if narrow.kinds:
        conditions.append(vector_index.c.kind.in_(narrow.kinds))
    gone, total, *_ = connection.execute(_PREPARE).one()
    if gone and not where.doc_ids and not where.spans:
        conditions.append(build_there_condition(vector_index.c))
    few = max(FEW, math.isqrt(max(0, int(_EVEN * total))))
    if count_passing(connection, vector_index, conditions, few + 1) > few:
        found = _look(connection, conditions, query, count, exactly=False)
        if len(found) == count:
            return found
    return _look(connection, conditions, query, count, exactly=True)


def _look(
    connection: Connection, conditions: list[Condition], query: Vector, count: int, *, exactly: bool
) -> dict[int, Vector]:
    kind = HalfVec(len(query))
    distance: ColumnElement[float] = cast(vector_index.c.vec, kind).op("<#>", return_type=Double())(
        cast(bindparam("query", type_=Text), kind)
    )
    near = (
        select(vector_index.c.chunk)
        .where(*conditions)
        # a sum is in no index
        .order_by(distance + literal_column("0.0", Double) if exactly else distance)
        .limit(bindparam("count", type_=BigInteger))
        .cte("near")
        .prefix_with("MATERIALIZED")
    )
    stored = select(vectors.c.chunk, vectors.c.vec).join(near, near.c.chunk == vectors.c.chunk)
    values: dict[str, Any] = {"query": write_vector(query), "count": count}
    return {row.chunk: np.frombuffer(row.vec, "<f4") for row in connection.execute(stored, values)}


_pg_class = table("pg_class", column("oid"), column("reltuples", Double))
# whether there are documents whose place has them no more; about how many vectors there are
_PREPARE = select(
    select(documents.c.doc_id).where(documents.c.gone_since.is_not(None)).exists(),
    select(_pg_class.c.reltuples)
    .where(_pg_class.c.oid == func.to_regclass(vector_index.name))
    .scalar_subquery(),
    func.set_config("jit", "off", True),
    func.set_config("hnsw.ef_search", str(_LOOKED_AT), True),
    func.set_config("hnsw.iterative_scan", "relaxed_order", True),
    func.set_config("hnsw.max_scan_tuples", str(_MOST_LOOKED_AT), True),
)
