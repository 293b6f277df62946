"""Web search from the question to documents that can be searched, with a provider and its pages on
the loopback.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Sequence
from typing import Any

import pytest

from citewell.config import Settings, WebSettings
from citewell.errors import ConfigError, PermanentError, TransientError
from citewell.models.scripted import ScriptedLLM
from citewell.runtime.app import App
from citewell.service.ask.ask import ask
from citewell.service.ask.run import AskRequest
from citewell.service.ask.search import SearchRequest, search
from citewell.service.sites.search_web import Web, open_web

STORY = (
    "<html><head><title>{0}</title></head><body><article><h1>{0}</h1><p>{1}</p></article></body><"
    "/html>"
)
TOWER = STORY.format("Lighthouse", "The lighthouse was built in 1857. Its lamp is electric.")


class Net:
    """A SearXNG at `/search` that names `found` (paths of this server, or whole URLs), and the
    pages themselves.
    """

    def __init__(self) -> None:
        self.url = ""
        self.found: Sequence[str] = []
        self.status = 200
        self.pages: dict[str, tuple[int, str, bytes, str]] = {}
        self.slow: dict[str, float] = {}
        self.requests: list[str] = []

    def page(
        self,
        path: str,
        body: str | bytes = TOWER,
        kind: str = "text/html",
        status: int = 200,
        more: str = "",
    ) -> None:
        self.pages[path] = (status, kind, body.encode() if isinstance(body, str) else body, more)

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            self.requests.append(head)
            path = head.split(" ")[1]
            await asyncio.sleep(self.slow.get(path.partition("?")[0], 0))
            status, kind, body, more = self.pages.get(path, (404, "text/plain", b"", ""))
            if path.startswith("/search"):
                rows = [
                    {
                        "url": each if "://" in each else self.url + each,
                        "title": each,
                        "content": "s",
                    }
                    for each in self.found
                ]
                status, kind, body = (
                    self.status,
                    "application/json",
                    json.dumps({"results": rows}).encode(),
                )
            if 'etag: "v1"' in more and 'if-none-match: "v1"' in head.lower():
                status, body = 304, b""
            writer.write(
                f"HTTP/1.1 {status} X\r\ncontent-type: {kind}\r\nconnection: "
                f"close\r\n{more}\r\n".encode()
                + body
            )
            await writer.drain()
        finally:
            writer.close()

    def paths(self) -> list[str]:
        return [
            path
            for head in self.requests
            if not (path := head.split(" ")[1]).startswith(("/search", "/robots.txt"))
        ]


@pytest.fixture
async def net() -> AsyncIterator[Net]:
    made = Net()
    listener = await asyncio.start_server(made.handle, "127.0.0.1", 0)
    made.url = f"http://127.0.0.1:{listener.sockets[0].getsockname()[1]}"
    async with listener:
        yield made


def with_web(settings: Settings, net: Net, **more: Any) -> Settings:
    values = {"provider": "searxng", "url": net.url, "seconds": 30.0, **more}
    return settings.model_copy(
        update={"web": WebSettings(**values), "allow_private_hosts": ("127.0.0.1",)}
    )


@pytest.fixture
async def app(settings: Settings, net: Net) -> AsyncIterator[App]:
    async with App(with_web(settings, net)) as opened:
        yield opened


@pytest.fixture
async def web(app: App) -> AsyncIterator[Web]:
    made = Web(app)
    yield made
    await made.close()


async def test_pages_become_documents(app: App, web: Web, net: Net) -> None:
    """Pages are kept under their final addresses, embedded, and can be searched at once, in the
    provider's order.
    """
    net.found = ["/a?utm_source=x", "/moved", "/灯塔"]
    net.page("/a")
    net.page("/moved", "", status=301, more="location: /notes.txt\r\n")
    net.page("/notes.txt", "The keeper is called Ada Brown.", "text/plain")
    net.page(
        "/%E7%81%AF%E5%A1%94",
        STORY.format("灯塔", "灯塔建于一八五七年。塔身为红色，高三十米。").encode("gbk"),
        "text/html; charset=gb2312",
    )
    found = await web.search("When was the lighthouse built?", "en")
    assert found.provider == "searxng"
    assert found.warnings == []
    assert len(found.results) == 3
    documents = [await app.catalog.document(doc_id) for doc_id in found.pages]
    assert [each.uri for each in documents] == [
        net.url + path for path in ("/a", "/notes.txt", "/%E7%81%AF%E5%A1%94")
    ]
    assert [each.title for each in documents] == ["Lighthouse", "notes", "灯塔"]
    assert [each.media_type for each in documents] == ["text/html", "text/plain", "text/html"]
    assert all(each.embedded == each.chunks > 0 and each.collection == "web" for each in documents)
    assert all(abs(at - time.time()) < 60 for at in found.pages.values())
    assert "塔身为红色" in (await app.catalog.content(documents[2].doc_id)).text
    hits = (await search(app, SearchRequest(query="Who is the keeper?", collection="web"))).hits
    assert hits[0].doc_id == documents[1].doc_id


async def test_page_that_is_kept_already(app: App, web: Web, net: Net) -> None:
    """Unchanged, it is not read again, by its ETag or by its bytes; changed, it is replaced;
    removed, it is fetched anew.
    """
    net.found = ["/a", "/b"]
    net.page("/a", more='etag: "v1"\r\n')
    net.page("/b")
    first = await web.search("q", "en")
    second = await web.search("q", "en")
    assert list(first.pages) == list(second.pages)
    assert all(second.pages[doc_id] > first.pages[doc_id] for doc_id in first.pages)
    assert "if-none-match" in net.requests[-1].lower() + net.requests[-2].lower()
    versions = [(await app.catalog.document(doc_id)).version for doc_id in second.pages]
    assert versions == [1, 1]
    net.page("/b", STORY.format("Lighthouse", "It was built in 1858."))
    third = await web.search("q", "en")
    assert [(await app.catalog.document(doc_id)).version for doc_id in third.pages] == [1, 2]
    await app.catalog.delete(*third.pages)
    assert len((await web.search("q", "en")).pages) == 2


async def test_pages_that_fail_are_warnings(web: Web, net: Net, settings: Settings) -> None:
    """Each is named with its reason, and the rest goes on."""
    port = net.url.rpartition(":")[2]
    net.found = [
        "/a",
        "/missing",
        "/film.mp4",
        "/empty",
        "/broken.pdf",
        "/private",
        "/inside",
        f"http://127.0.0.2:{port}/a",
        "/b",
    ]
    net.page("/robots.txt", "User-agent: *\nDisallow: /private\n", "text/plain")
    net.page("/a")
    net.page("/b", STORY.format("Harbour", "The harbour has two piers."))
    net.page("/film.mp4", b"\0\0", "video/mp4")
    net.page("/empty", "<html><body><script>draw()</script></body></html>")
    net.page("/broken.pdf", b"%PDF-1.7\nnothing", "application/pdf")
    net.page(
        "/inside", "", status=302, more="location: http://169.254.169.254/latest/meta-data/\r\n"
    )
    async with App(with_web(settings, net, results=10)) as app:
        found = await open_web(app).search("q", "en")
        uris = [(await app.catalog.document(doc_id)).uri for doc_id in found.pages]
    assert uris == [f"{net.url}/a", f"{net.url}/b"]
    reasons = {warning.removeprefix(net.url).split(": ")[0]: warning for warning in found.warnings}
    assert len(found.warnings) == 7
    assert "status 404" in reasons["/missing"]
    assert "video/mp4" in reasons["/film.mp4"]
    assert "no text" in reasons["/empty"]
    assert "/broken.pdf" in reasons
    assert "robots.txt" in reasons["/private"]
    assert "169.254.169.254 is refused" in reasons["/inside"]
    assert "allow_private_hosts" in next(
        warning for warning in found.warnings if "127.0.0.2" in warning
    )
    assert "/private" not in net.paths()


async def test_what_is_not_ready_in_time_is_left_out(net: Net, settings: Settings) -> None:
    """A slow page is named, the others are there, and all of it ends in time."""
    net.found = ["/slow", "/a"]
    net.page("/a")
    net.page("/slow")
    net.slow["/slow"] = 300
    async with App(with_web(settings, net, seconds=6.0)) as app:
        started = time.monotonic()
        found = await open_web(app).search("q", "en")
        assert time.monotonic() - started < 60
        assert [(await app.catalog.document(doc_id)).uri for doc_id in found.pages] == [
            f"{net.url}/a"
        ]
    assert found.warnings[0].startswith(f"{net.url}/slow: not there within")


async def test_pages_that_cannot_be_embedded(
    app: App, web: Web, net: Net, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Their words can be searched all the same, and that is said."""

    async def passages(texts: Sequence[str]) -> Any:
        raise PermanentError("the embedder is broken")

    monkeypatch.setattr(app.embedder, "passages", passages)
    net.found = ["/a"]
    net.page("/a")
    found = await web.search("q", "en")
    assert len(found.pages) == 1
    assert any("the embedder is broken" in warning for warning in found.warnings)
    assert any("could not be embedded in time" in warning for warning in found.warnings)
    assert (await app.catalog.documents("web"))[0].embedded == 0


async def test_two_results_that_lead_to_one_page(app: App, web: Web, net: Net) -> None:
    """It is kept once."""
    net.found = ["/a", "/moved"]
    net.page("/a")
    net.page("/moved", "", status=301, more="location: /a/\r\n")
    net.page("/a/")
    found = await web.search("q", "en")
    assert (len(found.pages), found.warnings) == (1, [])
    assert len(await app.catalog.documents("web")) == 1


async def test_what_the_provider_raises(net: Net, settings: Settings) -> None:
    """Nobody named, refused, busy, silent: these are the caller's to tell."""
    async with App(settings) as app:
        with pytest.raises(ConfigError, match="web search is off"):
            await open_web(app).search("q", "en")
    async with App(with_web(settings, net)) as app:
        for status, kind in ((401, PermanentError), (429, TransientError)):
            net.status = status
            with pytest.raises(kind, match=f"searxng: .*status {status}"):
                await open_web(app).search("q", "en")
    net.status, net.slow["/search"] = 200, 2
    async with App(with_web(settings, net, seconds=0.4)) as app:
        with pytest.raises(TransientError, match=r"searxng: no reply within 0\.\d seconds"):
            await open_web(app).search("q", "en")


async def test_nothing_found(app: App, web: Web, net: Net) -> None:
    """No page, no error, no collection."""
    found = await web.search("q", "en")
    assert (found.pages, found.warnings, found.results) == ({}, [], [])
    assert await app.collections.list_all() == []


async def test_an_answer_from_the_web(app: App, net: Net) -> None:
    """The dual loop: nothing in the documents, so the web; cited with the page's address and the
    time it was fetched.
    """
    assert isinstance(app.llm, ScriptedLLM)
    net.found = ["/a"]
    net.page("/a")
    app.llm.enqueue("The lighthouse was built in 1857.")
    answer = await ask(
        app, AskRequest(question="When was the lighthouse built?", agent="dual_loop")
    )
    assert (answer.status, answer.route) == ("answered", "web_search")
    (citation,) = answer.citations
    assert (citation.origin, citation.uri, citation.quote) == (
        "web",
        net.url + "/a",
        "The lighthouse was built in 1857.",
    )
    assert citation.fetched_at is not None
    assert abs(citation.fetched_at - time.time()) < 60
    document = await app.catalog.content(citation.doc_id)
    assert document.text[citation.start : citation.end] == citation.quote


async def test_the_request_may_leave_the_web_out(app: App, net: Net) -> None:
    """Nothing is asked of the provider, and the answer says that it was not."""
    net.found = ["/a"]
    net.page("/a")
    request = AskRequest(
        question="When was the lighthouse built?", agent="dual_loop", options={"web": False}
    )
    answer = await ask(app, request)
    assert (answer.status, net.requests) == ("refused", [])
    assert "switched off" in answer.answer


@pytest.mark.parametrize("status", [500, 401, 429])
async def test_a_provider_that_fails_leaves_an_honest_answer(
    app: App, net: Net, status: int
) -> None:
    """A warning that names it; the answer is a refusal, not an error."""
    net.status = status
    answer = await ask(
        app, AskRequest(question="When was the lighthouse built?", agent="dual_loop")
    )
    assert answer.status == "refused"
    assert any("the web could not be searched" in warning for warning in answer.warnings)


async def test_the_caller_may_have_less_time(web: Web, net: Net) -> None:
    """Fewer seconds than the settings give: pages that are not there by then are left out, a silent
    provider is an error.
    """
    net.found = ["/slow"]
    net.page("/slow")
    net.slow["/slow"] = 300
    started = time.monotonic()
    found = await web.search("q", "en", seconds=0.8)
    assert (found.pages, len(found.results)) == ({}, 1)
    assert found.warnings == [f"{net.url}/slow: not there within 0.8 seconds"]
    net.slow["/search"] = 300
    with pytest.raises(TransientError, match=r"searxng: no reply within 0\.3 seconds"):
        await web.search("q", "en", seconds=0.3)
    with pytest.raises(TransientError, match="no reply within 0 seconds"):
        await web.search("q", "en", seconds=-1.0)
    assert time.monotonic() - started < 60


async def test_the_caller_may_not_have_more_time(net: Net, settings: Settings) -> None:
    """The smaller of the two counts."""
    net.found = ["/slow"]
    net.page("/slow")
    net.slow["/slow"] = 30
    async with App(with_web(settings, net, seconds=0.8)) as app:
        web = Web(app)
        found = await web.search("q", "en", seconds=60.0)
        await web.close()
    assert found.warnings == [f"{net.url}/slow: not there within 0.8 seconds"]
