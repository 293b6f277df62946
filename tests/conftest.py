"""Fixtures that every part shares. The one rule: a test touches its own temporary home and the
loopback only.
"""

from __future__ import annotations

import functools
import os
import signal
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx
import pytest
from httpx._transports import default as http_transport
from pydantic import SecretStr

from citewell.config import Settings

# A run in the background (`make test &`, some CI) starts with Ctrl-C ignored, and so would every
# program that tests start and interrupt. A handler here gives them the default back.
signal.signal(signal.SIGINT, signal.default_int_handler)
# A new client reads all authorities, which takes 20 ms, and waiting tests ask with a new one each
# time.
vars(http_transport)["create_ssl_context"] = functools.cache(httpx.create_ssl_context)


def hold_temporary_files_in_memory() -> None:
    """Homes of tests stand in memory where it has room. On a disk, waiting until each commit has
    reached it takes three quarters of the time of tests of stores.
    """
    memory = "/dev/shm"  # noqa: S108 every system with it has it there, for all users as /tmp is
    if "TMPDIR" in os.environ or not Path(memory).is_dir():
        return
    state = os.statvfs(memory)
    if state.f_bavail * state.f_frsize >= 4 * 2**30 and not state.f_flag & os.ST_NOEXEC:
        os.environ["TMPDIR"] = tempfile.tempdir = memory


hold_temporary_files_in_memory()
REPOSITORY = Path(__file__).resolve().parent.parent
pytest_plugins = [
    "tests.servers.home_file",
    "tests.servers.objects",
    "tests.servers.postgres",
    "tests.servers.pgbouncer",
    "tests.servers.replica",
    "tests.servers.mysql",
]  # servers start only for tests that name their fixtures
# what `make test-fast` leaves out: browsers, servers, models, processes of databases, evaluations
SLOW = (
    "page",
    "interfaces",
    "service",
    "website",
    "evals",
    "servers",
    "training",
    "ingest",
    "models",
)
# CI tries a test once more before it fails, on a machine that it shares; the report names it
TRY_TWICE = "TRY_TESTS_TWICE" in os.environ


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--postgres", action="store_true", help="homes of tests are in PostgreSQL, not in SQLite"
    )
    parser.addoption("--pgbouncer", action="store_true", help="the same, with PgBouncer before it")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark the tests of those folders. They come first, so that short files are left when one of
    two processes has nothing more to do.
    """
    postgres = config.getoption("--postgres") or config.getoption("--pgbouncer")
    for item in items:
        if postgres and item.get_closest_marker("sqlite"):
            item.add_marker(pytest.mark.skip(reason="of a home in SQLite"))
        folder = item.path.relative_to(REPOSITORY / "tests").parts[0]
        if folder == "page":
            item.add_marker(pytest.mark.browser)
        if folder in SLOW or "engines" in item.path.parts or item.path.stem == "test_long_texts":
            item.add_marker(pytest.mark.slow)
        if TRY_TWICE:
            item.add_marker(pytest.mark.flaky(reruns=1))
    items.sort(key=lambda item: item.get_closest_marker("slow") is None)


@pytest.fixture
def shared_data() -> Path:
    """Evaluation data of others, beside the repository where it is present."""
    folder = REPOSITORY.parent / "shared" / "data"
    if not folder.is_dir():
        pytest.skip("the evaluation data is not beside this checkout")
    return folder


@pytest.fixture
def database_url(request: pytest.FixtureRequest) -> str:
    """Where the home of the test is: a database of its own, or, "", a file of SQLite."""
    if request.config.getoption("--pgbouncer"):
        return str(request.getfixturevalue("pooled_url"))
    if not request.config.getoption("--postgres"):
        return ""
    return str(request.getfixturevalue("home_url"))


@pytest.fixture
def settings(tmp_path: Path, database_url: str, copied_homes: None) -> Settings:
    """Settings with a home of the test's own and scripted models."""
    return Settings(
        database_url=SecretStr(database_url),
        home=tmp_path / "home",
        cache=tmp_path / "cache",
        llm="scripted",
        embedder="scripted",
        reader="scripted",
    )


@dataclass
class Reply:
    status: int = 200
    body: bytes = b""
    kind: str = "text/html"
    etag: str = ""
    headers: dict[str, str] = field(default_factory=dict)


class SiteServer:
    """A web site on the loopback, in a thread of its own: pages by path, 404 for the rest. A page
    with an ETag answers 304 to who knows it. `slow`: seconds by path. `asked`: paths and headers in
    order, without those for robots.txt.
    """

    def __init__(self) -> None:
        self.pages: dict[str, Reply] = {}
        self.slow: dict[str, float] = {}
        self.asked: list[tuple[str, dict[str, str]]] = []
        self.most = self._now = 0  # requests at the same time
        self._counting = threading.Lock()
        site = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                site.answer(self)

            def log_message(self, *_: object) -> None:
                """Nothing on the terminal."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_port}"

    def page(
        self, path: str, body: str | bytes = "", *, title: str = "", etag: str = "", **more: Any
    ) -> None:
        """HTML around a text, or bytes as they are."""
        if isinstance(body, str):
            head = f"<html><head><title>{title or path}</title></head>"
            body = f"{head}<body><main><h1>{title or path}</h1>{body}</main></body></html>".encode()
        self.pages[path] = Reply(body=body, etag=etag, **more)

    def answer(self, request: BaseHTTPRequestHandler) -> None:
        path = request.path
        if path != "/robots.txt":
            self.asked.append(
                (path, {name.lower(): value for name, value in request.headers.items()})
            )
        with self._counting:
            self._now += 1
            self.most = max(self.most, self._now)
        time.sleep(self.slow.get(path, 0.0))
        with self._counting:
            self._now -= 1
        reply = self.pages.get(path, Reply(404))
        same = reply.etag and request.headers.get("if-none-match") == reply.etag
        with suppress(OSError):  # whoever asked has gone
            request.send_response(304 if same else reply.status)
            body = b"" if same else reply.body
            etag = {"ETag": reply.etag} if reply.etag else {}
            sent = {
                "Content-Type": reply.kind,
                "Content-Length": str(len(body)),
                **etag,
                **reply.headers,
            }
            for name, value in sent.items():
                request.send_header(name, value)
            request.end_headers()
            request.wfile.write(body)

    def paths(self) -> list[str]:
        return [path for path, _ in self.asked]


@pytest.fixture
def site_server() -> Iterator[SiteServer]:
    site = SiteServer()
    thread = threading.Thread(
        target=lambda: site.server.serve_forever(poll_interval=0.02), daemon=True
    )
    thread.start()
    yield site
    site.server.shutdown()
    site.server.server_close()
    thread.join()
