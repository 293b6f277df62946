"""A made-up shop on the loopback that tests break in every way, and a desk from which the `website`
agent is asked about it.
"""

from __future__ import annotations

import asyncio
import html
import time
import tomllib
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from citewell.config import Settings
from citewell.models import scripted
from citewell.models.base import Vector
from citewell.models.scripted import ScriptedLLM
from citewell.runtime.app import App
from citewell.service.ask.ask import stream_answer
from citewell.service.ask.run import AskRequest
from citewell.types import Answer, Event, Message, Step

SHOP = tomllib.loads(Path(__file__).with_name("shop.toml").read_text("utf-8"))
ASIDE = {"/robots.txt", "/sitemap.xml"}  # asked for, and no pages
UNKNOWN = "I don't know."


@dataclass(frozen=True, slots=True)
class Asked:
    """A request as it came, `at` by `time.monotonic`; `head` is all of it."""

    method: str
    path: str
    host: str
    headers: Mapping[str, str]
    at: float
    head: str


Send = Callable[[asyncio.StreamWriter], Awaitable[None]]


@dataclass(slots=True)
class Page:
    """A reply. `slow`: seconds before it is sent. A page with an `etag` or a `modified` answers 304
    to who knows it.
    """

    body: bytes = b""
    status: int = 200
    kind: str = "text/html; charset=utf-8"
    etag: str = ""
    modified: str = ""
    slow: float = 0.0
    headers: dict[str, str] = field(default_factory=dict)

    def bytes(self, headers: Mapping[str, str]) -> bytes:
        known = self.etag and headers.get("if-none-match") == self.etag
        known = known or (self.modified and headers.get("if-modified-since") == self.modified)
        status, body = (304, b"") if known else (self.status, self.body)
        named = {
            "content-type": self.kind,
            "content-length": str(len(body)),
            "etag": self.etag,
            "last-modified": self.modified,
        }
        lines = [f"{name}: {value}" for name, value in (named | self.headers).items() if value]
        return "\r\n".join([f"HTTP/1.1 {status} X", *lines, "", ""]).encode() + body


class Web:
    """A web server, one port on several loopback addresses. `pages` by path; `otherwise` makes
    those that are not there, by path with query (None: 404). `most`: requests under way at once, in
    all and by address; `left`: who went before the end.
    """

    def __init__(self) -> None:
        self.port = 0
        self.pages: dict[str, Page | Send] = {}
        self.otherwise: Callable[[str], Page | None] = lambda _: None
        self.asked: list[Asked] = []
        self.now: Counter[str] = Counter()
        self.most: Counter[str] = Counter()
        self.left = self.connections = 0
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def url(self) -> str:
        return self.at()

    def at(self, path: str = "", host: str = "127.0.0.1") -> str:
        return f"http://{host}:{self.port}{path}"

    def page(self, path: str, body: str | bytes = "", *, title: str = "", **more: Any) -> None:
        """HTML around a text, or bytes as they are."""
        if isinstance(body, str):
            title = title or path
            body = (
                f"<html><head><title>{title}</title></head><body><main><h1>{title}</h1>{body}</ma"
                "in></body></html>"
            )
        self.pages[path] = Page(body=body.encode() if isinstance(body, str) else body, **more)

    def made(self, body: str) -> Page:
        """For `otherwise`."""
        return Page(f"<html><head><title>Made</title></head><body>{body}</body></html>".encode())

    def stored(self, path: str) -> Page:
        """A page, to be changed."""
        page = self.pages[path]
        assert isinstance(page, Page)
        return page

    def leads(self, path: str, there: str, status: int = 302) -> None:
        self.pages[path] = Page(status=status, headers={"location": there})

    def paths(self, host: str = "") -> list[str]:
        """Pages asked for, in order; of one address or of all."""
        return [a.path for a in self.asked if a.path not in ASIDE and host in a.host]

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        self.connections += 1
        try:
            with suppress(ConnectionError, asyncio.IncompleteReadError):
                while await self._answer(
                    (await reader.readuntil(b"\r\n\r\n")).decode(), reader, writer
                ):
                    pass
        except asyncio.CancelledError:
            writer.transport.abort()
        finally:
            self.connections -= 1
            self._tasks.discard(task)
            writer.close()

    async def _answer(
        self, head: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> bool:
        """Whether the connection is kept."""
        first, *lines = head.split("\r\n")
        method, path, _ = first.split(" ")
        headers = {
            name.lower(): value
            for name, _, value in (line.partition(": ") for line in lines if line)
        }
        host = writer.get_extra_info("sockname")[0]
        self.asked.append(
            Asked(method, path, headers.get("host", ""), headers, time.monotonic(), head)
        )
        self._count(host, 1)
        try:
            found = (
                self.pages.get(path)
                or self.otherwise(path)
                or self.pages.get(path.rstrip("/"))
                or Page(status=404)
            )
            if not isinstance(found, Page):
                await found(writer)
                return False
            if found.slow and await self._gone(reader, found.slow):
                return False
            writer.write(found.bytes(headers))
            await writer.drain()
            return True
        finally:
            self._count(host, -1)

    async def _gone(self, reader: asyncio.StreamReader, seconds: float) -> bool:
        """Waits, unless whoever asked goes away."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await reader.read(1)
            self.left += 1
            return True
        return False

    def _count(self, host: str, step: int) -> None:
        for name in ("all", host):
            self.now[name] += step
            self.most[name] = max(self.most[name], self.now[name])

    @asynccontextmanager
    async def serving(self, *hosts: str) -> AsyncIterator[Web]:
        listeners = []
        for host in hosts:
            listeners.append(
                await asyncio.start_server(self.handle, host, self.port, limit=1 << 20)
            )
            self.port = listeners[0].sockets[0].getsockname()[1]
        try:
            yield self
        finally:
            for listener in listeners:
                listener.close()
            for task in [*self._tasks]:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)

    def fill(self) -> None:
        """All pages of the shop."""
        for path, page in SHOP["pages"].items():
            self.pages[path] = Page(
                shop_page(path, page["title"], page["body"], page.get("links", {}))
            )


def shop_page(
    path: str,
    title: str,
    body: Sequence[str],
    links: Mapping[str, str],
    before: str = "",
    after: str = "",
) -> bytes:
    """A page as the shop writes them: a menu, its text, its links, a footer. `before` and `after`
    are HTML around the text.
    """
    lang = "zh" if path.startswith("/zh") else "en"

    def listed(named: Mapping[str, str]) -> str:
        return "".join(f'<li><a href="{href}">{words}</a></li>' for href, words in named.items())

    text = "".join(f"<p>{html.escape(line)}</p>" for line in body)
    return (
        f'<html lang="{lang}"><head><title>{html.escape(title)}</title></head><body>'
        f"<header><nav><ul>{listed(SHOP['menus'][lang])}</ul></nav></header>"
        f"<main><h1>{html.escape(title)}</h1>{before}{text}<ul>{listed(links)}</ul>{after}</main>"
        f"<footer><ul>{listed(SHOP['footers'][lang])}</ul></footer></body></html>"
    ).encode()


@dataclass
class Desk:
    """Asks the agent about a site. `knows`: sentences that answer questions; a model that sees one
    quotes it.
    """

    settings: Settings
    web: Web
    app: App
    known: list[str] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)

    @property
    def llm(self) -> ScriptedLLM:
        assert isinstance(self.app.llm, ScriptedLLM)
        return self.app.llm

    def knows(self, *sentences: str) -> None:
        self.known = list(sentences)
        self.llm.reply_with(lambda messages: next(iter(self._seen(messages)), UNKNOWN))

    def _seen(self, messages: Sequence[Message]) -> list[str]:
        shown = "\n".join(message.content for message in messages)
        return [sentence for sentence in self.known if sentence in shown]

    def request(self, question: str, **more: Any) -> AskRequest:
        """`session_id`, `collection`, `user_id`, `keep`, `history` are of the request, the rest
        options.
        """
        said = {
            name: more.pop(name)
            for name in ("session_id", "collection", "user_id", "keep", "history")
            if name in more
        }
        if "start_urls" not in more and "session_id" not in said:
            more["start_urls"] = [self.web.url]
        return AskRequest(question=question, agent="website", options=more, **said)

    async def ask(self, question: str, **more: Any) -> Answer:
        """The answer; `events` has what came before it."""
        self.events = [
            event async for event in stream_answer(self.app, self.request(question, **more))
        ]
        answer = self.events[-1].data
        assert isinstance(answer, Answer)
        return answer

    @property
    def visited(self) -> list[dict[str, Any]]:
        """What was told of each page."""
        return [
            e.data for e in self.events if isinstance(e.data, dict) and e.data["kind"] == "page"
        ]

    @property
    def steps(self) -> list[Step]:
        return [e.data for e in self.events if isinstance(e.data, Step)]

    @property
    def rounds(self) -> list[int]:
        """How many pages each round of the run brought."""
        by_round = Counter(page["iteration"] for page in self.visited)
        return [by_round[n] for n in sorted(by_round)]


@pytest.fixture(autouse=True)
def _near(monkeypatch: pytest.MonkeyPatch) -> None:
    """The scripted embedder with cosines in the range of the built-in one, 0.77 where nothing is
    shared: what weighs links and searches was measured with those.
    """
    plain = scripted.hash_words

    def hashed(text: str) -> Vector:
        vector = plain(text) * np.float32(0.23**0.5)
        vector[0] += np.float32(0.77**0.5)
        return vector / np.float32(np.linalg.norm(vector))

    monkeypatch.setattr(scripted, "hash_words", hashed)


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return settings.model_copy(
        update={"allow_private_hosts": ("127.0.0.0/8",), "user_agent": "Citewell-test/1"}
    )


@pytest.fixture
async def web() -> AsyncIterator[Web]:
    """An empty server on four addresses."""
    async with Web().serving("127.0.0.1", "127.0.0.2", "127.0.0.3", "127.0.0.4") as serving:
        yield serving


@pytest.fixture
def shop(web: Web) -> Web:
    web.fill()
    return web


@pytest.fixture
async def desk(settings: Settings, web: Web) -> AsyncIterator[Desk]:
    async with App(settings) as app:
        made = Desk(settings, web, app)
        made.knows()
        yield made


@pytest.fixture
def make_page() -> Callable[..., bytes]:
    return shop_page


@pytest.fixture
def open_desk(settings: Settings, web: Web) -> Callable[..., Any]:
    """Another App on the same home, with other settings of the agent (`website`) or of all
    (`more`).
    """

    @asynccontextmanager
    async def opened(website: Mapping[str, Any] | None = None, **more: Any) -> AsyncIterator[Desk]:
        group = settings.website.model_copy(update=dict(website or {}))
        changed = settings.model_copy(update={"website": group, **more})
        async with App(changed) as app:
            made = Desk(changed, web, app)
            if app.llm is not None:
                made.knows()
            yield made

    return opened
