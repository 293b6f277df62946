"""What stands behind the text of a document's row: its type, day, priority, and whether it is gone.
In SQLite it is read from the index `documents_facts`, which holds all of it, so that no text is
read; PostgreSQL keeps long texts apart by itself.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import Alias, func
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler

from citewell.store.schema.library import documents


class FactsAlias(Alias):
    """`documents f INDEXED BY documents_facts`."""

    inherit_cache = True


@compiles(FactsAlias, "sqlite")
def _write_indexed_alias(alias: FactsAlias, compiler: SQLCompiler, **kw: Any) -> str:
    name = str(compiler.visit_alias(alias, **kw))  # type: ignore[no-untyped-call]
    return f"{name} INDEXED BY documents_facts" if kw.get("asfrom") else name


facts = FactsAlias._construct(documents, name="f")  # noqa: SLF001 its constructor is not public
day = func.coalesce(facts.c.dated, facts.c.added_at)
