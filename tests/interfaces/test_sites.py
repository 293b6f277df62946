"""Sites on the command line and over HTTP: list, pages, refresh, export, delete; web pages
added.
"""

from __future__ import annotations

import io
import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import pytest
from tests.interfaces.jobs import wait_for_job
from tests.servers.forked import Forked

from citewell.config import Settings

if TYPE_CHECKING:
    from tests.conftest import SiteServer
    from tests.interfaces.conftest import Result

    Cli = Callable[..., Result]

TOWER = "<p>The lighthouse was built in 1857. Its lamp is electric.</p>"


@pytest.fixture
def settings(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Settings:
    monkeypatch.setenv("CITEWELL_ALLOW_PRIVATE_HOSTS", "127.0.0.1")
    return settings.model_copy(update={"allow_private_hosts": ("127.0.0.1",)})


def test_cli_from_adding_to_deleting(
    cli: Cli, site_server: SiteServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A page is added, listed with its site, refreshed, exported, and deleted when that is
    wanted.
    """
    site_server.page("/a", TOWER, title="[bold]灯塔[/bold]\x1b[31m")
    site_server.page("/b", TOWER)
    url = site_server.url
    assert "no sites yet" in cli("sites", "list").out
    added = cli("add", f"{url}/a", f"{url}/b", "-c", "docs")
    assert added.code == 0, added.err
    assert "2 added" in added.out
    listed = cli("sites", "list")
    assert f"docs 2 pages, 0.0 MB, 2 passages, checked {time.strftime('%Y-%m-%d')}" in listed.out
    pages = cli("sites", "pages", "docs").out
    assert f"{url}/a [bold]灯塔[/bold]" in pages
    assert "\x1b" not in pages
    del site_server.pages["/b"]
    site_server.page("/a", "<p>It was built in 1858.</p>")
    refreshed = cli("sites", "refresh", "docs")
    assert refreshed.code == 0, refreshed.err
    assert f"removed   {url}/b\n1 changed, 1 removed" in refreshed.out
    file = tmp_path / "out.jsonl"
    assert cli("sites", "export", "docs", str(file)).out == f"1 page written to {file}\n"
    [line] = file.read_text("utf-8").splitlines()
    assert json.loads(line)["url"] == f"{url}/a"
    assert cli("sites", "export", "docs", "-").out == line + "\n"
    monkeypatch.setattr("sys.stdin", io.StringIO("y\n"))
    assert "--yes deletes without asking" in cli("sites", "delete", "docs").err
    assert cli("sites", "delete", "docs", "--yes").out == "deleted docs (1 page)\n"
    assert cli("sites", "pages", "docs").code == 1


def test_cli_json(cli: Cli, site_server: SiteServer, tmp_path: Path) -> None:
    """One object each, with the names of the API."""
    site_server.page("/a", TOWER)
    report = json.loads(cli("add", f"{site_server.url}/a", f"{site_server.url}/none", "--json").out)
    assert [file["status"] for file in report["files"]] == ["added", "failed"]
    [site] = json.loads(cli("sites", "list", "--json").out)["sites"]
    assert (site["collection"], site["pages"], site["embedded"]) == ("default", 1, 1)
    shown = json.loads(cli("sites", "pages", "default", "--json").out)
    assert shown["site"] == site
    assert [page["url"] for page in shown["pages"] if page["doc_id"]] == [f"{site_server.url}/a"]
    site_server.page("/a", status=500)
    refreshed = cli("sites", "refresh", "default", "--json")
    assert refreshed.code == 1
    assert [each["url"] for each in json.loads(refreshed.out)["failed"]] == [f"{site_server.url}/a"]
    exported = json.loads(
        cli("sites", "export", "default", str(tmp_path / "a.jsonl"), "--json").out
    )
    assert exported == {"collection": "default", "file": str(tmp_path / "a.jsonl"), "pages": 1}
    assert cli("sites", "export", "default", "-", "--json").code == 2
    assert json.loads(cli("sites", "delete", "default", "--yes", "--json").out) == {
        "collection": "default",
        "pages": 1,
        "kept": 0,
    }
    assert (
        json.loads(cli("sites", "refresh", "default", "--json").out)["error"]["code"] == "not_found"
    )


def test_cli_export_that_cannot_be_written(
    cli: Cli, site_server: SiteServer, tmp_path: Path
) -> None:
    """It says so, and leaves nothing."""
    site_server.page("/a", TOWER)
    cli("add", f"{site_server.url}/a")
    assert "name it NAME.jsonl" in cli("sites", "export", "default", str(tmp_path / "a.txt")).err
    missing = cli("sites", "export", "default", str(tmp_path / "none" / "a.jsonl"))
    assert missing.code == 1
    assert "cannot be written: No such file or directory" in missing.err
    assert cli("sites", "export", "none", str(tmp_path / "a.jsonl")).code == 1
    assert [path.name for path in tmp_path.iterdir() if "jsonl" in path.name] == []


def test_cli_refresh_is_stopped_by_ctrl_c(
    cli: Cli, site_server: SiteServer, environ: dict[str, str], settings: Settings
) -> None:
    """Exit 130, and what was done by then is kept."""
    site_server.page("/a", TOWER)
    site_server.page("/b", TOWER + "b")
    assert cli("add", f"{site_server.url}/a", f"{site_server.url}/b").code == 0
    site_server.page("/a", "<p>It was built in 1858.</p>")
    site_server.slow = {"/b": 20.0}
    site_server.asked.clear()
    environ = {**environ, "CITEWELL_ALLOW_PRIVATE_HOSTS": "127.0.0.1"}

    def version() -> int:
        documents = json.loads(cli("list", "--json").out)["documents"]
        return int(next(info["version"] for info in documents if info["uri"].endswith("/a")))

    command = [sys.executable, "-m", "citewell", "sites", "refresh", "default"]
    with Forked(command, env=environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        until = time.monotonic() + 120
        while (version() == 1 or "/b" not in site_server.paths()) and time.monotonic() < until:
            time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=120)
    assert process.returncode == 130
    assert b"what was done so far is kept whole" in said
    assert version() == 2


async def job_of(client: httpx.AsyncClient, reply: httpx.Response) -> dict[str, Any]:
    assert reply.status_code == 202, reply.text
    return await wait_for_job(client, reply.json()["job_id"])


async def test_http_from_adding_to_deleting(
    client: httpx.AsyncClient, site_server: SiteServer
) -> None:
    """A page by its address is a job; then its site is listed, refreshed by a job, exported and
    deleted.
    """
    site_server.page("/a", TOWER, title="灯塔")
    url = f"{site_server.url}/a"
    job = await job_of(
        client, await client.post("/api/collections/手册/documents", json={"url": url})
    )
    assert [(file["path"], file["status"]) for file in job["result"]["files"]] == [(url, "added")]
    [site] = (await client.get("/api/sites")).json()["sites"]
    assert (site["collection"], site["pages"], site["embedded"]) == ("手册", 1, 1)
    shown = (await client.get("/api/sites/手册")).json()
    assert shown["site"] == site
    assert [(page["url"], page["title"]) for page in shown["pages"]] == [(url, "灯塔")]
    site_server.page("/a", "<p>It was built in 1858.</p>")
    job = await job_of(client, await client.post("/api/sites/手册/refresh"))
    assert (job["kind"], job["result"]["changed"]) == ("refresh", 1)
    exported = await client.get("/api/sites/手册/export")
    assert exported.headers["content-type"] == "application/x-ndjson"
    assert "attachment" in exported.headers["content-disposition"]
    assert "1858" in json.loads(exported.text)["text"]
    assert (await client.delete("/api/sites/手册")).status_code == 204
    for reply in (
        await client.get("/api/sites/手册"),
        await client.get("/api/sites/手册/export"),
        await client.post("/api/sites/手册/refresh"),
        await client.delete("/api/sites/手册"),
    ):
        assert (reply.status_code, reply.json()["error"]["code"]) == (404, "not_found")
