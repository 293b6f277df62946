"""Sources of tables, saved questions and boards."""

from __future__ import annotations

from sqlalchemy import Column, Double, ForeignKey, Index, Table

from citewell.store.schema.metadata import BigInt, Text, make_rowid, metadata

sources = Table(
    "sources",
    metadata,
    make_rowid(),
    Column("name", Text, primary_key=True),
    Column("dialect", Text, nullable=False),
    Column("location", Text, nullable=False),
    Column("path", Text, nullable=False),
    Column("stat", Text, nullable=False),
    Column("tables", Text, nullable=False),
    Column("fingerprint", Text, nullable=False),
    Column("problem", Text, nullable=False),
    Column("created_at", Double, nullable=False),
    Column("refreshed_at", Double, nullable=False),
    Column("owner", Text, nullable=False, server_default=""),
    Column("description", Text, nullable=False, server_default=""),
)

saved_questions = Table(
    "saved_questions",
    metadata,
    make_rowid(),
    Column("saved_id", Text, primary_key=True),
    Column("name", Text, nullable=False),
    Column("source", Text, nullable=False),
    Column("sql", Text, nullable=False),
    Column("question", Text, nullable=False),
    Column("edited", BigInt, nullable=False),
    Column("chart", Text, nullable=False),
    Column("lang", Text, nullable=False),
    Column("owner", Text, nullable=False),
    Column("shared", BigInt, nullable=False),
    Column("created_at", Double, nullable=False),
    Column("updated_at", Double, nullable=False),
    Index("saved_questions_owner", "owner"),
)

boards = Table(
    "boards",
    metadata,
    make_rowid(),
    Column("board_id", Text, primary_key=True),
    Column("name", Text, nullable=False),
    Column("owner", Text, nullable=False),
    Column("shared", BigInt, nullable=False),
    Column("refresh_seconds", BigInt, nullable=False),
    Column("created_at", Double, nullable=False),
    Column("updated_at", Double, nullable=False),
)

board_cards = Table(
    "board_cards",
    metadata,
    make_rowid(),
    Column("board", Text, ForeignKey("boards.board_id", ondelete="CASCADE"), primary_key=True),
    Column("position", BigInt, primary_key=True),
    Column(
        "card", Text, ForeignKey("saved_questions.saved_id", ondelete="CASCADE"), nullable=False
    ),
    Index("board_cards_card", "card"),
)
