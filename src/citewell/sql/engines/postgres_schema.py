"""The tables of a PostgreSQL database as its catalogue tells them, and what its role may do beyond
reading. Only what the role may read is listed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from citewell.messages import Text
from citewell.sql.engines.engine import Column, ForeignKey, Kind, Table
from citewell.sql.engines.profile import Found, quote_name

if TYPE_CHECKING:
    import psycopg

    Connection = psycopg.Connection[tuple[Any, ...]]

TABLES = """
SELECT c.oid, n.nspname, c.relname, pg_table_is_visible(c.oid), c.relkind, c.reltuples::bigint,
       coalesce(obj_description(c.oid, 'pg_class'), '')
FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND NOT c.relispartition
  AND n.nspname NOT LIKE 'pg\\_%' AND n.nspname <> 'information_schema'
  AND has_schema_privilege(n.oid, 'USAGE') AND has_any_column_privilege(c.oid, 'SELECT')
  AND NOT EXISTS (SELECT FROM pg_catalog.pg_depend d WHERE d.objid = c.oid AND d.deptype = 'e')
ORDER BY pg_table_is_visible(c.oid) DESC, n.nspname, c.relname"""
COLUMNS = """
SELECT a.attrelid, a.attname, format_type(a.atttypid, a.atttypmod), t.typcategory::text,
       coalesce(col_description(a.attrelid, a.attnum), '')
FROM pg_catalog.pg_attribute a JOIN pg_catalog.pg_type t ON t.oid = a.atttypid
WHERE a.attrelid = ANY(%s) AND a.attnum > 0 AND NOT a.attisdropped
  AND has_column_privilege(a.attrelid, a.attnum, 'SELECT')
ORDER BY a.attrelid, a.attnum"""
KEYS = """
SELECT k.conrelid, k.contype::text, k.confrelid,
  ARRAY(SELECT a.attname::text FROM unnest(k.conkey) WITH ORDINALITY u(n, i)
        JOIN pg_catalog.pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = u.n ORDER BY u.i),
  ARRAY(SELECT a.attname::text FROM unnest(k.confkey) WITH ORDINALITY u(n, i)
        JOIN pg_catalog.pg_attribute a ON a.attrelid = k.confrelid AND a.attnum = u.n ORDER BY u.i)
FROM pg_catalog.pg_constraint k WHERE k.contype IN ('p', 'f') AND k.conrelid = ANY(%s)
ORDER BY k.conname"""
ROLE = """
SELECT r.rolsuper,
  ARRAY(SELECT g.rolname::text FROM pg_catalog.pg_roles g
        WHERE g.rolname IN ('pg_read_server_files', 'pg_write_server_files',
                            'pg_execute_server_program')
          AND pg_has_role(session_user, g.oid, 'MEMBER') ORDER BY 1),
  EXISTS(SELECT FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
         WHERE c.relkind IN ('r', 'p') AND n.nspname NOT LIKE 'pg\\_%'
           AND n.nspname <> 'information_schema'
           AND has_table_privilege(session_user, c.oid, 'INSERT, UPDATE, DELETE, TRUNCATE'))
FROM pg_catalog.pg_roles r WHERE r.rolname = session_user"""


def find_tables(connection: Connection, categories: Mapping[str, Kind]) -> list[Found]:
    """Tables, partitioned ones whole, views, foreign tables of all schemas; no extensions'."""
    tables = connection.execute(TABLES).fetchall()
    oids = [row[0] for row in tables]
    columns: dict[int, list[Column]] = {}
    for oid, name, kind_name, category, comment in connection.execute(COLUMNS, (oids,)).fetchall():
        columns.setdefault(oid, []).append(
            Column(name, kind_name, categories.get(category, "other"), comment)
        )
    names = {
        oid: (name if visible else f"{schema}.{name}") for oid, schema, name, visible, *_ in tables
    }
    primary, foreign = _load_keys(connection, names)
    found = []
    for oid, schema, name, _, kind, rows, comment in tables:
        keys = primary.get(oid, ()), foreign.get(oid, ())
        table = Table(
            names[oid],
            tuple(columns.get(oid, ())),
            comment,
            rows if rows >= 0 and kind in "rm" else None,
            *keys,
        )
        source = f"{quote_name(schema, 'postgres')}.{quote_name(name, 'postgres')}"
        found.append(Found(table, source, kind == "v", remote=kind == "f"))
    return found


def _load_keys(
    connection: Connection, names: Mapping[int, str]
) -> tuple[dict[int, tuple[str, ...]], dict[int, tuple[ForeignKey, ...]]]:
    primary: dict[int, tuple[str, ...]] = {}
    foreign: dict[int, tuple[ForeignKey, ...]] = {}
    for oid, kind, target, columns, target_columns in connection.execute(
        KEYS, (list(names),)
    ).fetchall():
        if kind == "p":
            primary[oid] = tuple(columns)
        elif target in names:
            foreign[oid] = (
                *foreign.get(oid, ()),
                ForeignKey(tuple(columns), names[target], tuple(target_columns)),
            )
    return primary, foreign


def list_notes(connection: Connection) -> list[str]:
    """What whoever adds the source should know of its role."""
    told = connection.execute(ROLE).fetchone()
    assert told is not None
    superuser, server_roles, writes = told
    advice = "a role that may only SELECT is safer"
    if superuser:
        dropped = (
            "statements run as pg_read_all_data, where the server has that role (from version "
            "14 on)"
        )
        return [
            (
                Text(
                    "the role is a superuser, who may read files of the server and start "
                    "programs there; {dropped}; {advice}",
                    dropped=dropped,
                    advice=advice,
                )
            )
        ]
    if server_roles:
        return [
            (
                Text(
                    "the role is a member of {server_roles}, which reaches files and "
                    "programs of the server; {advice}",
                    server_roles=", ".join(server_roles),
                    advice=advice,
                )
            )
        ]
    if writes:
        return [
            (
                Text(
                    "the role may change tables; every statement runs in a read-only "
                    "transaction all the same; {advice}",
                    advice=advice,
                )
            )
        ]
    return []
