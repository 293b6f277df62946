"""Small files of a home that servers without a common one share."""

from __future__ import annotations

from sqlalchemy import Column, Double, LargeBinary, Table

from citewell.store.schema.metadata import Text, make_rowid, metadata

home_files = Table(
    "home_files",
    metadata,
    make_rowid(),
    Column("name", Text, primary_key=True),
    Column("data", LargeBinary, nullable=False),
    Column("changed_at", Double, nullable=False),
)
