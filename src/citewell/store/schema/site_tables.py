"""Web sites: their pages, redirects, and finds of earlier questions."""

from __future__ import annotations

from sqlalchemy import Column, Double, ForeignKey, Index, LargeBinary, Table

from citewell.store.schema.metadata import Text, make_rowid, metadata

sites = Table(
    "sites",
    metadata,
    make_rowid(),
    Column(
        "collection", Text, ForeignKey("collections.name", ondelete="CASCADE"), primary_key=True
    ),
    Column("start_urls", Text, nullable=False),
    Column("allowed_domains", Text, nullable=False),
    Column("instruction", Text, nullable=False),
    Column("created_at", Double, nullable=False),
    Column("updated_at", Double, nullable=False),
)

pages = Table(
    "pages",
    metadata,
    make_rowid(),
    Column(
        "collection", Text, ForeignKey("collections.name", ondelete="CASCADE"), primary_key=True
    ),
    Column("key", Text, primary_key=True),
    Column("uri", Text, nullable=False),
    Column("doc_id", Text, nullable=False),
    Column("title", Text, nullable=False),
    Column("sha256", Text, nullable=False),
    Column("etag", Text, nullable=False),
    Column("last_modified", Text, nullable=False),
    Column("fetched_at", Double, nullable=False),
    Column("checked_at", Double, nullable=False),
    Column("problem", Text, nullable=False),
    Column("code", Text, nullable=False),
    Column("links", Text, nullable=False),
)

redirects = Table(
    "redirects",
    metadata,
    make_rowid(),
    Column(
        "collection", Text, ForeignKey("collections.name", ondelete="CASCADE"), primary_key=True
    ),
    Column("key", Text, primary_key=True),
    Column("url", Text, nullable=False),
    Column("target", Text, nullable=False),
    Column("checked_at", Double, nullable=False),
    Index("redirects_target", "collection", "target"),
)

finds = Table(
    "finds",
    metadata,
    make_rowid(),
    Column(
        "collection", Text, ForeignKey("collections.name", ondelete="CASCADE"), primary_key=True
    ),
    Column("key", Text, primary_key=True),
    Column("asked", Text, primary_key=True),
    Column("uri", Text, nullable=False),
    Column("at", Double, nullable=False),
    Column("embedder", Text, nullable=False),
    Column("vec", LargeBinary, nullable=False),
    Index("finds_at", "collection", "at"),
)
