"""SQLite databases into tables: types, keys, and views as the tables that they show. The file is a
stranger's. It is opened read-only, its schema is not trusted, and what runs in it has limits.
"""

from __future__ import annotations

import re
import shutil
import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Final

from citewell.errors import UnreadableFile
from citewell.ingest.tables.column_names import quote_literal, quote_name
from citewell.ingest.tables.table_store import Keys, Store, link_file
from citewell.messages import Text

MAGIC: Final = b"SQLite format 3\0"
_STEPS: Final = 100_000  # of SQLite's machine between two looks at the clock
_VIEW_SECONDS: Final = 10.0
_VIEW_ROWS: Final = 1_000_000
_INTERNAL: Final = re.compile(r"sqlite_|_litestream_", re.IGNORECASE)
_ISO_DAY: Final = "[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]"


def import_tables(store: Store, path: Path, name: str) -> None:
    """Raises UnreadableFile where it is broken, or holds no table."""
    source = _prepare_path(path, store.work)
    try:
        with closing(_open_database(source)) as database:
            _import_all(store, database)
    except sqlite3.Error as error:
        raise UnreadableFile(Text("{name} is broken: {error}", name=name, error=error)) from None
    if not store.done.tables:
        raise UnreadableFile(Text("{name} holds no table", name=name))


def _prepare_path(path: Path, work: Path) -> Path:
    """A path for opening the file alone; with a log of changes beside it, copies of both."""
    log = path.with_name(path.name + "-wal")
    if not (log.is_file() and log.stat().st_size):
        return link_file(path, work, "source.sqlite")
    shutil.copyfile(path, work / "source.sqlite")
    shutil.copyfile(log, work / "source.sqlite-wal")
    return work / "source.sqlite"


def _open_database(path: Path) -> sqlite3.Connection:
    copied = path.with_name(path.name + "-wal").exists()
    mode = "mode=rw" if copied else "mode=ro&immutable=1"
    database = sqlite3.connect(f"{path.absolute().as_uri()}?{mode}", uri=True)
    database.text_factory = lambda raw: raw.decode("utf-8", "replace")
    for pragma in ("trusted_schema = OFF", "cell_size_check = ON", "query_only = ON"):
        database.execute(f"PRAGMA {pragma}")
    return database


def _import_all(store: Store, database: sqlite3.Connection) -> None:
    listed = database.execute(
        "SELECT name, type FROM pragma_table_list WHERE schema = 'main' ORDER BY rowid"
    ).fetchall()
    order = {
        name: n
        for n, (name,) in enumerate(
            database.execute("SELECT name FROM sqlite_master ORDER BY rowid")
        )
    }
    for table, kind in sorted(listed, key=lambda each: (each[1] == "view", order.get(each[0], 0))):
        if _INTERNAL.match(table) or kind == "shadow":
            continue
        if kind == "virtual":
            store.done.warnings.append(
                Text("{table} is left out: it is a virtual table", table=table)
            )
        elif kind == "view":
            _import_view(store, database, table)
        else:
            _import_table(store, database, table)


def _import_table(store: Store, database: sqlite3.Connection, table: str) -> None:
    info = database.execute("SELECT name, type, pk FROM pragma_table_info(?)", (table,)).fetchall()
    if not info:
        return
    columns = [
        (name, *_infer_column_type(database, table, name, declared)) for name, declared, _ in info
    ]
    primary = tuple(
        name for name, _, pk in sorted((row for row in info if row[2]), key=lambda row: row[2])
    )
    keys = Keys(primary, tuple(_list_foreign_keys(database, table)))
    store.add_typed(
        table, columns, _read_rows(database, table, [name for name, _, _ in info]), keys
    )


def _list_foreign_keys(
    database: sqlite3.Connection, table: str
) -> Iterator[tuple[tuple[str, ...], str, tuple[str, ...]]]:
    """Its foreign keys; one that names no column means the other table's primary key."""
    found: dict[int, list[tuple[str, str, str | None]]] = {}
    statement = 'SELECT id, "table", "from", "to" FROM pragma_foreign_key_list(?) ORDER BY id, seq'
    for number, target, column, to in database.execute(statement, (table,)):
        found.setdefault(number, []).append((target, column, to))
    for parts in found.values():
        target = parts[0][0]
        names = database.execute(
            "SELECT name FROM pragma_table_info(?) WHERE pk > 0 ORDER BY pk", (target,)
        ).fetchall()
        primary = [name for (name,) in names]
        to = [part[2] or (primary[n] if n < len(primary) else "") for n, part in enumerate(parts)]
        if all(to):
            yield tuple(column for _, column, _ in parts), target, tuple(to)


def _import_view(store: Store, database: sqlite3.Connection, view: str) -> None:
    """What a view shows now: the copy does not change, so neither does this."""
    deadline = time.monotonic() + _VIEW_SECONDS
    database.set_progress_handler(lambda: int(time.monotonic() > deadline), _STEPS)
    try:
        names = [
            name for (name,) in database.execute("SELECT name FROM pragma_table_info(?)", (view,))
        ]
        rows = database.execute(
            f"SELECT * FROM {quote_name(view)} LIMIT {_VIEW_ROWS + 1}"  # noqa: S608 quoted
        ).fetchall()
        if len(rows) > _VIEW_ROWS:
            store.done.warnings.append(
                Text(
                    "{view} is left out: the view has more than {view_rows:,} rows",
                    view=view,
                    view_rows=_VIEW_ROWS,
                )
            )
            return
    except (sqlite3.Error, MemoryError) as error:
        store.done.warnings.append(
            Text("{view} is left out: the view cannot be read ({error})", view=view, error=error)
        )
        return
    finally:
        database.set_progress_handler(None, 0)
    columns = [(name, *_infer_value_type([row[n] for row in rows])) for n, name in enumerate(names)]
    lines = ([str(at), *map(_to_text, row)] for at, row in enumerate(rows, 1))
    added = store.add_typed(view, columns, lines)
    store.comment(added.name, "", "a view of the database that was added, as it was then")


def _infer_value_type(values: Sequence[object]) -> tuple[str, str]:
    kinds = {type(value) for value in values if value is not None}
    if kinds == {int}:
        return "BIGINT", "{}"
    if kinds and kinds <= {int, float}:
        return "DOUBLE", "{}"
    return ("BLOB", "unhex({})") if kinds == {bytes} else ("VARCHAR", "{}")


def _infer_column_type(
    database: sqlite3.Connection, table: str, column: str, declared: str
) -> tuple[str, str]:
    """The type of a column and what makes a value of a cell's text: by what is in it, for SQLite
    holds anything anywhere.
    """
    name, of = quote_name(column), quote_name(table)
    found = database.execute(f"SELECT DISTINCT typeof({name}) FROM {of} WHERE {name} IS NOT NULL")  # noqa: S608 quoted
    kinds = {row[0] for row in found} or _get_affinity(declared)
    word = declared.upper()
    if kinds == {"integer"}:
        if "BOOL" in word and not _has_row_where(database, table, f"{name} NOT IN (0, 1)"):
            return "BOOLEAN", "CAST({} AS BIGINT)"
        return "BIGINT", "{}"
    if kinds <= {"integer", "real"}:
        return "DOUBLE", "{}"
    if kinds == {"blob"}:
        return "BLOB", "unhex({})"
    if (
        kinds == {"text"}
        and "DATE" in word
        and not _has_row_where(database, table, f"{name} NOT GLOB {quote_literal(_ISO_DAY + '*')}")
    ):
        days = not _has_row_where(database, table, f"length({name}) > 10")
        valid = not _has_row_where(
            database, table, f"date({name}) IS NULL OR date({name}) <> substr({name}, 1, 10)"
        )
        if valid and (
            days
            or not _has_row_where(
                database, table, f"datetime({name}) IS NULL OR {name} GLOB '*[Z+]*'"
            )
        ):
            return ("DATE" if days else "TIMESTAMP"), "{}"
    return "VARCHAR", "{}"


def _has_row_where(database: sqlite3.Connection, table: str, test: str) -> bool:
    return (
        database.execute(f"SELECT 1 FROM {quote_name(table)} WHERE {test} LIMIT 1").fetchone()  # noqa: S608
        is not None
    )


def _get_affinity(declared: str) -> set[str]:
    """What an empty column would hold:
    https://www.sqlite.org/datatype3.html#determination_of_column_affinity
    """
    word = declared.upper()
    if "INT" in word or "BOOL" in word:
        return {"integer"}
    if any(part in word for part in ("REAL", "FLOA", "DOUB", "NUMERIC", "DECIMAL")):
        return {"real"}
    return {"text"} if "BLOB" not in word else {"blob"}


def _read_rows(
    database: sqlite3.Connection, table: str, names: Sequence[str]
) -> Iterator[list[str | None]]:
    wanted = ", ".join(map(quote_name, names))
    for number, row in enumerate(database.execute(f"SELECT {wanted} FROM {quote_name(table)}"), 1):  # noqa: S608 quoted
        yield [str(number), *map(_to_text, row)]


def _to_text(value: object) -> str | None:
    if value is None or isinstance(value, str):
        return value
    return value.hex() if isinstance(value, bytes) else repr(value)
