"""Collections, documents and what is kept of each; the vectors of their chunks."""

from __future__ import annotations

from sqlalchemy import (
    Column,
    Double,
    ForeignKey,
    Index,
    LargeBinary,
    Table,
    UniqueConstraint,
    text,
)

from citewell.store.schema.metadata import BigInt, Text, make_rowid, metadata

collections = Table(
    "collections",
    metadata,
    make_rowid(),
    Column("name", Text, primary_key=True),
    Column("created_at", Double, nullable=False),
    Column("chunking", Text, nullable=False, server_default="{}"),
    Column("owner", Text, nullable=False, server_default=""),
)

files = Table(
    "files",
    metadata,
    make_rowid(),
    Column("sha256", Text, primary_key=True),
    Column("data", LargeBinary, nullable=False),
    # the key in the object store that holds the bytes; empty: `data` does
    Column("place", Text, nullable=False, server_default=""),
)

# keys of objects whose row has gone, until the object has too
released_objects = Table(
    "released_objects",
    metadata,
    make_rowid(),
    Column("place", Text, primary_key=True),
)

# who copies objects for a backup, until when (store/leases.py): none is deleted meanwhile
object_holds = Table(
    "object_holds",
    metadata,
    make_rowid(),
    Column("holder", Text, primary_key=True),
    Column("until", Double, nullable=False),
)

documents = Table(
    "documents",
    metadata,
    make_rowid(),
    Column("doc_id", Text, primary_key=True),
    Column("collection", Text, ForeignKey("collections.name", ondelete="CASCADE"), nullable=False),
    Column("uri", Text, nullable=False),
    Column("title", Text, nullable=False),
    Column("media_type", Text, nullable=False),
    Column("lang", Text, nullable=False),
    Column("sha256", Text, ForeignKey("files.sha256"), nullable=False),
    Column("bytes", BigInt, nullable=False),
    Column("version", BigInt, nullable=False),
    Column("added_at", Double, nullable=False),
    Column("page_count", BigInt, nullable=False),
    Column("warnings", Text, nullable=False),
    Column("sections", Text, nullable=False),
    Column("pages", Text, nullable=False),
    Column("text", Text, nullable=False),
    Column("dated", Double),
    Column("priority", BigInt, nullable=False, server_default=text("0")),
    Column("gone_since", Double),
    UniqueConstraint("collection", "uri"),
    Index(
        "documents_facts",
        "doc_id",
        "collection",
        "media_type",
        "priority",
        "dated",
        "added_at",
        "gone_since",
    ),
    Index(
        "documents_gone",
        "doc_id",
        sqlite_where=text("gone_since IS NOT NULL"),
        postgresql_where=text("gone_since IS NOT NULL"),
    ),
    Index("documents_sha256", "sha256"),
)

chunks = Table(
    "chunks",
    metadata,
    Column("id", BigInt, primary_key=True),
    Column("doc", Text, ForeignKey("documents.doc_id", ondelete="CASCADE"), nullable=False),
    Column("collection", Text, nullable=False),
    Column("lang", Text, nullable=False),
    Column("ordinal", BigInt, nullable=False),
    Column("section", BigInt, nullable=False),
    Column("first", BigInt, nullable=False),
    Column("last", BigInt, nullable=False),
    Column("page", BigInt),
    Column("tokens", BigInt, nullable=False),
    Column("sha256", Text, nullable=False),
    Column("embedder", Text, nullable=False, server_default=""),
    Column("heading_path", Text, nullable=False),
    Column("text", Text, nullable=False),
    Column("kind", Text, nullable=False, server_default="text"),
    Column("author", Text, nullable=False, server_default=""),
    Index("chunks_collection", "collection", "embedder", "kind"),
    Index("chunks_doc", "doc", "ordinal", "section", "kind", "embedder"),
    Index(
        "chunks_embedder", "embedder", "id", "collection", "doc", "lang", "kind", "first", "last"
    ),
    Index("chunks_sha256", "sha256"),
    Index(
        "chunks_summaries",
        "author",
        "id",
        sqlite_where=text("kind = 'summary'"),
        postgresql_where=text("kind = 'summary'"),
    ),
    sqlite_autoincrement=True,
)

vectors = Table(
    "vectors",
    metadata,
    Column(
        "chunk",
        BigInt,
        ForeignKey("chunks.id", ondelete="CASCADE"),
        primary_key=True,
        autoincrement=False,
    ),
    Column("vec", LargeBinary, nullable=False),
)

changes = Table(
    "changes",
    metadata,
    Column("seq", BigInt, primary_key=True),
    Column("chunk", BigInt, nullable=False),
    sqlite_autoincrement=True,
)

lines = Table(
    "lines",
    metadata,
    Column("doc", Text, ForeignKey("documents.doc_id", ondelete="CASCADE"), primary_key=True),
    Column("first", BigInt, primary_key=True),
    Column("number", BigInt, primary_key=True),
    Column("last", BigInt, nullable=False),
    Column("page", BigInt, nullable=False),
    Column("x0", Double, nullable=False),
    Column("y0", Double, nullable=False),
    Column("x1", Double, nullable=False),
    Column("y1", Double, nullable=False),
    sqlite_with_rowid=False,
)

question_sets = Table(
    "question_sets",
    metadata,
    make_rowid(),
    Column("doc", Text, ForeignKey("documents.doc_id", ondelete="CASCADE"), primary_key=True),
    Column("sha256", Text, nullable=False),
    # JSON: `OverviewSentence`s, written together with the questions
    Column("overview", Text, nullable=False, server_default="[]"),
)

questions = Table(
    "questions",
    metadata,
    make_rowid(),
    Column("doc", Text, ForeignKey("question_sets.doc", ondelete="CASCADE"), primary_key=True),
    Column("question", Text, primary_key=True),
    Column("lang", Text, nullable=False),
    Column("confidence", Double, nullable=False),
    Column("embedder", Text, nullable=False),
    Column("vector", LargeBinary, nullable=False),
)

containers = Table(
    "containers",
    metadata,
    Column(
        "collection", Text, ForeignKey("collections.name", ondelete="CASCADE"), primary_key=True
    ),
    Column("uri", Text, primary_key=True),
    Column("sha256", Text, nullable=False),
    Column("members", Text, nullable=False),
    sqlite_with_rowid=False,
)
