"""A backup holds one moment of a home, and a restore is all of it or nothing, whatever the archive
is.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import os
import sqlite3
import stat
import sys
import tarfile
import threading
import time
import tracemalloc
import zlib
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tests.servers.forked import Forked
from tests.store.earlier import be_earlier

from citewell.errors import (
    CitewellError,
    Conflict,
    InvalidInput,
    NotFound,
    StorageError,
    UnreadableFile,
)
from citewell.service.admin.backup import create_backup
from citewell.service.admin.backup_list import Manifest
from citewell.service.admin.backup_read import check_schema_version, read_archive
from citewell.service.admin.backup_restore import (
    check_restore_target,
    collect_warnings,
    migrate_home,
    put_in_place,
    unpack_archive,
)
from citewell.service.admin.hidden_copies import sweep_hidden_copies
from citewell.store.copies import SCHEMA
from citewell.store.db import Database
from citewell.store.migrations.migration_list import MIGRATIONS

pytestmark = pytest.mark.sqlite  # archives hold a file

Member = tuple[tarfile.TarInfo, bytes]


def quiet(done: int, total: int) -> None:
    """Nobody watches."""


async def made(home: Path) -> Path:
    """A home with a database and a file of each kind."""
    async with Database(home / "citewell.db"):
        pass
    files = {
        "citewell.toml": 'collection = "default"\n',
        "calibration.json": "{}",
        "uploads/0a1b/0": "bytes of a job",
        "sources/ab12.duckdb": "a copy of tables",
        "knowledge/confirmed_qa/tr_1.md": "# What was confirmed\n",
    }
    for name, text in files.items():
        path = home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    return home


@pytest.fixture
async def home(tmp_path: Path) -> Path:
    return await made(tmp_path / "home")


@pytest.fixture
def archive(home: Path, tmp_path: Path) -> Path:
    return Path(create_backup(home, tmp_path / "b.tar.gz", quiet).file)


def names(folder: Path, pattern: str = "*") -> list[str]:
    return sorted(path.name for path in folder.glob(pattern))


def contents(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def modes(path: Path) -> set[int]:
    """Of a file; of a folder and all below it."""
    return {stat.S_IMODE(each.stat().st_mode) for each in (path, *path.rglob("*"))}


async def restored(archive: Path, home: Path, *, force: bool = False) -> Path | None:
    with unpack_archive(archive, home, quiet) as (folder, _):
        await migrate_home(folder)
        return put_in_place(folder, home, force=force)


async def test_there_and_back(home: Path, archive: Path, tmp_path: Path) -> None:
    """The same files under another path, private; nothing is left beside them."""
    there = tmp_path / "elsewhere" / "new"
    assert await restored(archive, there) is None
    before, after = contents(home), contents(there)
    assert {name: data for name, data in after.items() if name != "citewell.db"} == {
        name: data for name, data in before.items() if not name.startswith("citewell.db")
    }
    assert (modes(archive), modes(there)) == ({0o600}, {0o600, 0o700})
    assert (names(there.parent), names(home, ".backup-*")) == (["new"], [])
    with tarfile.open(archive) as packed:  # anybody's tar reads it
        assert packed.getnames()[:2] == ["manifest.json", "citewell.db"]


def test_the_list_says_all(home: Path, archive: Path) -> None:
    """Sizes and sums of the files as they are unpacked; what is none of ours is named and left
    out.
    """
    manifest = read_archive(archive, quiet, lambda _: None)
    assert manifest.schema_version == SCHEMA
    sums = {file.path: (file.size, file.sha256) for file in manifest.files}
    data = (home / "uploads/0a1b/0").read_bytes()
    assert sums["uploads/0a1b/0"] == (len(data), hashlib.sha256(data).hexdigest())
    (home / "notes.txt").write_text("mine", "utf-8")
    (home / "sources/x.part").write_text("half", "utf-8")
    (home / "sources/link.duckdb").symlink_to("/etc/passwd")
    again = create_backup(home, archive.with_name("c.tar.gz"), quiet)
    assert again.left_out == ["notes.txt", "sources/link.duckdb"]


def test_what_a_backup_refuses(home: Path, archive: Path, tmp_path: Path) -> None:
    """A file that is there, a place in the home, a home that is none; each leaves no file."""
    before = archive.read_bytes()
    with pytest.raises(Conflict, match="overwrites nothing"):
        create_backup(home, archive, quiet)
    assert archive.read_bytes() == before
    with pytest.raises(InvalidInput, match="inside the home"):
        create_backup(home, home / "b.tar.gz", quiet)
    with pytest.raises(NotFound, match="no library"):
        create_backup(tmp_path / "nowhere", tmp_path / "c.tar.gz", quiet)
    with pytest.raises(StorageError, match="no backup was written"):
        create_backup(home, tmp_path / "nowhere" / "c.tar.gz", quiet)
    named = create_backup(home, tmp_path, quiet)
    assert Path(named.file).parent == tmp_path
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(
        ["b.tar.gz", "home", Path(named.file).name]
    )


@pytest.mark.parametrize("why", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_an_interrupted_backup_leaves_nothing(
    home: Path, tmp_path: Path, why: BaseException
) -> None:
    """A full disk, Ctrl-C: no archive, no part of one, no folder in the home."""

    def ends(done: int, total: int) -> None:
        raise why

    with pytest.raises((StorageError, KeyboardInterrupt)):
        create_backup(home, tmp_path / "b.tar.gz", ends)
    assert [path.name for path in tmp_path.iterdir()] == ["home"]
    assert not list(home.glob(".backup-*"))


def test_a_moment_while_others_write(home: Path, tmp_path: Path) -> None:
    """A file is written before its row and removed after it, hundreds of times: in no backup is a
    row without its file.
    """
    ended = threading.Event()

    def works() -> None:
        with closing(
            sqlite3.connect(home / "citewell.db", timeout=30, isolation_level=None)
        ) as database:
            database.execute("CREATE TABLE wanted (name TEXT)")
            number = 0
            while not ended.is_set():
                number += 1
                path = home / f"sources/s{number}.duckdb"
                path.write_text("x", "utf-8")
                database.execute("INSERT INTO wanted VALUES (?)", (path.name,))
                database.execute("DELETE FROM wanted WHERE name = ?", (path.name,))
                path.unlink()

    worker = threading.Thread(target=works)
    worker.start()
    try:
        time.sleep(0.2)
        archives = [
            Path(create_backup(home, tmp_path / f"b{number}.tar.gz", quiet).file)
            for number in range(8)
        ]
    finally:
        ended.set()
        worker.join()
    for number, archive in enumerate(archives):
        folder = tmp_path / f"out{number}"
        read_archive(archive, quiet, lambda _: None, folder)
        with closing(sqlite3.connect(folder / "citewell.db")) as database:
            wanted = {name for (name,) in database.execute("SELECT name FROM wanted")}
            assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert wanted <= {path.name for path in (folder / "sources").iterdir()}


def test_memory_stays_flat(home: Path, tmp_path: Path) -> None:
    """64 MB go through in pieces, both ways."""
    with (home / "sources/large.duckdb").open("wb") as file:
        for _ in range(64):
            file.write(os.urandom(1 << 20))
    tracemalloc.start()
    try:
        archive = Path(create_backup(home, tmp_path / "b.tar.gz", quiet).file)
        read_archive(archive, quiet, lambda _: None, tmp_path / "out")
        assert tracemalloc.get_traced_memory()[1] < 16_000_000
    finally:
        tracemalloc.stop()


# ---------------------------------------------------------------- archives that are not what we
# wrote


def members(archive: Path) -> list[Member]:
    with tarfile.open(archive) as packed:
        return [
            (info, (packed.extractfile(info) or io.BytesIO()).read())
            for info in packed.getmembers()
        ]


def written(path: Path, parts: list[Member], form: int = tarfile.USTAR_FORMAT) -> None:
    with tarfile.open(path, "w:gz", format=form) as packed:
        for info, data in parts:
            packed.addfile(info, io.BytesIO(data))


def entry(name: str, data: bytes = b"x", kind: bytes = tarfile.REGTYPE, link: str = "") -> Member:
    info = tarfile.TarInfo(name)
    info.type, info.linkname, info.size = kind, link, len(data) if kind == tarfile.REGTYPE else 0
    return info, data


def relisted(parts: list[Member], change: Callable[[dict[str, Any]], None]) -> list[Member]:
    """With another list."""
    said = json.loads(parts[0][1])
    change(said)
    return [entry("manifest.json", json.dumps(said).encode()), *parts[1:]]


def listed(name: str, data: bytes = b"x") -> dict[str, Any]:
    return {"path": name, "size": len(data), "sha256": hashlib.sha256(data).hexdigest()}


def adds(name: str) -> Callable[[list[Member]], list[Member]]:
    """A list that names another file, which is there too."""
    return lambda parts: [
        *relisted(parts, lambda said: said["files"].append(listed(name))),
        entry(name),
    ]


HOSTILE: dict[str, tuple[Callable[[list[Member]], list[Member]], str]] = {
    "a path upwards": (adds("../evil"), "none of a home"),
    "a path upwards within": (adds("uploads/../../evil"), "none of a home"),
    "an absolute path": (adds("/etc/cron.d/evil"), "none of a home"),
    "a strange name": (adds("sources/.bashrc"), "none of a home"),
    "a folder that is none of ours": (adds("lib/evil.py"), "none of a home"),
    "an empty part": (adds("uploads//0"), "none of a home"),
    "a name twice": (adds("citewell.toml"), "names a file twice"),
    "a file inside a file": (adds("uploads/0a1b/0/1"), "uploads/0a1b/0: "),
    "a link": (
        lambda parts: [
            *parts[:2],
            entry("calibration.json", b"", tarfile.SYMTYPE, "/etc/passwd"),
            *parts[3:],
        ],
        "link",
    ),
    "a hard link": (
        lambda parts: [*parts[:2], entry("calibration.json", b"", tarfile.LNKTYPE, "/etc/passwd")],
        "link",
    ),
    "a device": (
        lambda parts: [*parts[:2], entry("calibration.json", b"", tarfile.CHRTYPE)],
        "device",
    ),
    "a folder": (
        lambda parts: [*parts[:2], entry("calibration.json", b"", tarfile.DIRTYPE)],
        "folder",
    ),
    "a pipe": (
        lambda parts: [*parts[:2], entry("calibration.json", b"", tarfile.FIFOTYPE)],
        "no plain file",
    ),
    "more than it lists": (lambda parts: [*parts, entry("uploads/0a1b/9")], "more than its list"),
    "less than it lists": (lambda parts: parts[:-1], "ends before"),
    "another order": (lambda parts: [*parts[:-2], parts[-1], parts[-2]], "is to come"),
    "other bytes": (
        lambda parts: [*parts[:-1], entry(parts[-1][0].name, b"y" * len(parts[-1][1]))],
        "not those that",
    ),
    "another size": (lambda parts: [*parts[:-1], entry(parts[-1][0].name, b"y")], "its list says"),
    "no list": (lambda parts: parts[1:], "manifest.json is to come"),
    "a list that is none": (
        lambda parts: [entry("manifest.json", b"[]"), *parts[1:]],
        "list of files cannot be read",
    ),
    "a list of another form": (
        lambda parts: relisted(parts, lambda said: said.update(format=9)),
        "upgrade Citewell",
    ),
    "no database": (
        lambda parts: relisted(parts, lambda said: said["files"].pop(0)),
        "no database",
    ),
    "negative sizes": (
        lambda parts: relisted(parts, lambda said: said["files"][0].update(size=-1)),
        "cannot be read",
    ),
    "another schema": (
        lambda parts: relisted(parts, lambda said: said.update(schema_version=1)),
        "its list says schema 1",
    ),
    "a later schema": (
        lambda parts: relisted(parts, lambda said: said.update(schema_version=999)),
        "upgrade Citewell",
    ),
    "a larger database than the disk": (
        lambda parts: relisted(parts, lambda said: said["files"][0].update(size=1 << 60)),
        "are free",
    ),
    "nothing": (lambda _: [], "ends before manifest.json"),
}  # fmt: skip


@pytest.mark.parametrize("which", HOSTILE)
async def test_hostile_archives(home: Path, archive: Path, tmp_path: Path, which: str) -> None:
    """One clear line; the home is as it was, and nothing is anywhere else."""
    change, words = HOSTILE[which]
    bad = tmp_path / "bad.tar.gz"
    written(bad, change(members(archive)))
    before, around = contents(home), names(tmp_path)
    with pytest.raises((UnreadableFile, StorageError)) as refused:
        await restored(bad, home, force=True)
    assert words in f"{refused.value.message} {refused.value.hint}"
    assert "\n" not in refused.value.message
    assert (contents(home), names(tmp_path)) == (before, around)


def unpacks(data: bytes) -> bytes:
    """To what, where it does."""
    try:
        return gzip.decompress(data)
    except (OSError, EOFError, zlib.error):
        return b""


def broken(archive: Path) -> list[bytes]:
    """Cut off, a bit turned, something behind it, something else."""
    data = archive.read_bytes()
    cuts = [data[:size] for size in range(0, len(data), max(1, len(data) // 40))]
    turned = [
        data[:at] + bytes([data[at] ^ 0x10]) + data[at + 1 :]
        for at in range(12, len(data), max(1, len(data) // 60))
    ]
    turned = [
        each for each in turned if unpacks(each) != gzip.decompress(data)
    ]  # some bits mean nothing
    assert len(turned) > 20
    bomb = gzip.compress(bytes(50_000_000))
    behind = [data + more for more in (b"more", gzip.compress(b"more"), bomb)]
    return [*cuts, *turned, *behind, bomb, os.urandom(5000), b"PK\3\4"]


def below_zero(archive: Path, bad: Path) -> None:
    """Its first header with the size -1, in base 256."""
    packed = bytearray(gzip.decompress(archive.read_bytes()))
    packed[124:136] = b"\xff" * 12
    packed[148:156] = b" " * 8
    packed[148:156] = f"{sum(packed[:512]):06o}\0 ".encode()
    bad.write_bytes(gzip.compress(bytes(packed)))


async def test_a_size_below_zero_is_not_read(home: Path, archive: Path, tmp_path: Path) -> None:
    """What reads "as many bytes as there are" would take an archive's gigabytes into memory."""
    bad = tmp_path / "bad.tar.gz"
    below_zero(archive, bad)
    with pytest.raises(UnreadableFile, match="below zero"):
        await restored(bad, home, force=True)


async def test_broken_archives(home: Path, archive: Path, tmp_path: Path) -> None:
    """Refused in words, wherever the fault is."""
    bad = tmp_path / "bad.tar.gz"
    for number, data in enumerate(broken(archive)):
        bad.write_bytes(data)
        with pytest.raises((UnreadableFile, StorageError)):
            pytest.fail(f"number {number} was restored: {await restored(bad, home, force=True)}")
    with pytest.raises(NotFound, match="no such file"):
        await restored(tmp_path / "nothing.tar.gz", home, force=True)
    with pytest.raises(CitewellError):
        await restored(tmp_path, home, force=True)
    assert names(tmp_path) == ["b.tar.gz", "bad.tar.gz", "home"]


def test_long_headers_are_no_way_in(archive: Path, tmp_path: Path) -> None:
    """Names and sizes in extra headers, which a tar reader takes into memory whole, are not read at
    all.
    """
    bad = tmp_path / "bad.tar.gz"
    for form in (tarfile.PAX_FORMAT, tarfile.GNU_FORMAT):
        parts = members(archive)
        written(bad, [parts[0], entry("citewell.db" + "x" * 300), *parts[1:]], form)
        with pytest.raises(UnreadableFile, match="no plain file but a special entry"):
            read_archive(bad, quiet, lambda _: None)


def test_a_later_version_is_refused_by_its_name(archive: Path) -> None:
    manifest: Manifest = read_archive(archive, quiet, lambda _: None)
    later = manifest.model_copy(update={"schema_version": SCHEMA + 1, "version": "9.9"})
    with pytest.raises(
        StorageError,
        match=rf"Citewell 9\.9 wrote it \(schema {SCHEMA + 1}, this one knows {SCHEMA}\)",
    ):
        check_schema_version(archive, later)


async def test_an_earlier_schema_is_brought_up_to_date(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The archive says its own; the restored home opens, and knows what this version knows."""
    with monkeypatch.context() as earlier:
        be_earlier(earlier, MIGRATIONS[:8])
        home = await made(tmp_path / "old")
        archive = Path(create_backup(home, tmp_path / "b.tar.gz", quiet).file)
    assert read_archive(archive, quiet, lambda _: None).schema_version == 8
    there = tmp_path / "new"
    await restored(archive, there)
    with closing(sqlite3.connect(there / "citewell.db")) as database:
        steps = database.execute("SELECT max(number) FROM migrations").fetchone()
        assert steps == (len(MIGRATIONS),)


# ---------------------------------------------------------------- what is there already


async def test_a_home_with_something_in_it(home: Path, archive: Path) -> None:
    """Refused; with force it stays beside the new one, under a name with the moment."""
    (home / "calibration.json").write_text('{"later": 1}', "utf-8")
    with pytest.raises(Conflict, match="something in it already"):
        check_restore_target(home, force=False)
    before = await restored(archive, home, force=True)
    assert before is not None
    assert before.name.startswith("home.replaced-20")
    assert (before / "calibration.json").read_text("utf-8") == '{"later": 1}'
    assert (home / "calibration.json").read_text("utf-8") == "{}"
    again = await restored(archive, home, force=True)
    assert again != before


async def test_a_home_that_is_open_is_left_alone(home: Path, archive: Path) -> None:
    """An open database is somebody at work, this process or another."""
    before = contents(home)
    async with Database(home / "citewell.db"):
        with pytest.raises(Conflict, match="has it open"):
            await restored(archive, home, force=True)
    assert contents(home).keys() >= before.keys()
    assert await restored(archive, home, force=True) is not None


async def test_a_broken_home_can_be_replaced(home: Path, archive: Path) -> None:
    """That is what a backup is for."""
    (home / "citewell.db").write_bytes(b"no database at all" * 1000)
    for name in ("citewell.db-wal", "citewell.db-shm"):
        (home / name).unlink(missing_ok=True)
    before = await restored(archive, home, force=True)
    assert before is not None
    async with Database(home / "citewell.db"):
        pass


async def test_without_a_system_that_exchanges(
    home: Path, archive: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two renames then; the first is taken back where the second fails."""
    monkeypatch.setattr(
        "citewell.service.admin.backup_restore.ctypes.CDLL", lambda *_, **__: object()
    )
    before = await restored(archive, home, force=True)
    assert before is not None
    assert (before / "citewell.db").exists()
    assert (home / "citewell.db").exists()


DRIVER = """
import asyncio, sys, time
from pathlib import Path
from citewell.service.admin import backup, backup_restore
what, home, archive, mark = sys.argv[1], *map(Path, sys.argv[2:5])

def pause(*_):
    mark.touch()
    time.sleep(600)

if what == "backup":
    backup.create_backup(home, archive, pause)
if what == "unpacking":
    with backup_restore.unpack_archive(archive, home, pause):
        pass
if what in {"placing", "exchanging"}:
    with backup_restore.unpack_archive(archive, home, lambda *_: None) as (made, _):
        asyncio.run(backup_restore.migrate_home(made))
        if what == "placing":
            pause()
        real = backup_restore._exchange_folders
        backup_restore._exchange_folders = pause
        backup_restore.put_in_place(made, home, force=True)
"""


@pytest.mark.parametrize("what", ["backup", "unpacking", "placing", "exchanging"])
async def test_killed_in_the_middle(home: Path, archive: Path, tmp_path: Path, what: str) -> None:
    """The home is the old one, whole; no archive has its name; and the same command works
    afterwards.
    """
    (home / "calibration.json").write_text('{"later": 1}', "utf-8")
    target = tmp_path / "new.tar.gz" if what == "backup" else archive
    killed(what, home, target, tmp_path / "mark")
    assert (home / "calibration.json").read_text("utf-8") == '{"later": 1}'
    async with Database(home / "citewell.db"):
        pass
    if what == "backup":
        assert names(tmp_path, "new*") == []
        create_backup(home, target, quiet)
        [part] = sweep_hidden_copies(home)
        assert (part.parent, part.name[:12]) == (tmp_path, ".new.tar.gz."), (
            "what it left outside is told of"
        )
        [left] = names(home, ".backup-*")
        assert "files" not in names(home / left), "the copy in the home is thrown away"
        os.unlink(part)  # noqa: PTH108 - nobody else is waiting here
        assert sweep_hidden_copies(home) == []
        assert names(home, ".backup-*") == []
    else:
        hidden = [path.name[:16] for path in sweep_hidden_copies(home)]
        assert hidden == (
            [] if what == "exchanging" else [".home.restoring-"]
        )  # there it has its last name, in sight
        assert await restored(archive, home, force=True) is not None
        assert (home / "calibration.json").read_text("utf-8") == "{}"
        assert names(tmp_path, ".home*") == []


def killed(what: str, home: Path, archive: Path, mark: Path) -> None:
    """A process that is killed at this point."""
    process = Forked([sys.executable, "-c", DRIVER, what, str(home), str(archive), str(mark)])
    try:
        end = time.monotonic() + 120
        while not mark.exists():
            assert process.poll() is None
            assert time.monotonic() < end
            time.sleep(0.02)
    finally:
        process.kill()
        process.wait(120)


def test_settings_that_do_not_fit_here(home: Path) -> None:
    """Said, not changed."""
    (home / "citewell.toml").write_text(
        'home = "/srv/old"\nllm_file = "/srv/model.gguf"\n', "utf-8"
    )
    first, second = collect_warnings(home)
    assert "home = /srv/old" in first
    assert "llm_file = /srv/model.gguf, which is not on this machine" in second
