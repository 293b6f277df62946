"""The page in a real Chromium, against a real `citewell serve` with an empty home.

The one rule: a test of the page fails on anything that a person would find in the browser's
console: errors of scripts, files of the page that are missing, breaches of its content security
policy. Tests here are plain `def`; what they may set with `@pytest.mark.parametrize`: `width`,
`theme` ("light", "dark"), `language` ("en", "zh"). What a module may set, as fixtures of
`scope="module"` with these names: `environment` (more of it for the server), `replies` (the script
of its chat model).
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest
from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]
from playwright.sync_api import Browser, ConsoleMessage, Error, Page, expect
from tests.page.windows import Chromium, Windows
from tests.servers.forked import Forked

from citewell.fetch.browser import find_chromium

PATIENCE = 120.0  # seconds for what takes one on an idle machine
# who asks: "**/api/me*" would match /api/memories as well
ME = re.compile(r"/api/me(\?|$)")
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
expect.set_options(timeout=PATIENCE * 1000)
EVERY_LOOK = pytest.mark.parametrize(
    ("width", "theme", "language"), [(1280, "light", "en"), (360, "dark", "zh")]
)
KEPT = ("PATH", "PYTHONPATH", "SYSTEMROOT", "LANG")
chromium = Chromium()


@dataclass
class Served:
    """A running server. `client` speaks to it as a program would; `stop` and `start` keep its
    address and its home.
    """

    home: Path
    environment: dict[str, str]
    url: str = ""
    client: httpx.Client = field(default_factory=httpx.Client)
    process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        port = self.url.rpartition(":")[2] or "0"
        command = [sys.executable, "-m", "citewell", "serve", "--port", port, "--json"]
        with (self.home / "server.log").open("ab") as log:
            self.process = Forked(command, env=self.environment, stdout=subprocess.PIPE, stderr=log)
        assert self.process.stdout is not None
        told = b""
        while not told.rstrip().endswith(b"}") and (line := self.process.stdout.readline()):
            told += line
        if not told:
            self.stop()
        assert told, f"the server did not start:\n{self.log()}"
        self.url = json.loads(told)["url"]
        self.client = httpx.Client(base_url=self.url, timeout=PATIENCE, trust_env=False)

    def stop(self) -> None:
        self.client.close()
        if self.process is None:
            return
        self.process.terminate()
        try:
            self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        assert self.process.stdout is not None
        self.process.stdout.close()
        self.process = None

    def log(self) -> str:
        return (self.home / "server.log").read_text("utf-8", "replace")

    def api(self, method: str, path: str, **how: Any) -> Any:
        """Ask the API, for what a test needs before it looks at the page."""
        reply = self.client.request(method, f"/api{path}", **how)
        assert reply.is_success, reply.text
        return reply.json() if reply.content else None

    def add(self, collection: str, name: str, text: str | bytes, user_id: str = "local") -> str:
        """Add a document and wait until it can be found by meaning too. Returns the document's
        id.
        """
        body = text.encode() if isinstance(text, str) else text
        job = self.api(
            "POST",
            f"/collections/{collection}/documents",
            params={"user_id": user_id},
            files={"file": (name, body)},
        )
        self.client.get(
            f"/api/jobs/{job['job_id']}/events", timeout=PATIENCE
        )  # ends when the job has
        documents = self.api(
            "GET", f"/collections/{collection}/documents", params={"user_id": user_id}
        )
        found = documents if isinstance(documents, list) else documents["documents"]
        return str(next(each["doc_id"] for each in found if each["uri"].endswith(name)))


@pytest.fixture(scope="module")
def environment() -> dict[str, str]:
    """More environment for the server; a module's own fixture of this name says which. What is
    empty is left out.
    """
    return {}


@pytest.fixture(scope="module")
def replies() -> list[Any]:
    """The chat model's script; without one it quotes the passages that it is sent."""
    return []


@pytest.fixture(scope="module")
def served(
    tmp_path_factory: pytest.TempPathFactory, environment: dict[str, str], replies: list[Any]
) -> Iterator[Served]:
    home = tmp_path_factory.mktemp("home")
    script = home / "replies.json"
    script.write_text(json.dumps(replies), "utf-8")
    kept = {name: os.environ[name] for name in KEPT if name in os.environ}
    models = {f"CITEWELL_{name}": "scripted" for name in ("LLM", "EMBEDDER", "READER")}
    models["CITEWELL_SCRIPTED_REPLIES"] = str(script)
    whole = {**kept, "CITEWELL_HOME": str(home), "HOME": str(home), **models, **environment}
    server = Served(home, {name: value for name, value in whole.items() if value}, chromium.url)
    try:
        server.start()
    except AssertionError:  # somebody else has taken the port since the last module
        server.url = ""
        server.start()
    chromium.url = server.url
    yield server
    server.stop()


@pytest.fixture(scope="module")
def browser() -> Browser:
    executable = find_chromium()
    if not executable:
        pytest.skip("no Chromium on this machine (apt install chromium): the page is not tested")
    return chromium.launch(executable)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Function) -> None:
    """A test that is tried again begins with a new server and an empty home, as its module did."""
    if getattr(item, "execution_count", 1) > 1:
        for made in item._fixtureinfo.name2fixturedefs.get("served", ()):
            made.finish(item._request)  # type: ignore[arg-type]


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(nextitem: pytest.Item | None) -> None:
    if nextitem is None or nextitem.path.parent != Path(__file__).parent:
        chromium.close()


@pytest.fixture
def width() -> int:
    return 1280


@pytest.fixture
def theme() -> str:
    return "light"


@pytest.fixture
def language() -> str:
    return "en"


@pytest.fixture(scope="module")
def windows(browser: Browser, served: Served) -> Windows:
    return chromium.windows(browser, served.url)


@pytest.fixture
def page(windows: Windows, width: int, theme: Any, language: str) -> Iterator[Page]:
    """A fresh window; `page.goto("/#/ask")` needs no host. Wrong things in its console fail the
    test when it ends.
    """
    window = windows.open(width, theme, language)
    window.set_default_timeout(PATIENCE * 1000)
    wrong: list[str] = []

    def note_message(message: ConsoleMessage) -> None:
        if is_wrong(message):
            wrong.append(f"{message.text} ({place_of(message)})")

    def note_error(error: Error) -> None:
        wrong.append(error.stack or str(error))

    Page.on(window, "console", note_message)
    Page.on(window, "pageerror", note_error)
    yield window
    windows.leave(window)
    window.remove_listener("console", note_message)
    window.remove_listener("pageerror", note_error)
    assert wrong == []


def is_wrong(message: ConsoleMessage) -> bool:
    """An error, but those that Chromium tells of every refusal of the API, and of a server that a
    test has stopped; what the page does then is each test's to say.
    """
    refused = message.text.startswith("Failed to load resource") and (
        "/api/" in place_of(message) or "ERR_CONNECTION_REFUSED" in message.text
    )
    return message.type == "error" and not refused


def place_of(message: ConsoleMessage) -> str:
    return str(message.location.get("url", ""))


@pytest.fixture
def goto(page: Page) -> Callable[..., Page]:
    """Open a part of the page and wait until it stands: `goto("/library")`."""

    def opened(path: str = "/ask") -> Page:
        page.goto(f"/#{path}")
        part = path.strip("/").split("/")[0].split("?")[0]
        page.locator(f'html[data-view="{part}"]').wait_for(state="attached")
        return page

    return opened


def until(page: Page, script: str, given: Any = None) -> None:
    """Wait until a function of JavaScript says yes. Playwright's own `wait_for_function` has the
    page evaluate text, which the page's content security policy forbids from the second look on.
    """
    ends = time.monotonic() + PATIENCE
    while not page.evaluate(script, given):
        assert time.monotonic() < ends, f"not in time: {script}"
        page.wait_for_timeout(50)


@pytest.fixture
def axe() -> Callable[..., None]:
    """Fails on what axe finds against WCAG 2.2 AA and its own good practice."""

    def looked(page: Page, context: str | None = None) -> None:
        options = {"resultTypes": ["violations"], "runOnly": {"type": "tag", "values": RULES}}
        found = Axe().run(page, context=context, options=options).response["violations"]
        told = [
            f"{each['id']}: {each['help']}: {[node['html'][:200] for node in each['nodes']]}"
            for each in found
        ]
        assert told == []

    return looked


@pytest.fixture
def picture(page: Page, width: int, theme: str, language: str) -> Callable[..., None]:
    """A picture for people to look at, where `CITEWELL_PICTURES` names a folder:
    `picture("settings")`.
    """

    def taken(name: str, *, full: bool = False) -> None:
        if folder := os.environ.get("CITEWELL_PICTURES"):
            page.screenshot(
                path=Path(folder) / f"{name}-{language}-{theme}-{width}.png", full_page=full
            )

    return taken
