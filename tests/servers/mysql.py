"""A real MariaDB or MySQL for tests, where one is installed: `mysql_url` one server a run,
`mysql_database` a database of the test's own.

The one rule: it listens on a free loopback port, keeps all it has in a temporary folder, and is
stopped by its process id.
"""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import tempfile
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pymysql
import pytest

SECONDS = 60.0  # to make the folder and to start, on a slow machine
PASSWORD = "only for tests"
SEARCHED = os.pathsep.join(
    (os.environ.get("PATH", ""), "/usr/sbin", "/usr/local/sbin", "/usr/libexec")
)


def installed() -> str:
    """The server's program, or nothing."""
    return shutil.which("mariadbd", path=SEARCHED) or shutil.which("mysqld", path=SEARCHED) or ""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def prepare(program: str, data: Path) -> None:
    """An empty data folder, whose root user has no password yet."""
    told = subprocess.run(
        [program, "--no-defaults", "--version"], capture_output=True, text=True, check=True
    ).stdout
    user = ["--user=root"] if os.geteuid() == 0 else []
    if "MariaDB" in told:
        install = shutil.which("mariadb-install-db", path=SEARCHED) or shutil.which(
            "mysql_install_db", path=SEARCHED
        )
        if not install:
            pytest.skip("mariadb-install-db is not beside the MariaDB server")
        more = ["--auth-root-authentication-method=normal", "--skip-test-db", "--skip-name-resolve"]
        command = [install, "--no-defaults", f"--datadir={data}", *user, *more]
    else:
        command = [program, "--no-defaults", "--initialize-insecure", f"--datadir={data}", *user]
    subprocess.run(command, capture_output=True, check=True, timeout=SECONDS)


def start(program: str, folder: Path, port: int) -> subprocess.Popen[bytes]:
    listen = [
        f"--port={port}",
        "--bind-address=127.0.0.1",
        f"--socket={folder / 's.sock'}",
        f"--pid-file={folder / 'pid'}",
    ]
    small = [
        "--innodb-buffer-pool-size=16M",
        "--performance-schema=OFF",
        "--innodb-flush-log-at-trx-commit=0",
    ]
    command = [
        program,
        "--no-defaults",
        f"--datadir={folder / 'data'}",
        f"--tmpdir={folder}",
        *listen,
        *small,
    ]
    if os.geteuid() == 0:
        command.append("--user=root")
    with (folder / "log").open("wb") as log:
        return subprocess.Popen(command, stdout=log, stderr=log)


def await_login(server: subprocess.Popen[bytes], port: int, log: Path) -> None:
    """Until it answers; then root has a password."""
    until = time.monotonic() + SECONDS
    while server.poll() is None and time.monotonic() < until:
        with suppress(pymysql.err.OperationalError):
            with (
                pymysql.connect(host="127.0.0.1", port=port, user="root") as connection,
                connection.cursor() as cursor,
            ):
                cursor.execute(f"ALTER USER root@localhost IDENTIFIED BY '{PASSWORD}'")
            return
        time.sleep(0.05)
    told = re.sub(r"\s*\n\s*", " | ", log.read_text("utf-8", "replace")[-1_000:])
    pytest.skip(f"the MySQL server that is installed does not start: {told}")


@pytest.fixture(scope="session")
def mysql_url() -> Iterator[str]:
    """Root's URL of an empty server, with its password; its own schema `mysql` is the database
    named.
    """
    if not (program := installed()):
        pytest.skip("neither mariadbd nor mysqld is installed")
    with tempfile.TemporaryDirectory(prefix="citewell-mysql-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        (folder / "data").mkdir()
        prepare(program, folder / "data")
        port = free_port()
        server = start(program, folder, port)
        try:
            await_login(server, port, folder / "log")
            yield f"mysql://root:{PASSWORD.replace(' ', '%20')}@127.0.0.1:{port}/mysql"
        finally:
            server.terminate()
            try:
                server.wait(120)
            except subprocess.TimeoutExpired:
                server.kill()
                server.wait()


def login(url: str) -> pymysql.Connection[pymysql.cursors.Cursor]:
    """A connection of `mysql_url` or `mysql_database`, that commits each statement."""
    address, _, database = url.rpartition("/")
    port = int(address.rpartition(":")[2])
    return pymysql.connect(
        host="127.0.0.1",
        port=port,
        user="root",
        password=PASSWORD,
        database=database,
        autocommit=True,
        charset="utf8mb4",
    )


@contextmanager
def empty_database(url: str) -> Iterator[str]:
    """Root's URL of a database that is there for so long."""
    name = f"t_{uuid.uuid4().hex[:12]}"
    with login(url) as connection, connection.cursor() as cursor:
        cursor.execute(f"CREATE DATABASE {name} CHARACTER SET utf8mb4")
        yield f"{url.rpartition('/')[0]}/{name}"
        cursor.execute(f"DROP DATABASE {name}")


@pytest.fixture
def mysql_database(mysql_url: str) -> Iterator[str]:
    """Root's URL of an empty database, dropped at the end."""
    with empty_database(mysql_url) as url:
        yield url
