"""What PostgreSQL has for search beside the tables of the truth: words as weighted terms, vectors
as halfvec, and the totals that weights go by. Nothing here is truth; all of it can be made again
from `chunks` and `vectors`, and a chunk's rows go with the chunk. `migrations/versions` makes the
tables. Needs the extension `vector` (pgvector 0.8 or later).
"""

from __future__ import annotations

import hashlib
from typing import Any

from sqlalchemy import (
    ARRAY,
    BigInteger,
    ColumnClause,
    Connection,
    Integer,
    LargeBinary,
    Text,
    bindparam,
    column,
    exists,
    func,
    select,
    table,
    text,
)
from sqlalchemy.dialects.postgresql.base import ischema_names
from sqlalchemy.types import UserDefinedType

TERMS = 1_000_000_000  # how many different terms there can be: what sparsevec has room for
MOST_COVERED = 1_250  # dimensions of a vector that an entry of a B-tree (2.7 kB) has room for
MOST_LINKED = 4_000  # dimensions of a halfvec that HNSW takes
# links of a vector and candidates at its insertion: measured in evals/bench_scale.py
HNSW = "m = 16, ef_construction = 128"


class HalfVec(UserDefinedType[str]):
    """pgvector's vector of 16-bit floats, written as `[0.1,0.2]`."""

    cache_ok = True

    def __init__(self, dim: int = 0) -> None:
        """0: of any."""
        self.dim = dim

    def get_col_spec(self, **_: Any) -> str:
        return f"halfvec({self.dim})" if self.dim else "halfvec"


class SparseVec(UserDefinedType[str]):
    """pgvector's vector of few numbers among many places, written as `{1:0.5}/1000000000`."""

    cache_ok = True

    def __init__(self, dim: int = TERMS) -> None:
        self.dim = dim

    def get_col_spec(self, **_: Any) -> str:
        return f"sparsevec({self.dim})"


# by which an inspection of the database knows them
ischema_names.update(halfvec=HalfVec, sparsevec=SparseVec)


def _list_filter_columns() -> list[ColumnClause[Any]]:
    texts = [column(name, Text) for name in ("collection", "doc", "lang", "kind")]
    return [*texts, column("first", BigInteger), column("last", BigInteger)]


words = table(
    "words",
    column("rowid", BigInteger),
    column("tokens", Text),
    column("size", BigInteger),
    column("terms", ARRAY(Integer)),
    column("weights", SparseVec()),
    *_list_filter_columns(),
)
vector_index = table(
    "vector_index",
    column("chunk", BigInteger),
    column("embedder", Text),
    column("vec"),
    *_list_filter_columns(),
)
word_totals = table(
    "word_totals",
    column("seq", BigInteger),
    column("chunks", BigInteger),
    column("tokens", BigInteger),
)
word_blocks = table(
    "word_blocks",
    column("segment", BigInteger),
    column("bucket", Integer),
    column("postings", LargeBinary),
)
word_segments = table(
    "word_segments",
    column("segment", BigInteger),
    column("first", BigInteger),
    column("buckets", Integer),
)
word_news = table("word_news", column("chunk", BigInteger))

_WORDS_TERMS = "CREATE INDEX IF NOT EXISTS words_terms ON words USING gin (terms)"


def ensure_vector_indexes(connection: Connection, embedder: str, dim: int) -> None:
    """With the first vectors of an embedder, which have no others to wait for."""
    near, _ = name_vector_indexes(embedder)
    there = connection.execute(_IS_THERE, {"name": near, "embedder": embedder}).scalar_one()
    if not there:
        connection.execute(_LOCK, {"name": near})  # another writer may be making it now
        make_vector_indexes(connection, embedder, dim)


def make_search_indexes(connection: Connection, embedder: str, dim: int) -> None:
    """All that `drop_search_indexes` takes away, where it is missing."""
    connection.exec_driver_sql(_WORDS_TERMS)
    make_vector_indexes(connection, embedder, dim)


def make_vector_indexes(connection: Connection, embedder: str, dim: int) -> None:
    """The two ways to the vectors of one embedder, where they are missing: by their neighbours, and
    through a collection. Vectors of other embedders have other dimensions, so each has its own.
    """
    near, covering = name_vector_indexes(embedder)
    own = "'" + embedder.replace("'", "''").replace("%", "%%") + "'"
    if dim <= MOST_LINKED:
        connection.exec_driver_sql(
            f"CREATE INDEX IF NOT EXISTS {near} ON vector_index USING hnsw "
            f"((vec::halfvec({dim})) halfvec_ip_ops) WITH ({HNSW}) WHERE embedder = {own}"
        )
    if dim <= MOST_COVERED:
        connection.exec_driver_sql(
            f"CREATE INDEX IF NOT EXISTS {covering} ON vector_index (collection, chunk) "
            f"INCLUDE (kind, lang, doc, vec) WHERE embedder = {own}"
        )


def drop_search_indexes(connection: Connection, embedder: str) -> None:
    """Before very many chunks are written at once: to make the indexes afterwards takes a tenth of
    the time. Until `make_search_indexes` each search looks at every row.
    """
    for name in (*name_vector_indexes(embedder), "words_terms"):
        connection.exec_driver_sql(f"DROP INDEX IF EXISTS {name}")


def name_vector_indexes(embedder: str) -> tuple[str, str]:
    """By neighbours; through a collection."""
    mark = hashlib.sha256(embedder.encode()).hexdigest()[:16]
    return f"vector_index_near_{mark}", f"vector_index_covering_{mark}"


_of_embedder = vector_index.c.embedder == bindparam("embedder")
_IS_THERE = select(
    func.to_regclass(bindparam("name", type_=Text)).is_not(None)
    | exists(select(vector_index.c.chunk).where(_of_embedder))
)
_LOCK = text("SELECT pg_advisory_xact_lock(hashtextextended(:name, 0))")
