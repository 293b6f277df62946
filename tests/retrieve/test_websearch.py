"""The providers of web search, each against a server on the loopback that speaks its language."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any
from urllib.parse import parse_qs, quote, urlsplit

import pytest
from pydantic import SecretStr

from citewell.config import Settings, WebSettings
from citewell.errors import ConfigError, PermanentError, TransientError
from citewell.retrieve.providers.base import LARGEST, Provider, WebResult
from citewell.retrieve.websearch import PROVIDERS, build_provider

KEY = "made-up-key-4711"
NAMES = sorted(PROVIDERS)
URLS = [
    "https://Example.com/a?utm_source=x",
    "https://example.com/a/",
    "mailto:a@example.com",
    "ftp://example.com/",
    "javascript:alert(1)",
    "http://例え.jp/",
    None,
    "https://example.org/b",
]  # fmt: skip
FOUND = ["https://example.com/a", "http://xn--r8jz45g.jp/", "https://example.org/b"]


class Server:
    """Sends `reply` (bytes or JSON; None: nothing at all) to everything. `requests`: method, path,
    headers, body.
    """

    def __init__(self) -> None:
        self.url = ""
        self.reply: Any = {}
        self.status = 200
        self.requests: list[tuple[str, str, dict[str, str], str]] = []

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            first, *lines = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
            headers = {
                name.lower(): value
                for name, value in (line.split(": ", 1) for line in lines if ": " in line)
            }
            body = (await reader.readexactly(int(headers.get("content-length", 0)))).decode()
            self.requests.append((first.split(" ")[0], first.split(" ")[1], headers, body))
            if self.reply is None:
                await reader.read()  # until the client leaves
                return
            data = self.reply if isinstance(self.reply, bytes) else json.dumps(self.reply).encode()
            writer.write(
                f"HTTP/1.1 {self.status} X\r\nconnection: "
                f"close\r\ncontent-length: {len(data)}\r\n\r\n".encode()
                + data
            )
            await writer.drain()
        finally:
            writer.close()

    @property
    def sent(self) -> dict[str, str]:
        """The parameters of the last request, wherever they stood."""
        _, path, headers, body = self.requests[-1]
        if headers.get("content-type", "").startswith("application/json"):
            return {name: str(value) for name, value in json.loads(body).items()}
        return {name: values[0] for name, values in parse_qs(urlsplit(path).query or body).items()}


@pytest.fixture
async def server() -> AsyncIterator[Server]:
    made = Server()
    listener = await asyncio.start_server(made.handle, "127.0.0.1", 0)
    made.url = f"http://127.0.0.1:{listener.sockets[0].getsockname()[1]}"
    async with listener:
        yield made


def made(server: Server, name: str, **more: Any) -> Provider:
    values = {"provider": name, "url": server.url, "key": SecretStr(KEY), "seconds": 10.0, **more}
    return build_provider(Settings(web=WebSettings(**values), user_agent="Citewell/1"))


@pytest.fixture(params=NAMES)
async def provider(server: Server, request: pytest.FixtureRequest) -> AsyncIterator[Provider]:
    built = made(server, request.param)
    yield built
    await built.close()


def reply(name: str, rows: list[tuple[str | None, str, str]]) -> Any:
    """What this provider says when it has found `rows` (url, title, snippet)."""
    if name == "duckduckgo":
        return page_of(rows)
    if name == "wikipedia":
        return {
            "batchcomplete": True,
            "query": {
                "search": [{"ns": 0, "title": title, "snippet": text} for _, title, text in rows]
            },
        }
    body = "description" if name == "brave" else "content"
    found = [{"url": url, "title": title, body: text, "score": 0.5} for url, title, text in rows]
    return (
        {"type": "search", "web": {"type": "search", "results": found}}
        if name == "brave"
        else {"query": "q", "results": found}
    )


def page_of(rows: list[tuple[str | None, str, str]]) -> bytes:
    own = "".join(
        '<div class="result results_links results_links_deep web-result "><div '
        'class="links_main links_deep result__body">'
        '<h2 class="result__title"><a rel="nofollow" class="result__a" '
        f'href="{wrapped(url)}">{title}</a></h2>'
        f'<a class="result__snippet" href="{wrapped(url)}">{text}</a></div></div>'
        for url, title, text in rows
    )
    ad = (
        '<div class="result results_links result--ad "><h2><a class="result__a" '
        'href="https://shop.example/">'
        "Buy</a></h2></div>"
        '<div class="result"><a class="result__a" '
        f'href="{wrapped("https://duckduckgo.com/y.js?ad_domain=shop.com")}">Buy</a></div>'
    )
    return (
        '<html><body><div class="serp__results"><div id="links" '
        f'class="results">{ad}{own}</div></div></body></html>'
    ).encode()


def wrapped(url: str | None) -> str:
    return f"//duckduckgo.com/l/?uddg={quote(url, safe='')}&amp;rut=abc" if url else "/about"


# ---------------------------------------------------------------- what is asked and what is read


@pytest.mark.parametrize("name", [name for name in NAMES if name != "wikipedia"])
async def test_results(server: Server, name: str) -> None:
    """Canonical addresses of pages, each once, best first, `k` of them; titles and snippets without
    tags.
    """
    provider = made(server, name)
    server.reply = reply(
        name,
        [(url, "The <b>tower</b>", "Built &amp; lit\n in <strong>1857</strong>.") for url in URLS],
    )
    found = await provider.search("Which tower?", 8, "en")
    assert [result.url for result in found] == FOUND
    assert found[0] == WebResult("https://example.com/a", "The tower", "Built & lit in 1857.")
    assert await provider.search("Which tower?", 2, "en") == found[:2]
    await provider.close()


async def test_results_of_wikipedia(server: Server) -> None:
    """The pages of the wiki that was asked, by title."""
    provider = made(server, "wikipedia")
    server.reply = reply(
        "wikipedia",
        [
            (None, "Tour de Cordouan (phare)", 'a <span class="searchmatch">x</span>'),
            (None, "灯塔?", ""),
        ],
    )
    found = await provider.search("Which tower?", 5, "en")
    assert [result.url for result in found] == [
        f"{server.url}/wiki/Tour_de_Cordouan_(phare)", f"{server.url}/wiki/%E7%81%AF%E5%A1%94%3F",
    ]  # fmt: skip
    assert (found[0].title, found[0].snippet) == ("Tour de Cordouan (phare)", "a x")
    await provider.close()


@pytest.mark.parametrize(("name", "method", "path", "expected"), [
    ("searxng", "GET", "/search", {"format": "json", "language": "zh-CN", "q": "灯塔 & 1857"}),
    ("brave", "GET", "/res/v1/web/search", {"q": "灯塔 & 1857", "search_lang": "zh-hans"}),
    ("tavily", "POST", "/search", {"query": "灯塔 & 1857", "search_depth": "basic"}),
    ("duckduckgo", "POST", "/html/", {"q": "灯塔 & 1857", "kl": "cn-zh"}),
    ("wikipedia", "GET", "/w/api.php",
     {"action": "query", "list": "search", "srsearch": "灯塔 & 1857", "format": "json"}),
])  # fmt: skip
async def test_request(
    server: Server, name: str, method: str, path: str, expected: dict[str, str]
) -> None:
    """As each provider's documentation says; the base URL may have a path of its own and a slash at
    its end.
    """
    provider = made(server, name, url=f"{server.url}/sub/")
    server.reply = reply(name, [])
    assert await provider.search("灯塔 & 1857", 4, "zh") == []
    sent = server.requests[-1]
    assert (sent[0], urlsplit(sent[1]).path, sent[2]["user-agent"]) == (
        method,
        f"/sub{path}",
        "Citewell/1",
    )
    assert server.sent.items() >= expected.items()
    keys = {"brave": ("x-subscription-token", KEY), "tavily": ("authorization", f"Bearer {KEY}")}
    if name in keys:
        assert sent[2][keys[name][0]] == keys[name][1]
    else:
        assert KEY not in str(sent)
    await provider.close()


@pytest.mark.parametrize(
    ("lang", "host"),
    [("zh", "zh.wikipedia.org"), ("en", "en.wikipedia.org"), ("fr", "en.wikipedia.org")],
)
async def test_wikipedia_of_the_language(
    lang: str, host: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a url it is that of the question; the results are pages of it."""
    asked: list[str] = []

    async def json_of(self: Any, method: str, path: str, **request: Any) -> Any:
        asked.append(self.base + path)
        return reply("wikipedia", [(None, "A b", "")])

    monkeypatch.setattr("citewell.retrieve.providers.base.Endpoint.json", json_of)
    found = await build_provider(Settings(web=WebSettings(provider="wikipedia"))).search(
        "q", 1, lang
    )
    assert (asked, found[0].url) == ([f"https://{host}/w/api.php"], f"https://{host}/wiki/A_b")


async def test_nothing_found(provider: Provider, server: Server) -> None:
    """An empty list, not an error; Brave leaves out `web` altogether, DuckDuckGo says so in a
    box.
    """
    for empty in (
        reply(provider.name, []),
        {
            "brave": {"type": "search", "query": {"original": "q"}},
            "duckduckgo": b'<div class="no-results">No results.</div>',
        }.get(provider.name, reply(provider.name, [])),
    ):
        server.reply = empty
        assert await provider.search("q", 4, "en") == []


# ---------------------------------------------------------------- what goes wrong


@pytest.mark.parametrize("body", [
    b"", b"\xff\x00", b"[1, 2]", b'{"results": [', b'{"results": ["a"], "query": 1, "web": 2}',
    b"[" * 9_000, b'"text"', b'{"results": {"a": 1}}',
    b"<html><body>Please enable JavaScript</body></html>",
])  # fmt: skip
async def test_rubbish(provider: Provider, server: Server, body: bytes) -> None:
    """What is no reply of this provider's is an error that names it, and its address."""
    server.reply = body
    with pytest.raises(PermanentError, match=rf"^{provider.name}: {server.url}: ") as caught:
        await provider.search("q", 4, "en")
    assert "web.url" in caught.value.hint


@pytest.mark.parametrize("status", [408, 429, 500, 503])
async def test_busy(provider: Provider, server: Server, status: int) -> None:
    """It may work later, and that is said."""
    server.status, server.reply = status, b"slow down"
    with pytest.raises(TransientError, match=f"{provider.name}: .*status {status}"):
        await provider.search("q", 4, "en")


@pytest.mark.parametrize("status", [401, 403])
@pytest.mark.parametrize("name", ["brave", "tavily", "wikipedia"])
async def test_refused(server: Server, name: str, status: int) -> None:
    """The hint names the setting of the key; the key itself is in no message."""
    server.status, server.reply = status, f"no {KEY} here".encode()
    provider = made(server, name)
    with pytest.raises(PermanentError, match=f"status {status}") as caught:
        await provider.search("q", 4, "en")
    assert (caught.value.code, "web.key" in caught.value.hint) == ("unauthorised", True)
    assert KEY not in caught.value.message + caught.value.hint
    await provider.close()


async def test_key_is_in_no_message(provider: Provider, server: Server) -> None:
    """Not even where a server repeats it, nor the password of a base URL."""
    server.status, server.reply = 400, f"<p>bad key {KEY}</p>".encode()
    with pytest.raises(PermanentError, match="status 400") as caught:
        await provider.search("q", 4, "en")
    assert KEY not in caught.value.message
    secret = made(server, provider.name, url=server.url.replace("//", "//user:hunter2@"))
    with pytest.raises(PermanentError) as caught:
        await secret.search("q", 4, "en")
    assert "hunter2" not in caught.value.message
    await secret.close()


async def test_searxng_without_json(server: Server) -> None:
    """The hint says what most instances leave out of their settings."""
    server.status, server.reply = 403, b"Forbidden"
    provider = made(server, "searxng")
    with pytest.raises(PermanentError, match="status 403") as caught:
        await provider.search("q", 4, "en")
    assert "json" in caught.value.hint
    await provider.close()


@pytest.mark.parametrize(("status", "body"), [
    (202, b"<html></html>"), (403, b""),
    (200, b'<form id="challenge-form"><div class="anomaly-modal__title">duck?</div></form>'),
])  # fmt: skip
async def test_captcha_of_duckduckgo(server: Server, status: int, body: bytes) -> None:
    """A puzzle is not an empty search."""
    server.status, server.reply = status, body
    provider = made(server, "duckduckgo")
    with pytest.raises(PermanentError) as caught:
        await provider.search("q", 4, "en")
    assert caught.value.code == "captcha"
    await provider.close()


@pytest.mark.parametrize(
    ("code", "kind"), [("ratelimited", TransientError), ("badvalue", PermanentError)]
)
async def test_error_of_mediawiki(server: Server, code: str, kind: type[Exception]) -> None:
    """It says status 200 to its errors."""
    server.reply = {"error": {"code": code, "info": "..."}}
    provider = made(server, "wikipedia")
    with pytest.raises(kind, match=code):
        await provider.search("q", 4, "en")
    await provider.close()


@pytest.mark.parametrize("name", NAMES)
async def test_provider_that_hangs_or_is_not_there(server: Server, name: str) -> None:
    """Half of the time of the settings is its own; no connection is an error of the transient
    kind.
    """
    server.reply = None
    slow = made(server, name, seconds=0.4)
    with pytest.raises(TransientError, match=rf"{name}: no reply within 0\.2 seconds"):
        await slow.search("q", 4, "en")
    await slow.close()
    away = made(server, name, url="http://127.0.0.1:9")
    with pytest.raises(TransientError, match=rf"{name}: http://127\.0\.0\.1:9: "):
        await away.search("q", 4, "en")
    await away.close()


async def test_reply_without_end(server: Server) -> None:
    """Reading stops at the limit."""
    server.reply = b" " * (LARGEST + 1)
    provider = made(server, "searxng")
    with pytest.raises(PermanentError, match="larger than 2,000,000 bytes"):
        await provider.search("q", 4, "en")
    await provider.close()


@pytest.mark.parametrize(("name", "more", "words"), [
    ("searxng", {"url": ""}, "web.url is empty"),
    ("brave", {"key": SecretStr("")}, "web.key is empty"),
    ("tavily", {"key": SecretStr(" \n")}, "web.key is empty"),
    ("brave", {"key": SecretStr("a\nb")}, "web.key has characters"),
    ("none", {}, "web search is off"),
])  # fmt: skip
def test_settings_that_are_not_enough(
    server: Server, name: str, more: dict[str, Any], words: str
) -> None:
    """It is told before anybody is asked."""
    with pytest.raises(ConfigError, match=words):
        made(server, name, **more)


@pytest.mark.parametrize("name", ["duckduckgo", "wikipedia"])
def test_those_that_need_nothing(name: str) -> None:
    """Neither key nor url."""
    assert build_provider(Settings(web=WebSettings.model_validate({"provider": name}))).name == name
