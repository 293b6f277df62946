"""The database file that tables are copied into, table by table. Rows reach the engine as a file of
text that we write and it reads, so a cell is data whatever it says.
"""

# ruff: noqa: S608 - names in statements are quoted or our own, texts are quoted

from __future__ import annotations

import csv
import re
import secrets
import shutil
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Self

from citewell.disk import sync_to_disk
from citewell.errors import UnreadableFile
from citewell.ingest.tables.column_names import (
    make_column_names,
    make_table_name,
    quote_literal,
    quote_name,
)
from citewell.ingest.tables.column_plans import Plan
from citewell.ingest.tables.column_types import Chooser
from citewell.ingest.tables.totals import drop_totals
from citewell.messages import Text

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

MOST_COLUMNS: Final = 2_000  # of a table: no model and no person reads more
MOST_TABLES: Final = 500
_MEMORY: Final = "1500MB"  # of the 4 GB that a worker may have; the rest is its own
_LONGEST_LINE: Final = 200_000_000  # bytes
_UNNAMED: Final = Text("no row names its columns; they are called column1, column2, ...")
_CELL: Final = re.compile(r"[\ud800-\udfff]")  # halves of characters, which no file can hold


@dataclass(frozen=True, slots=True)
class Keys:
    """What a file says of a table's keys; nobody checks that its rows obey."""

    primary: tuple[str, ...] = ()
    # columns, table, its columns
    foreign: tuple[tuple[tuple[str, ...], str, tuple[str, ...]], ...] = ()


@dataclass(frozen=True, slots=True)
class ImportedTable:
    name: str
    columns: int
    rows: int
    keys: Keys = Keys()


@dataclass(slots=True)
class Imported:
    """What came of a file. `sha256` of its bytes."""

    tables: list[ImportedTable] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    sha256: str = ""


class Store:
    """`with Store(target) as store:` writes a new DuckDB file, whole and on the disk."""

    def __init__(self, target: Path) -> None:
        self.done = Imported()
        self._target = target
        self._work = target.with_name(target.name + ".work")
        self._connection: DuckDBPyConnection | None = None

    def __enter__(self) -> Self:
        import duckdb

        self._work.mkdir(mode=0o700)
        config: dict[str, Any] = {
            "threads": 2,
            "memory_limit": _MEMORY,
            "temp_directory": str(self._work),
            "autoinstall_known_extensions": False,
            "autoload_known_extensions": False,
        }
        self._connection = duckdb.connect(str(self._target), config=config)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            if self._connection is not None:
                if kind is None:
                    self._connection.execute("CHECKPOINT")
                self._connection.close()
            if kind is None:
                sync_to_disk(self._target)
        finally:
            shutil.rmtree(self._work, ignore_errors=True)

    @property
    def connection(self) -> DuckDBPyConnection:
        assert self._connection is not None
        return self._connection

    @property
    def work(self) -> Path:
        """A folder for what is needed on the way."""
        return self._work

    def find_free_name(self, wanted: str) -> str:
        if len(self.done.tables) >= MOST_TABLES:
            raise UnreadableFile(
                Text("it holds more than {most_tables} tables", most_tables=MOST_TABLES),
                hint=Text("split the file"),
            )
        return make_table_name(wanted, [table.name for table in self.done.tables])

    def add_text(
        self,
        wanted: str,
        names: Sequence[str],
        rows: Iterable[Sequence[str | None]],
        *,
        texts: frozenset[int] = frozenset(),
        decimal_comma: bool = False,
        sheet: bool = False,
        headed: bool = True,
    ) -> ImportedTable:
        """A table of text: what its columns hold is found out. Each row begins with its number in
        the file. `texts`: columns that are text by what the file says, in which only dates are
        looked for. `sheet`: people may have added up in it. `headed`: a row of the file names its
        columns.
        """
        name = self.find_free_name(wanted)
        given, changed = make_column_names(names)
        self.warn(name, *(changed if headed else [_UNNAMED]))
        raw = self._create_raw_table(len(given), rows)
        if sheet:
            self.warn(name, *drop_totals(self.connection, raw, len(given)))
        chooser = Chooser(self.connection, raw, decimal_comma=decimal_comma, sheet=sheet)
        plans = [
            chooser.choose_plan(f"c{n}", label, dates_only=n in texts)
            for n, label in enumerate(given)
        ]
        return self._store_table(name, given, plans, raw)

    def add_typed(
        self,
        wanted: str,
        columns: Sequence[tuple[str, str, str]],
        rows: Iterable[Sequence[str | None]],
        keys: Keys | None = None,
    ) -> ImportedTable:
        """A table of known types: (name, type, value of the text `{}`). Rows as for `add_text`."""
        name = self.find_free_name(wanted)
        given, changed = make_column_names([column for column, _, _ in columns])
        self.warn(name, *changed)
        raw = self._create_raw_table(len(given), rows)
        plans = [Plan(type_, made.format(f"c{n}")) for n, (_, type_, made) in enumerate(columns)]
        return self._store_table(name, given, plans, raw, keys)

    def add_parquet(self, wanted: str, path: str) -> ImportedTable:
        """A Parquet file, as the engine itself reads it."""
        name = self.find_free_name(wanted)
        made = f"CREATE TABLE {quote_name(name)} AS SELECT * FROM read_parquet(?)"
        self.connection.execute(made, [path])
        return self._record_table(name)

    def warn(self, table: str, *warnings: str) -> None:
        """Warnings about a table, named only where the file holds several."""
        self.done.warnings += [
            Text("{table}: {warning}", table=table, warning=warning) for warning in warnings
        ]

    def _create_raw_table(self, width: int, rows: Iterable[Sequence[str | None]]) -> str:
        """The rows as a table `raw` of text: `n`, `c0`, `c1`, ..."""
        if width > MOST_COLUMNS:
            raise UnreadableFile(
                Text(
                    "it has {width:,} columns; {most_columns:,} are read",
                    width=width,
                    most_columns=MOST_COLUMNS,
                ),
                hint=Text("leave columns out, or turn it"),
            )
        path, nothing = self._work / "rows.csv", f"\x02{secrets.token_hex(4)}"
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, quoting=csv.QUOTE_ALL, lineterminator="\n")
            for row in rows:
                writer.writerow(
                    [nothing if cell is None else cell for cell in map(_clean_cell, row)]
                )
        columns = "{'n': 'BIGINT'" + "".join(f", 'c{n}': 'VARCHAR'" for n in range(width)) + "}"
        options = (
            "header = false, auto_detect = false, delim = ',', quote = '\"', escape = '\"', "
            f"new_line = '\\n', parallel = false, nullstr = {quote_literal(nothing)}, "
            "max_line_size "
            f"= {_LONGEST_LINE}, strict_mode = true, encoding = 'utf-8'"
        )
        self.connection.execute("DROP TABLE IF EXISTS raw")
        self.connection.execute(
            f"CREATE TEMP TABLE raw AS SELECT * FROM read_csv({quote_literal(str(path))}, columns "
            f"= {columns}, {options})"
        )
        with suppress(OSError):
            path.unlink()
        return "raw"

    def _store_table(
        self,
        name: str,
        names: Sequence[str],
        plans: Sequence[Plan],
        raw: str,
        keys: Keys | None = None,
    ) -> ImportedTable:
        made = ", ".join(
            f"CAST({plan.expression} AS {plan.type}) AS {quote_name(column)}"
            for column, plan in zip(names, plans, strict=True)
        )
        self.connection.execute(f"CREATE TABLE {quote_name(name)} AS SELECT {made} FROM {raw}")
        self.connection.execute(f"DROP TABLE {raw}")
        for column, plan in zip(names, plans, strict=True):
            self.warn(name, *plan.warnings)
            if plan.comment:
                self.comment(name, column, plan.comment)
        return self._record_table(name, keys)

    def comment(self, table: str, column: str, words: str) -> None:
        """Say what a column, or with column "" a table, is: schema text shows it."""
        what = (
            f"COLUMN {quote_name(table)}.{quote_name(column)}"
            if column
            else f"TABLE {quote_name(table)}"
        )
        self.connection.execute(f"COMMENT ON {what} IS {quote_literal(words)}")

    def _record_table(self, name: str, keys: Keys | None = None) -> ImportedTable:
        rows: Any = self.connection.execute(f"SELECT count(*) FROM {quote_name(name)}").fetchone()
        columns = len(self.connection.execute(f"DESCRIBE {quote_name(name)}").fetchall())
        table = ImportedTable(name, columns, int(rows[0]), keys or Keys())
        self.done.tables.append(table)
        return table


def _clean_cell(cell: str | None) -> str | None:
    """Text that a file can hold."""
    return cell if cell is None or cell.isascii() else _CELL.sub("\ufffd", cell)


def link_file(path: Path, folder: Path, name: str) -> Path:
    """`path` under a name of ours, for readers that take some signs of a name for patterns."""
    target = folder / name
    try:
        target.symlink_to(path.resolve())
    except OSError:
        shutil.copyfile(path, target)
    return target
