"""Table sources as rows, and what may be their names."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from pydantic import Field
from sqlalchemy import Connection, Row, bindparam, select

from citewell.errors import InvalidInput, NotFound
from citewell.messages import AnyText, Text, load_json
from citewell.store.schema.data_tables import sources
from citewell.store.users.visibility import may_see
from citewell.types import Shown

LONGEST_NAME = 80
SourceDialect = Literal["duckdb", "sqlite", "postgres", "mysql"]


class Source(Shown):
    """`location`: the path or the URL, without its password. `path`: the copy that is asked,
    relative to the home; empty where a database is asked itself. `stat`: of the file when it was
    read (`size`, `mtime_ns`, `sha256`). `tables`: the schema, JSON. `problem`: why the file or the
    server could not be reached when it was last tried; `warnings`: what reading it left out.
    `description`: what people wrote of the tables (sql/semantics), as they wrote it. `owner`: the
    one user who may see it; empty: everybody.
    """

    name: str
    dialect: SourceDialect
    location: str
    path: str = ""
    stat: dict[str, Any] = Field(default={})
    tables: list[dict[str, Any]] = Field(default=[])
    fingerprint: str = ""
    description: str = ""
    warnings: list[AnyText] = Field(default=[])
    problem: AnyText = ""
    created_at: float = 0.0
    refreshed_at: float = 0.0
    owner: str = ""

    @property
    def is_file(self) -> bool:
        """A file whose copy is asked, or a database that is asked itself."""
        return bool(self.path)


def check_source_name(name: str) -> str:
    """For addresses and command lines: printable, no slash, trimmed. Raises InvalidInput."""
    wrong = (
        not name
        or len(name) > LONGEST_NAME
        or name != name.strip()
        or not name.isprintable()
        or "/" in name
        or "\\" in name
    )
    if wrong or name in {".", ".."}:
        shown = name if len(name) <= LONGEST_NAME else name[:LONGEST_NAME] + "…"
        hint = Text(
            "1 to {longest_name} printable characters, no slash, no space at the ends",
            longest_name=LONGEST_NAME,
        )
        raise InvalidInput(Text("source name {shown!r}: not allowed", shown=shown), hint=hint)
    return name


def suggest_names(name: str, known: Sequence[str] | Mapping[str, Any]) -> str:
    import difflib

    close = difflib.get_close_matches(name, list(known), n=3, cutoff=0.5)
    return Text("did you mean {close}?", close=" or ".join(close)) if close else ""


def find_row(connection: Connection, name: str, viewer: str | None = None) -> Row[Any] | None:
    return connection.execute(_GET, {"of": name, "viewer": viewer}).one_or_none()


def get_row(connection: Connection, name: str, viewer: str | None = None) -> Row[Any]:
    row = find_row(connection, name, viewer)
    if row is None:
        known = [each.name for each in connection.execute(ALL, {"viewer": viewer})]
        hint = suggest_names(name, known) or Text(
            "`citewell data list` shows them; `citewell data add FILE|URL` adds one"
        )
        shown = name if len(name) <= LONGEST_NAME else name[:LONGEST_NAME] + "…"
        raise NotFound(Text("no source {shown!r}", shown=shown), hint=hint)
    return row


def parse_source(row: Row[Any]) -> Source:
    stat = load_json(row.stat)
    kept = {name: getattr(row, name) for name in Source.model_fields if name != "warnings"}
    kept |= {
        "location": stat.pop("shown", ""),
        "warnings": stat.pop("warnings", []),
        "stat": stat,
        "tables": json.loads(row.tables),
    }
    return Source(**kept)


ALL = select(sources).where(may_see(sources.c.owner)).order_by(sources.c.name)
_GET = select(sources).where(may_see(sources.c.owner), sources.c.name == bindparam("of"))
