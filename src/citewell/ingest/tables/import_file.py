"""A file with tables, copied into a database file of ours; questions are asked to the copy. Runs in
a worker process.

| format | read by |
|---|---|
| CSV, TSV | `csv` of Python, types found by `table_import_types` |
| XLSX, XLSM, XLS, ODS | calamine, tables found by `table_import_layout` |
| JSON, JSON lines | `json` of Python |
| Parquet | DuckDB |
| SQLite | `sqlite3` of Python |

The one rule: the copy is whole or not there, and holds all rows of the file: a limit refuses a
file, it never cuts one.
"""

from __future__ import annotations

import hashlib
import stat
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final

from citewell.config import IngestSettings
from citewell.errors import CitewellError, StorageError, UnreadableFile
from citewell.ingest.assemble import get_file_stem
from citewell.ingest.office.ole import MAGIC as OLE
from citewell.ingest.tables import import_delimited, import_json, import_sheets, import_sqlite
from citewell.ingest.tables.table_store import Imported, Store, link_file

FORMATS: Final = "CSV, TSV, XLSX, XLS, ODS, Parquet, JSON, JSON lines, SQLite"
SUFFIXES: Final = {
    **dict.fromkeys((".csv", ".tsv", ".tab", ".txt"), "delimited"),
    **dict.fromkeys((".xlsx", ".xlsm", ".xltx", ".xls", ".ods"), "sheets"),
    **dict.fromkeys((".json", ".jsonl", ".ndjson", ".jsonlines"), "json"),
    **dict.fromkeys((".parquet", ".pq"), "parquet"),
    **dict.fromkeys((".sqlite", ".sqlite3", ".db", ".db3"), "sqlite"),
}
_MAGIC: Final = (
    (import_sqlite.MAGIC, "sqlite"),
    (b"PAR1", "parquet"),
    (OLE, "sheets"),
    (b"PK\x03\x04", "sheets"),
)


def import_file(path: str, target: str, name: str, settings: IngestSettings) -> Imported:
    """Copy the tables of the file at `path` into a new file `target`. `name`: what the file is
    called.

    Raises UnreadableFile, and leaves nothing then; StorageError where the copy cannot be written.
    """
    source, copy = Path(path), Path(target)
    try:
        data = _read_bytes(source, name, settings)
        with Store(copy) as store:
            store.done.sha256 = hashlib.sha256(data).hexdigest()
            _READERS[detect_format(data, name)](store, source, data, name, settings)
        return _shorten_warnings(store.done)
    except BaseException as error:  # noqa: BLE001 - a panic of native code is no Exception; it goes on below
        for left in copy.parent.glob(copy.name + "*"):
            with suppress(OSError):
                left.unlink()
        raise _explain_error(error, name) from None


def detect_format(data: bytes, name: str) -> str:
    """The format: by how the bytes begin, else by the name. Raises UnreadableFile for others."""
    for magic, kind in _MAGIC:
        if data.startswith(magic):
            return kind
    suffix = Path(name).suffix.lower()
    kind = SUFFIXES.get(suffix, "")
    if kind in {"delimited", "json"} or (not suffix and kind == ""):
        return kind or "delimited"
    if kind:
        hint = f"export it anew, or give it the ending of what it is: {FORMATS}"
        raise UnreadableFile(f"{name} is broken: it does not begin as such a file does", hint=hint)
    raise UnreadableFile(f"{name} is of no format with tables to ask", hint=f"these are: {FORMATS}")


def _read_bytes(source: Path, name: str, settings: IngestSettings) -> bytes:
    try:
        found = source.stat()
        if not stat.S_ISREG(found.st_mode):
            folder = stat.S_ISDIR(found.st_mode)
            hint = (
                "name the files in it, one source each"
                if folder
                else f"name a file with tables: {FORMATS}"
            )
            raise UnreadableFile(
                f"{name} is {'a folder' if folder else 'no ordinary file'}", hint=hint
            )
        if found.st_size > settings.max_bytes:
            hint = "raise ingest.max_bytes, or split the file"
            raise UnreadableFile(
                f"{name} has {found.st_size:,} bytes; {settings.max_bytes:,} are allowed", hint=hint
            )
        data = source.read_bytes()
    except OSError as error:
        raise UnreadableFile(f"{name} cannot be read: {error.strerror or error}") from None
    if not data:
        raise UnreadableFile(
            f"{name} is empty",
            hint="a table needs a line with the names of its columns, and rows below it",
        )
    return data


def _explain_error(error: BaseException, name: str) -> BaseException:
    """What went wrong, with the file's name in it."""
    import duckdb

    if isinstance(error, UnreadableFile):
        said = f"{name}: {error.message}" if error.message.startswith("it ") else error.message
        return UnreadableFile(said, hint=error.hint or f"these are read: {FORMATS}")
    if isinstance(error, CitewellError):
        return error
    if isinstance(error, duckdb.OutOfMemoryException):
        return UnreadableFile(f"{name} needs more memory than it may have", hint="split the file")
    if isinstance(error, duckdb.IOException | OSError):
        hint = "see that the disk has room and the folder can be written to"
        return StorageError(f"the copy of {name} cannot be written: {str(error)[:200]}", hint=hint)
    if isinstance(error, duckdb.Error):
        return UnreadableFile(f"{name} cannot be read: {str(error).splitlines()[0][:300]}")
    return error


def _shorten_warnings(done: Imported) -> Imported:
    """Where there is one table, its warnings need not name it. A thousand warnings are no
    warning.
    """
    if len(done.tables) == 1:
        done.warnings = [
            warning.removeprefix(f"{done.tables[0].name}: ") for warning in done.warnings
        ]
    if len(done.warnings) > _MOST_WARNINGS:
        rest = len(done.warnings) - _MOST_WARNINGS
        done.warnings = [*done.warnings[:_MOST_WARNINGS], f"and {rest} more warnings"]
    return done


_MOST_WARNINGS: Final = 50


def _import_delimited(store: Store, _: Path, data: bytes, name: str, __: IngestSettings) -> None:
    import_delimited.import_tables(store, data, name)


def _import_sheets(store: Store, _: Path, data: bytes, name: str, settings: IngestSettings) -> None:
    import_sheets.import_tables(store, data, name, settings)


def _import_json(store: Store, _: Path, data: bytes, name: str, __: IngestSettings) -> None:
    import_json.import_tables(store, data, name)


def _import_sqlite(store: Store, source: Path, _: bytes, name: str, __: IngestSettings) -> None:
    import_sqlite.import_tables(store, source, name)


def _import_parquet(store: Store, source: Path, _: bytes, name: str, __: IngestSettings) -> None:
    import duckdb

    path = link_file(source, store.work, "source.parquet")
    try:
        store.add_select(get_file_stem(name), "SELECT * FROM read_parquet(?)", [str(path)])
    except duckdb.Error as error:
        reason = str(error).splitlines()[0].replace(str(path), name)
        raise UnreadableFile(f"{name} cannot be read: {reason[:300]}") from None


_READERS: Final[dict[str, Callable[[Store, Path, bytes, str, IngestSettings], None]]] = {
    "delimited": _import_delimited,
    "sheets": _import_sheets,
    "json": _import_json,
    "sqlite": _import_sqlite,
    "parquet": _import_parquet,
}
