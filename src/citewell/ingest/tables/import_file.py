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
from citewell.messages import Text

FORMATS: Final = Text("CSV, TSV, XLSX, XLS, ODS, Parquet, JSON, JSON lines, SQLite")
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
        hint = Text(
            "export it anew, or give it the ending of what it is: {formats}", formats=FORMATS
        )
        raise UnreadableFile(
            Text("{name} is broken: it does not begin as such a file does", name=name), hint=hint
        )
    raise UnreadableFile(
        Text("{name} is of no format with tables to ask", name=name),
        hint=Text("these are: {formats}", formats=FORMATS),
    )


def _read_bytes(source: Path, name: str, settings: IngestSettings) -> bytes:
    try:
        found = source.stat()
        if not stat.S_ISREG(found.st_mode):
            folder = stat.S_ISDIR(found.st_mode)
            hint = (
                Text("name the files in it, one source each")
                if folder
                else Text("name a file with tables: {formats}", formats=FORMATS)
            )
            raise UnreadableFile(
                (
                    Text("{name} is a folder", name=name)
                    if folder
                    else Text("{name} is no ordinary file", name=name)
                ),
                hint=hint,
            )
        if found.st_size > settings.max_bytes:
            hint = Text("raise ingest.max_bytes, or split the file")
            raise UnreadableFile(
                Text(
                    "{name} has {st_size:,} bytes; {max_bytes:,} are allowed",
                    name=name,
                    st_size=found.st_size,
                    max_bytes=settings.max_bytes,
                ),
                hint=hint,
            )
        data = source.read_bytes()
    except OSError as error:
        raise UnreadableFile(
            Text("{name} cannot be read: {strerror}", name=name, strerror=error.strerror or error)
        ) from None
    if not data:
        raise UnreadableFile(
            Text("{name} is empty", name=name),
            hint=Text("a table needs a line with the names of its columns, and rows below it"),
        )
    return data


def _explain_error(error: BaseException, name: str) -> BaseException:
    """What went wrong, with the file's name in it."""
    import duckdb

    if isinstance(error, UnreadableFile):
        said = (
            Text("{name}: {message}", name=name, message=error.message)
            if error.message.startswith("it ")
            else error.message
        )
        return UnreadableFile(
            said, hint=error.hint or Text("these are read: {formats}", formats=FORMATS)
        )
    if isinstance(error, CitewellError):
        return error
    if isinstance(error, duckdb.OutOfMemoryException):
        return UnreadableFile(
            Text("{name} needs more memory than it may have", name=name),
            hint=Text("split the file"),
        )
    if isinstance(error, duckdb.IOException | OSError):
        hint = Text("see that the disk has room and the folder can be written to")
        return StorageError(
            Text(
                "the copy of {name} cannot be written: {error}", name=name, error=str(error)[:200]
            ),
            hint=hint,
        )
    if isinstance(error, duckdb.Error):
        return UnreadableFile(
            Text(
                "{name} cannot be read: {error}", name=name, error=str(error).splitlines()[0][:300]
            )
        )
    return error


def _shorten_warnings(done: Imported) -> Imported:
    """The only table's warnings need not name it. A thousand warnings are no warning."""
    if len(done.tables) == 1:
        done.warnings = [
            warning.removeprefix(f"{done.tables[0].name}: ") for warning in done.warnings
        ]
    if len(done.warnings) > _MOST_WARNINGS:
        rest = len(done.warnings) - _MOST_WARNINGS
        done.warnings = [
            *done.warnings[:_MOST_WARNINGS],
            Text("and {rest} more warnings", rest=rest),
        ]
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
        store.add_parquet(get_file_stem(name), str(path))
    except duckdb.Error as error:
        reason = str(error).splitlines()[0].replace(str(path), name)
        raise UnreadableFile(
            Text("{name} cannot be read: {reason}", name=name, reason=reason[:300])
        ) from None


_READERS: Final[dict[str, Callable[[Store, Path, bytes, str, IngestSettings], None]]] = {
    "delimited": _import_delimited,
    "sheets": _import_sheets,
    "json": _import_json,
    "sqlite": _import_sqlite,
    "parquet": _import_parquet,
}
