"""A real PgBouncer in transaction mode before the PostgreSQL of the tests, where one is installed:
`pooled_url` is `home_url` by way of it.

The one rule: it listens on a socket in its own temporary folder, never on a port, and is ended by
its process id.
"""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import make_url

PORT = 6432  # of the name of its socket
CONNECTIONS = 4  # to the server, fewer than one process of ours would open
SECONDS = 30.0  # to start
SEARCHED = os.pathsep.join((os.environ.get("PATH", ""), "/usr/sbin", "/usr/local/sbin"))
SETTINGS = """
[databases]
* = host={server} user=postgres
[pgbouncer]
unix_socket_dir = {folder}
listen_addr =
listen_port = {port}
auth_type = any
auth_file = {folder}/users
pool_mode = transaction
default_pool_size = {connections}
max_client_conn = 500
logfile = {folder}/log
"""


@pytest.fixture(scope="session")
def pgbouncer_folder(postgres_url: str) -> Iterator[str]:
    """Where its socket is."""
    program = shutil.which("pgbouncer", path=SEARCHED)
    if program is None:
        pytest.skip("pgbouncer is not installed")
    server = Path(str(make_url(postgres_url).query["host"]))
    owner = pwd.getpwuid(server.stat().st_uid)  # root starts PostgreSQL as another user
    with tempfile.TemporaryDirectory(
        prefix="citewell-pgbouncer-", ignore_cleanup_errors=True
    ) as name:
        folder = Path(name)
        os.chown(folder, owner.pw_uid, owner.pw_gid)
        folder.chmod(0o755)
        (folder / "users").write_text('"postgres" ""\n', "utf-8")
        settings = SETTINGS.format(server=server, folder=folder, port=PORT, connections=CONNECTIONS)
        (folder / "settings.ini").write_text(settings, "utf-8")
        who = ["-u", owner.pw_name] if os.geteuid() == 0 else []
        process = subprocess.Popen(
            [program, "-q", *who, str(folder / "settings.ini")], stderr=subprocess.DEVNULL
        )
        try:
            until = time.monotonic() + SECONDS
            while not (folder / f".s.PGSQL.{PORT}").exists():
                assert process.poll() is None, (folder / "log").read_text("utf-8")
                assert time.monotonic() < until
                time.sleep(0.05)
            yield name
        finally:
            process.kill()
            process.wait()


@pytest.fixture
def pooled_url(home_url: str, pgbouncer_folder: str) -> str:
    """The URL of a database with Citewell's tables and nothing in them, through PgBouncer."""
    return pool(home_url, pgbouncer_folder)


def pool(url: str, folder: str) -> str:
    query = {"host": folder, "port": str(PORT)}
    return make_url(url).update_query_dict(query).render_as_string(hide_password=False)
