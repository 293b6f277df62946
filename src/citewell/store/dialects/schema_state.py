"""How the schema of a database stands to what this Citewell knows, and what is said of it."""

from __future__ import annotations

from sqlalchemy import Connection, inspect

from citewell.errors import StorageError
from citewell.messages import Text
from citewell.store.dialects.server import Schema
from citewell.store.migrations.revisions import get_head, get_revision, judge_revision


def describe_schema(connection: Connection) -> Schema:
    tables = len(inspect(connection).get_table_names())
    return Schema(judge_revision(connection), get_revision(connection) or "", get_head(), tables)


def make_schema_error(name: str, schema: Schema) -> StorageError:
    """Of a database that is not opened: an older one, a later one, one that is being moved
    into, or somebody else's.
    """
    if schema.state == "older":
        return StorageError(
            Text(
                "{name}: its schema {revision} is older than this Citewell's, {known}",
                name=name,
                revision=schema.revision,
                known=schema.known,
            ),
            hint=Text(
                "run: citewell db upgrade; whether the earlier version may stay up: docs/scale.md"
            ),
        )
    if schema.state in {"later", "ahead"}:
        return StorageError(
            Text(
                "{path}: a later Citewell wrote this database (schema {version}, this one knows "
                "{known})",
                path=name,
                version=schema.revision,
                known=schema.known,
            ),
            hint=Text("upgrade Citewell, or set CITEWELL_HOME to another folder"),
        )
    if schema.state == "moving":
        return StorageError(
            Text("{name}: a move into it has not come to its end", name=name),
            hint=Text("run the same `citewell db move` again: it goes on"),
        )
    return StorageError(
        Text("{path}: this is a database, but not Citewell's", path=name),
        hint=Text("name an empty database, or another one"),
    )
