"""Sources from end to end: added, followed as their files change, opened, removed; killed and
doubled on the way.
"""

# ruff: noqa: ASYNC240 - a test waits for its own small files

from __future__ import annotations

import asyncio
import os
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

from citewell.config import Settings
from citewell.errors import (
    CitewellError,
    Conflict,
    InvalidInput,
    NotFound,
    SourceUnavailable,
    UnreadableFile,
)
from citewell.runtime.app import App
from citewell.service.tables import file_copies as data_copies
from citewell.service.tables import sources as service
from citewell.service.tables.kept_schema import load_schema
from citewell.service.tables.open_source import open_source
from citewell.service.tables.preview_tables import preview_table
from citewell.service.tables.source_places import build_location, has_password, parse_place
from citewell.sql.engines.engine import Limits
from citewell.store.library.file_objects import COPIES

CSV = "Function,Service,Cost\nIT,Cloud,10\nIT,Network,20\nHR,Payroll,5\n"


@pytest.fixture
def costs(tmp_path: Path) -> Path:
    path = tmp_path / "costs.csv"
    path.write_text(CSV, "utf-8")
    return path


def copies(app: App) -> list[str]:
    folder = app.settings.home / COPIES
    return sorted(each.name for each in folder.iterdir()) if folder.is_dir() else []


async def total(app: App, name: str = "costs", column: str = "Cost") -> object:
    async with open_source(app, name) as (_, engine):
        rows = await engine.run(f'SELECT sum("{column}") FROM "costs"', Limits())
    return rows.rows[0][0]


async def test_add_list_get_open_remove(app: App, costs: Path) -> None:
    added = await service.add_source(app, str(costs))
    assert (added.status, added.source.name, added.source.location) == (
        "added",
        "costs",
        str(costs),
    )
    [table] = load_schema(added.source).tables
    assert [(column.name, column.type) for column in table.columns] == [
        ("Function", "VARCHAR"),
        ("Service", "VARCHAR"),
        ("Cost", "BIGINT"),
    ]
    assert await service.list_sources(app) == [await app.sources.get("costs")]
    assert await total(app) == 35
    assert (app.settings.home / added.source.path).stat().st_mode & 0o077 == 0
    _, rows = await preview_table(app, "costs", "COSTS", 2)
    assert rows.rows == (("IT", "Cloud", 10), ("IT", "Network", 20))
    with pytest.raises(NotFound, match="no table 'cost'"):
        await preview_table(app, "costs", "cost", 2)
    await service.remove_source(app, "costs")
    assert (copies(app), await service.list_sources(app), costs.read_text()) == ([], [], CSV)


async def test_the_same_again_another_place(app: App, costs: Path, tmp_path: Path) -> None:
    await service.add_source(app, str(costs))
    assert (await service.add_source(app, str(costs))).status == "unchanged"
    os.utime(costs, (1, 1))
    assert (
        await service.add_source(app, f"{tmp_path}/../{tmp_path.name}/costs.csv")
    ).status == "unchanged"
    costs.write_text(CSV + "HR,Training,7\n", "utf-8")
    assert (await service.add_source(app, str(costs))).status == "replaced"
    (tmp_path / "other").mkdir()
    (tmp_path / "other/costs.csv").write_text(CSV, "utf-8")
    with pytest.raises(Conflict, match="from another place") as raised:
        await service.add_source(app, str(tmp_path / "other/costs.csv"))
    assert "--name" in raised.value.hint
    await service.add_source(app, str(tmp_path / "other/costs.csv"), "costs 2")
    assert [source.name for source in await service.list_sources(app)] == ["costs", "costs 2"]


async def test_a_changed_file_is_read_first(app: App, costs: Path) -> None:
    first = await service.add_source(app, str(costs))
    costs.write_text(CSV + "HR,Training,7\n", "utf-8")
    async with open_source(app, "costs") as before:
        assert (await before.engine.run("SELECT count(*) FROM costs", Limits())).rows == ((4,),)
        costs.write_text(CSV.replace("Cost", "Price"), "utf-8")
        assert await total(app, column="Price") == 35
        # who reads the old copy goes on
        assert (await before.engine.run('SELECT sum("Cost") FROM costs', Limits())).rows == ((42,),)
    after = await app.sources.get("costs")
    assert after.fingerprint != first.source.fingerprint
    assert [(job.kind, job.payload) for job in await app.jobs.list()] == [
        ("check_source", {"source": "costs"})
    ]


async def test_new_rows_are_no_new_schema(app: App, costs: Path) -> None:
    await service.add_source(app, str(costs))
    costs.write_text(CSV + "HR,Training,7\n", "utf-8")
    assert await total(app) == 42
    assert await app.jobs.list() == []


async def test_a_file_that_is_gone_or_broken_leaves_its_copy(app: App, costs: Path) -> None:
    await service.add_source(app, str(costs))
    costs.rename(costs.with_suffix(".away"))
    assert await total(app) == 35
    problem = (await app.sources.get("costs")).problem
    assert problem.startswith("costs.csv is gone, noticed 20")
    assert "its copy of 20" in problem
    with pytest.raises(SourceUnavailable, match="No such file"):
        await service.refresh_source(app, "costs")
    costs.write_bytes(bytes(range(256)) * 20)
    assert await total(app) == 35
    assert (await app.sources.get("costs")).problem.startswith("costs.csv has changed, but ")
    costs.write_text(CSV + "HR,Training,7\n", "utf-8")
    assert await total(app) == 42
    assert (await app.sources.get("costs")).problem == ""


async def test_copy_and_file_gone(app: App, costs: Path) -> None:
    source = (await service.add_source(app, str(costs))).source
    (app.settings.home / source.path).unlink()
    assert await total(app) == 35  # made anew
    (app.settings.home / (await app.sources.get("costs")).path).unlink()
    costs.unlink()
    with pytest.raises(SourceUnavailable, match=r"costs\.csv is gone, and so is its copy"):
        await total(app)


async def test_uploads(app: App, costs: Path) -> None:
    added = await service.add_upload(app, costs, "../费用.csv", None)
    assert (added.source.name, added.source.location) == ("费用", "upload:../费用.csv")
    costs.unlink()
    async with open_source(app, "费用") as (source, _):
        assert source.problem == ""
    with pytest.raises(Conflict, match="its file was sent"):
        await service.refresh_source(app, "费用")


async def test_sqlite_as_a_file_and_by_url(app: App, tmp_path: Path) -> None:
    path = tmp_path / "shop.db"
    database = sqlite3.connect(path)
    database.executescript(
        "CREATE TABLE p (id INTEGER PRIMARY KEY); CREATE TABLE o (p INTEGER REFERENCES P (ID), n "
        "TEXT);"
    )
    database.close()
    as_file = (await service.add_source(app, str(path))).source
    by_url = (await service.add_source(app, f"sqlite:///{path}", "live")).source
    assert (as_file.dialect, by_url.dialect, by_url.path) == ("duckdb", "sqlite", "")
    for source in (as_file, by_url):
        tables = {table.name: table for table in load_schema(source).tables}
        assert tables["p"].primary_key == ("id",)
        [key] = tables["o"].foreign_keys
        assert (
            key.columns,
            key.table.casefold(),
            [each.casefold() for each in key.target_columns],
        ) == (("p",), "p", ["id"])


async def test_a_server_by_url(app: App, postgres_database: str) -> None:
    import psycopg

    with psycopg.connect(postgres_database, autocommit=True) as connection:
        connection.execute("CREATE TABLE t (a integer, b text)")
        connection.execute("INSERT INTO t VALUES (1, 'x')")
        added = await service.add_source(app, postgres_database, "pg")
        assert (added.source.dialect, [table["name"] for table in added.source.tables]) == (
            "postgres",
            ["t"],
        )
        _, rows = await preview_table(app, "pg", "t", 5)
        assert rows.rows == ((1, "x"),)
        connection.execute("ALTER TABLE t ADD COLUMN c date")
    assert (await service.refresh_source(app, "pg")).status == "replaced"
    assert [job.kind for job in await app.jobs.list()] == ["check_source"]


async def test_a_server_that_is_not_there(app: App) -> None:
    with pytest.raises(SourceUnavailable) as raised:
        await service.add_source(app, "postgresql://reader:s3cret@127.0.0.1:1/shop")
    assert "s3cret" not in raised.value.message + raised.value.hint
    assert await service.list_sources(app) == []


@pytest.mark.parametrize(
    "said",
    ["", "a\0b", "no/such.csv", "https://x.example/a.csv", "file:///etc/passwd", "redis://x",
     "mysql://${U}:p@h/d", "x" * 5000],
)  # fmt: skip
async def test_places_that_are_none(app: App, said: str) -> None:
    with pytest.raises(InvalidInput):
        await service.add_source(app, said)
    assert copies(app) == []


async def test_files_that_are_none(app: App, tmp_path: Path) -> None:
    fifo = tmp_path / "pipe.csv"
    os.mkfifo(fifo)
    for path, said in ((fifo, "no ordinary file"), (tmp_path, "is a folder")):
        with pytest.raises(UnreadableFile, match=said):
            await service.add_source(app, str(path))
    assert copies(app) == []


@pytest.mark.parametrize(
    "url", ["sqlite:////etc/passwd", "/etc/passwd", "costs.csv", "postgresql://u:${HOME}@h/d"]
)
async def test_over_the_network_nothing_of_this_machine(app: App, url: str) -> None:
    with pytest.raises(InvalidInput, match="only databases of a server"):
        await service.add_database(app, url)


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://u:p@127.0.0.1:1/d?passfile=/etc/passwd",
        "postgresql://u:p@127.0.0.1:1/d?host=/run/postgresql",
        "postgresql://u:p@127.0.0.1:1/d?options=-c%20default_transaction_read_only%3Doff",
        "postgresql://u:p@%2Frun%2Fpostgresql/d",
        "postgresql:///d",
        "mysql://u:p@127.0.0.1:1/d?ssl_ca=/etc/passwd",
    ],
)
async def test_over_the_network_no_parameter_that_reads_this_machine(app: App, url: str) -> None:
    with pytest.raises(InvalidInput, match=r"URL m|options"):
        await service.add_database(app, url)
    assert await service.list_sources(app) == []


def test_a_password_from_the_environment() -> None:
    url = "postgresql://u:${PW}@h/d"
    assert parse_place(url).location == url
    assert build_location(url, 5, {"PW": "a@b/c"}).where == "postgresql://u:a%40b%2Fc@h/d"
    with pytest.raises(SourceUnavailable, match="which is not set"):
        build_location(url, 5, {})
    assert (
        has_password(url),
        has_password("postgresql://u:p@h/d"),
        has_password("postgresql://u@h/d"),
    ) == (
        False,
        True,
        False,
    )
    assert parse_place("mysql://u:p%40ss@h/shop").shown == "mysql://u:***@h/shop"


async def test_strange_names_of_files(app: App, tmp_path: Path) -> None:
    for name in ('it\'s "a" [1]*.csv', "费用 明细.csv", "x" * 240 + ".csv", "..csv"):
        (tmp_path / name).write_text(CSV, "utf-8")
        added = await service.add_source(app, str(tmp_path / name))
        [table] = added.source.tables
        _, rows = await preview_table(app, added.source.name, table["name"], 5)
        assert len(rows.rows) == 3
    with pytest.raises(InvalidInput, match="not allowed"):
        await service.add_source(app, str(tmp_path / "费用 明细.csv"), "../../x")


PROGRAM = """
import asyncio, sys
from pathlib import Path
from citewell.config import Settings
from citewell.runtime.app import App
from citewell.service.tables.sources import add_source
async def main():
    settings = Settings(
        home=Path(sys.argv[1]), cache=Path(sys.argv[1]) / "cache", llm="none", embedder="scripted",
        database_url=sys.argv[3])
    async with App(settings) as app:
        print((await add_source(app, sys.argv[2])).status, flush=True)
asyncio.run(main())
"""


def start(settings: Settings, path: Path) -> subprocess.Popen[bytes]:
    kept = {name: os.environ[name] for name in ("PATH", "PYTHONPATH") if name in os.environ}
    url = settings.database_url.get_secret_value()
    command = [sys.executable, "-c", PROGRAM, str(settings.home), str(path), url]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=kept)


async def test_killed_while_it_reads(app: App, settings: Settings, tmp_path: Path) -> None:
    big = tmp_path / "costs.csv"
    big.write_text(
        "Function,Service,Cost\n" + "".join(f"IT,Service {n},{n}\n" for n in range(300_000)),
        "utf-8",
    )
    process = start(settings, big)
    deadline = time.monotonic() + 120
    while not any(name.endswith(".work") for name in copies(app)):
        assert time.monotonic() < deadline
        assert process.poll() is None
        await asyncio.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert await app.sources.list() == []
    assert copies(app) != []
    while copies(app):  # the worker of the killed process may still be ending
        assert time.monotonic() < deadline
        await service.list_sources(app)
        await asyncio.sleep(0.05)
    big.write_text(CSV, "utf-8")
    assert (await service.add_source(app, str(big))).status == "added"
    assert await total(app) == 35


async def test_two_processes_at_once(app: App, settings: Settings, costs: Path) -> None:
    both = [start(settings, costs) for _ in range(2)]
    told = [process.communicate(timeout=120) for process in both]
    assert all(process.returncode == 0 for process in both), told
    assert {out.decode().strip() for out, _ in told} <= {"added", "replaced", "unchanged"}
    assert await total(app) == 35
    [source] = await service.list_sources(app)
    assert f"{COPIES}/" + next(name for name in copies(app) if name in source.path) == source.path
    assert not [name for name in copies(app) if not name.endswith(".duckdb")]


async def test_two_questions_at_once_read_a_changed_file_once(app: App, costs: Path) -> None:
    await service.add_source(app, str(costs))
    costs.write_text(CSV + "HR,Training,7\n", "utf-8")
    assert await asyncio.gather(*(total(app) for _ in range(4))) == [42] * 4
    assert len(copies(app)) == 2  # the old one, for whoever is still at it, and one new


async def test_copies_that_nobody_asks_go(
    app: App, costs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await service.add_source(app, str(costs))
    costs.write_text(CSV + "HR,Training,7\n", "utf-8")
    await total(app)
    monkeypatch.setattr(data_copies, "GRACE", -1.0)
    await service.list_sources(app)
    assert len(copies(app)) == 1
    assert await total(app) == 42


async def test_a_failure_after_reading_leaves_nothing(
    app: App, costs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def refuse(*_: object, **__: object) -> None:
        raise CitewellError("the disk is full")

    monkeypatch.setattr(app.sources, "put", refuse)
    with pytest.raises(CitewellError, match="disk is full"):
        await service.add_source(app, str(costs))
    assert copies(app) == []


async def test_the_same_under_two_names_is_told(app: App, tmp_path: Path) -> None:
    first, second = tmp_path / "first.csv", tmp_path / "second.csv"
    first.write_text("a,b\nx,1\n", "utf-8")
    second.write_text("a,b\nx,1\n", "utf-8")
    assert (await service.add_source(app, str(first))).warnings == []
    again = await service.add_source(app, str(first), "again")
    assert again.warnings == ["the same file is there as first"]
    assert again.source.warnings == [], "it is told once, and not kept"
    assert (await service.add_source(app, str(second))).warnings == [
        "a file with the same bytes is there as again, first"
    ]
    assert (await service.add_source(app, str(first))).warnings == []


async def test_a_database_file_that_was_never_there(app: App, tmp_path: Path) -> None:
    """Not "gone", and nothing to bring back."""
    with pytest.raises(InvalidInput, match="there is no such file") as refused:
        await service.add_source(app, f"sqlite:///{tmp_path}/nofile.db")
    assert "bring it back" not in refused.value.hint
    assert await service.list_sources(app) == []


async def test_what_cannot_be_added_says_what_can(app: App, tmp_path: Path) -> None:
    """A folder, an empty file, bytes that are no text."""
    (tmp_path / "empty.csv").write_bytes(b"")
    (tmp_path / "binary.csv").write_bytes(bytes(range(256)) * 20)
    for path in (tmp_path, tmp_path / "empty.csv", tmp_path / "binary.csv"):
        with pytest.raises(UnreadableFile) as refused:
            await service.add_source(app, str(path))
        assert refused.value.hint, path
