"""Servers and workers that share a database and a bucket, and no folder."""

from __future__ import annotations

import secrets
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest
from pydantic import SecretStr
from tests.conftest import REPOSITORY
from tests.interfaces.serving import PATIENCE, Bench, Server, bench, until
from tests.servers.forked import Forked, run_forked
from tests.servers.objects import ObjectServer

from citewell.config import Settings

PDF = REPOSITORY / "samples" / "library" / "fleet-service-agreement.pdf"
CSV = b"Function,Service,Cost\nIT,Cloud,10\nIT,Network,20\nHR,Payroll,5\n"
LARGE = b"<h1>Harbour</h1><p>It is deep.</p><!--" + b"in several parts " * 600_000 + b"-->"
KEY = secrets.token_hex(32)
ALONE = ("--no-worker",)
# the command line, which waits for less
DRIVER = """
from citewell.interfaces.cli import main
from citewell.service.jobs import run_job, worker
from citewell.store.library import object_store
object_store._RETRY["max_retries"], run_job.PAUSE, worker.POLL = 1, 0.2, 0.2
main()
"""


class House:
    """Homes of their own on one database and one bucket."""

    def __init__(self, folder: Path, url: str, objects: ObjectServer) -> None:
        self._folder, self._url, self._objects = folder, url, objects

    def home(self, name: str, key: str = KEY) -> Bench:
        folder = self._folder / name
        (folder / "home").mkdir(parents=True)
        if key:
            (folder / "home" / "citewell.key").write_text(key, "ascii")
        settings = Settings(
            database_url=SecretStr(self._url),
            objects_url="s3://files/house",
            home=folder / "home",
            cache=folder / "cache",
        )
        made = bench(settings, folder)
        environ = made.environ | self._objects.environ
        return replace(made, environ=environ, program=("-c", DRIVER))


@pytest.fixture
def house(tmp_path: Path, home_url: str, object_server: ObjectServer) -> House:
    return House(tmp_path, home_url, object_server)


@contextmanager
def working(on: Bench) -> Iterator[subprocess.Popen[str]]:
    """A worker that has said that it takes jobs."""
    command = [sys.executable, *on.program, "worker", "--json"]
    process = Forked(command, env=on.environ, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        assert process.stdout.readline()
        yield process
    finally:
        process.kill()
        process.wait(PATIENCE)
        process.stdout.close()


def send(server: Server, path: str, name: str, data: bytes) -> httpx.Response:
    return httpx.post(
        server.url + path, files={"file": (name, data)}, trust_env=False, timeout=PATIENCE
    )


def upload(server: Server, name: str, data: bytes) -> str:
    reply = send(server, "/api/collections/docs/documents", name, data)
    assert reply.status_code == 202, reply.text
    return str(reply.json()["job_id"])


def job(server: Server, job_id: str) -> dict[str, Any]:
    return dict(server.get(f"/api/jobs/{job_id}").json())


def has_been_put_off(job: dict[str, Any]) -> bool:
    return job["state"] == "queued" and bool(job["error"])


def list_collections(server: Server) -> list[dict[str, Any]]:
    return list(server.get("/api/collections").json()["collections"])


def has_uploads(objects: ObjectServer) -> bool:
    return any("/uploads/" in key for key in objects.list_keys())


def done(server: Server, job_id: str) -> dict[str, Any]:
    until(lambda: job(server, job_id)["state"] in {"done", "failed"}, "the job has ended")
    return job(server, job_id)


def list_kept(on: Bench) -> list[str]:
    """What lies in a home besides what can be had again."""
    made_again = {"citewell.key", "endpoints.json"}
    return [
        path.name
        for path in on.settings.home.rglob("*")
        if path.is_file() and path.name not in made_again
    ]


def test_what_one_takes_another_does_and_a_third_shows(
    house: House, object_server: ObjectServer
) -> None:
    """And settings of the page reach the others."""
    first, second, third = (house.home(name) for name in ("first", "second", "third"))
    with first.serve([], options=ALONE) as a, second.serve([], options=ALONE) as b:
        large = upload(a, "large.html", LARGE)
        sent = upload(a, PDF.name, PDF.read_bytes())
        assert list_kept(first) == []
        assert sum("/uploads/" in key for key in object_server.list_keys()) == 2
        with working(third):
            assert done(b, sent)["state"] == "done", job(b, sent)
            assert job(b, sent)["result"]["files"][0]["status"] == "added"
            assert done(a, large)["state"] == "done"
            until(lambda: list_kept(third) == [], "the worker keeps nothing")
            until(lambda: not has_uploads(object_server), "what was sent is deleted")
        [doc] = [
            each
            for each in b.get("/api/collections/docs/documents").json()["documents"]
            if each["title"] and PDF.name in each["uri"]
        ]
        path = f"/api/documents/{doc['doc_id']}"
        assert b.get(f"{path}/file").content == PDF.read_bytes()
        assert b.get(f"{path}/pages/1.png").content.startswith(b"\x89PNG")
        assert list_kept(second) == []

        added = send(a, "/api/data/sources", "costs.csv", CSV)
        assert added.status_code in {200, 201}, added.text
        for copy in list(first.settings.home.rglob("*.duckdb")):
            copy.unlink()  # a cache may be lost
        for server in (b, a):
            asked = server.post(
                "/api/data/sources/costs/query", {"sql": "SELECT sum(Cost) FROM costs"}
            )
            assert asked.status_code == 200, asked.text
            assert "35" in asked.text
        assert httpx.delete(f"{b.url}/api/data/sources/costs", trust_env=False).status_code < 300
        assert not [key for key in object_server.list_keys() if "/sources/" in key]

        assert a.get("/api/settings").json()["memory"]["on"]
        memory = {"memory": {"on": False}}
        changed = httpx.patch(
            f"{a.url}/api/settings", json=memory, trust_env=False, timeout=PATIENCE
        )
        assert changed.json()["memory"]["on"] is False
        until(lambda: not b.get("/api/settings").json()["memory"]["on"], "it is in force there")
        assert b.get("/api/settings").json()["model"]["llm"] == "scripted"  # its environment's


def test_a_worker_that_is_killed_leaves_the_job_to_one_elsewhere(house: House) -> None:
    server, one, other = (house.home(name) for name in ("server", "one", "other"))
    with server.serve([], options=ALONE) as a:
        with working(one) as worker:
            jobs = [upload(a, f"note {n}.md", f"# Note {n}\n\nDeep.\n".encode()) for n in range(8)]
            until(lambda: any(job(a, each)["state"] != "queued" for each in jobs), "it has begun")
            worker.send_signal(signal.SIGKILL)
            worker.wait(PATIENCE)
        with working(other):
            assert {done(a, each)["state"] for each in jobs} == {"done"}
        assert a.get("/api/collections/docs").json()["documents"] == len(jobs)


def test_a_bucket_that_is_away(house: House, object_server: ObjectServer) -> None:
    """An upload is refused and nothing is there of it; one that was taken waits."""
    server, other = house.home("server"), house.home("other")
    with server.serve([], options=ALONE) as a:
        taken = upload(a, "a.md", b"# A\n\nThe lamp is red.\n")
        object_server.fault = lambda _: 503
        refused = send(a, "/api/collections/docs/documents", "b.md", b"# B\n")
        assert refused.status_code == 503, refused.text
        assert "s3://files/house" in refused.text
        assert [each["job_id"] for each in a.get("/api/jobs").json()["jobs"]] == [taken]
        object_server.fault = lambda environ: 503 if environ["REQUEST_METHOD"] == "PUT" else None
        with working(other):
            until(lambda: has_been_put_off(job(a, taken)), "waits")
            assert not any(each["documents"] for each in list_collections(a))
            object_server.fault = lambda _: None
            assert done(a, taken)["state"] == "done"
            until(lambda: not has_uploads(object_server), "what was sent is deleted")
        assert a.get("/api/collections/docs").json()["documents"] == 1


def test_a_home_with_another_key_is_refused(house: House) -> None:
    first, second, none = house.home("a"), house.home("b", "ab" * 32), house.home("c", "")
    with first.serve([], options=ALONE):
        for home in (second, none):
            command = [sys.executable, "-m", "citewell", "list"]
            ended = run_forked(command, home.environ, text=True)
            assert ended.returncode == 1
            assert "citewell.key" in ended.stderr
        assert not (none.settings.home / "citewell.key").exists()
