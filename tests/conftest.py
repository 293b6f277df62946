"""Fixtures that every part shares. The one rule: a test touches its own temporary home and the
loopback only.
"""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from citewell.config import Settings

# A run in the background (`make test &`, some CI) starts with Ctrl-C ignored, and so would every
# program that tests start and interrupt. A handler here gives them the default back.
signal.signal(signal.SIGINT, signal.default_int_handler)

REPOSITORY = Path(__file__).resolve().parent.parent
pytest_plugins = [
    "tests.servers.postgres",
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


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests of those folders."""
    for item in items:
        folder = item.path.relative_to(REPOSITORY / "tests").parts[0]
        if folder == "page":
            item.add_marker(pytest.mark.browser)
        if folder in SLOW or "engines" in item.path.parts or item.path.stem == "test_long_texts":
            item.add_marker(pytest.mark.slow)


@pytest.fixture
def shared_data() -> Path:
    """Evaluation data of others, beside the repository where it is present."""
    folder = REPOSITORY.parent / "shared" / "data"
    if not folder.is_dir():
        pytest.skip("the evaluation data is not beside this checkout")
    return folder


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """Settings with a home of the test's own and scripted models."""
    return Settings(
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
