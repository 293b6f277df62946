"""Pages that scripts write, in a real Chromium, which must reach nothing but what it is given."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import pytest_asyncio
from tests.error_codes import raises_code

from citewell.config import Settings
from citewell.errors import ConfigError, PermanentError, TransientError, UnreadableFile
from citewell.fetch import browser as fetch_browser
from citewell.fetch import browser_page
from citewell.fetch.browser import Browser, find_chromium
from citewell.fetch.browser_page import Within
from citewell.fetch.page_reply import Page
from citewell.runtime.app import App
from citewell.service.sites.keep_pages import open_pages

if TYPE_CHECKING:
    from tests.conftest import SiteServer

pytestmark = pytest.mark.asyncio(loop_scope="module")
needs_chromium = pytest.mark.skipif(
    not find_chromium(),
    reason="no Chromium on this machine (apt install chromium): pages that scripts write are not "
    "tested",
)
TYPES = {".js": "text/javascript", ".json": "application/json", ".pdf": "application/pdf"}
SITE = "http://site.test"


class Web:
    """What there is: address -> its text. `asked`: what was asked for. `leads`: address -> where it
    is found instead. `blind`: it follows them wherever they lead.
    """

    def __init__(
        self, pages: dict[str, str], leads: dict[str, str] | None = None, *, blind: bool = False
    ) -> None:
        self.pages = {url if "://" in url else SITE + url: text for url, text in pages.items()}
        self.leads = leads or {}
        self.asked: list[str] = []
        self.blind = blind

    async def fetch(self, url: str, within: Within | None) -> Page:
        self.asked.append(url)
        there = self.leads.get(url, url)
        if there != url and not self.blind:
            if within is not None and not within(there):
                raise PermanentError(
                    f"{url} leads to {there}, which is elsewhere", code="leads_away"
                )
            self.asked.append(there)
        if there not in self.pages:
            raise PermanentError(f"{url}: status 404", code="page_missing")
        return Page(
            url=url,
            final_url=there,
            status=200,
            media_type=TYPES.get(Path(there).suffix, "text/html"),
            charset="utf-8",
            data=self.pages[there].encode(),
            etag="",
            last_modified="",
            fetched_at=0.0,
        )


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def browser() -> AsyncIterator[Browser]:
    """One for all pages that leave it as it is."""
    async with Browser() as made:
        yield made


async def shown(browser: Browser, web: Web, url: str = SITE + "/", seconds: float = 20.0) -> str:
    return (await browser.render(url, web.fetch, seconds)).decode()


def below(root: int) -> set[int]:
    """The processes that `root` started, and theirs."""
    parents: dict[int, int] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            state, parent = (folder / "stat").read_text().rpartition(")")[2].split()[:2]
        except OSError:  # it has just ended
            continue
        if state != "Z":
            parents[int(folder.name)] = int(parent)
    found = {root}
    while more := {pid for pid, parent in parents.items() if parent in found} - found:
        found |= more
    return found - {root}


APP = {
    "/": """<!doctype html><title>Shop</title><body><div id="app">Loading</div><x-note></x-note>
        <script src="http://cdn.test/lib.js"></script><script src="/app.js"></script>""",
    "http://cdn.test/lib.js": "window.put = text => { document.getElementById('app').innerHTML "
    "= text }",
    "/app.js": """customElements.define('x-note', class extends HTMLElement {
          connectedCallback() {
            this.attachShadow({mode: 'open'}).innerHTML = '<p>Seven days.</p>' } });
        const more = new XMLHttpRequest(); more.open('GET', '/missing.json');
        more.onload = () => fetch('/data.json').then(it => it.json()).then(it =>
          setTimeout(() => put(
            `<h1>${it.name}</h1><p>${more.status}</p><a href="/returns">退货</a>`), 100));
        more.send()""",
    "/data.json": '{"name": "售后服务"}',
}


@needs_chromium
async def test_a_page_that_scripts_write() -> None:
    """With what they fetched, in any language, and with what components keep to themselves. The
    second page needs no start.
    """
    async with Browser() as browser:
        web = Web(APP)
        html = await shown(browser, web)
        assert '<h1>售后服务</h1><p>404</p><a href="/returns">退货</a>' in html
        assert "<p>Seven days.</p>" in html
        assert sorted(url.rpartition("/")[2] for url in web.asked) == [
            "",
            "app.js",
            "data.json",
            "lib.js",
            "missing.json",
        ]
        process = browser._chromium
        await shown(browser, Web(APP))
        assert browser._chromium is process


@needs_chromium
async def test_redirects_windows_and_dialogs(browser: Browser) -> None:
    """Addresses are those of the page that was reached; a script may lead on; what it opens or asks
    is shut.
    """
    pages = {
        "/new/": "<p id=p></p><script src=in.js></script>",
        "/new/in.js": "alert(1); p.textContent = confirm('go on?') + location.href; "
        "window.open('/popup')",
        "/go": "<script>location = '/end'</script>",
        "/end": "<p>The end.</p>",
        "/file.pdf": "%PDF",
    }
    web = Web(pages, {SITE + "/old": SITE + "/new/"})
    assert f'<p id="p">false{SITE}/new/</p>' in await shown(browser, web, SITE + "/old")
    assert "The end." in await shown(browser, web, SITE + "/go")
    with pytest.raises(UnreadableFile):
        await shown(browser, web, SITE + "/file.pdf")
    with pytest.raises(PermanentError, match="404"):
        await shown(browser, web, SITE + "/nowhere")


@needs_chromium
async def test_only_its_own_site_is_read(browser: Browser) -> None:
    """Nothing is sent but plain questions; of other sites come scripts only, and only what says
    that it is one.
    """
    page = """<p id=p></p><img src="/pic.png"><link rel=stylesheet href="/style.css">
        <iframe src="http://other.test/frame"></iframe>
        <script src="http://other.test/data.json"></script><script>
        const say = what => { p.textContent += what + ' ' };
        const get = (url, how) => fetch(url, how).then(it => it.text()).catch(() => 'no');
        (async () => {
          say(await get('/own.json')); say(await get('http://api.site.test/api.json'));
          say(await get('http://other.test/data.json'));
          say(await get('http://site.test:8080/own.json'));
          say(await get('/own.json', {method: 'POST', body: 'x'}));
          say(await import('http://other.test/data.json', {with: {type: 'json'}})
            .then(it => it.default, () => 'no'));
          say('end')
        })()</script>"""
    pages = {
        "/": page,
        "/own.json": "1",
        "http://api.site.test/api.json": "2",
        "http://other.test/data.json": "3",
    }
    web = Web(pages)
    assert '<p id="p">1 2 no no no no end </p>' in await shown(browser, web)
    assert set(web.asked) <= {
        SITE + "/",
        SITE + "/own.json",
        "http://api.site.test/api.json",
        "http://other.test/data.json",
    }


@needs_chromium
@pytest.mark.parametrize("blind", [False, True])
async def test_no_other_site_is_read_through_a_redirect(blind: bool, browser: Browser) -> None:
    """Not as data, in a frame or as a module that is no script, even where `fetch` follows it;
    below its own host it may lead, and a script may come from elsewhere.
    """
    page = """<p id=p></p><iframe src="/frame"></iframe><script>
        const say = what => { p.textContent += what + ' ' };
        const get = url => fetch(url).then(it => it.text()).catch(() => 'no');
        const xhr = url => new Promise(done => { const x = new XMLHttpRequest(); x.open('GET', url);
          x.onload = () => done(x.responseText); x.onerror = () => done('no'); x.send() });
        (async () => {
          say(await get('/data.json')); say(await xhr('/data.json')); say(await get('/port.json'));
          say(await get('/below.json'));
          say(await import('/data.json', {with: {type: 'json'}})
            .then(it => JSON.stringify(it.default), () => 'no'));
          say(await import('/lib.js').then(it => it.default, () => 'no'));
          say('frame:' + (frames[0].document.body ? frames[0].document.body.innerText : ''));
          say('end')
        })()</script>"""
    pages = {
        "/": page,
        "http://intra.test/data.json": '"secret"',
        "http://site.test:8080/data.json": '"secret"',
        "http://intra.test/frame": "secret",
        "http://api.site.test/below.json": "below",
        "http://cdn.test/lib.js": "export default 'script'",
    }
    leads = {
        SITE + "/data.json": "http://intra.test/data.json",
        SITE + "/port.json": "http://site.test:8080/data.json",
        SITE + "/frame": "http://intra.test/frame",
        SITE + "/below.json": "http://api.site.test/below.json",
        SITE + "/lib.js": "http://cdn.test/lib.js",
    }
    web = Web(pages, leads, blind=blind)
    html = await shown(browser, web)
    assert '<p id="p">no no no below no script frame: end </p>' in html
    assert "secret" not in html
    # of a script nobody knows before it is there; its media type speaks for it then
    assert [url for url in web.asked if "intra" in url] == (
        [] if blind else ["http://intra.test/data.json"]
    )
    assert SITE + "/frame" in web.asked


@needs_chromium
@pytest.mark.parametrize("blind", [False, True])
async def test_the_page_itself_comes_from_its_own_host(blind: bool, browser: Browser) -> None:
    """Encrypted or not; a host below it is another one."""
    pages = {
        "https://site.test/": "<p>encrypted</p>",
        "http://api.site.test/": "<p>x</p>",
        "http://site.test:8080/": "<p>x</p>",
    }
    assert "encrypted" in await shown(
        browser, Web(pages, {SITE + "/": "https://site.test/"}, blind=blind)
    )
    for there in ("http://api.site.test/", "http://site.test:8080/"):
        with raises_code(PermanentError, "leads_away") as caught:
            await shown(browser, Web(pages, {SITE + "/": there}, blind=blind))
        assert caught.value.code == "leads_away"


async def test_what_brings_the_parts_of_a_page_goes_where_it_may(
    settings: Settings, site_server: SiteServer
) -> None:
    """The real one asks nothing of a host that is elsewhere."""
    away = site_server.url.replace("127.0.0.1", "localhost")
    site_server.page("/data.json", status=302, headers={"Location": f"{away}/secret"})
    site_server.page("/secret", "secret")
    async with App(
        settings.model_copy(update={"allow_private_hosts": ("127.0.0.1", "localhost")})
    ) as app:
        with pytest.raises(PermanentError) as caught:
            await open_pages(app).part(
                f"{site_server.url}/data.json", lambda there: there.startswith(site_server.url)
            )
        assert (caught.value.code, site_server.paths()) == ("leads_away", ["/data.json"])
        assert (
            await open_pages(app).part(f"{site_server.url}/data.json")
        ).final_url == f"{away}/secret"


@needs_chromium
async def test_limits_of_requests_and_bytes(
    monkeypatch: pytest.MonkeyPatch, browser: Browser
) -> None:
    """Past them nothing comes, and the page is what it is."""
    page = """<p id=p></p><p id=say></p><script>(async () => { let n = 0;
        for (let i = 0; i < 100; i++)
          await fetch('/own.json?' + i).then(it => it.ok && n++, () => 0);
        p.textContent = n; say.textContent = 'end' })()</script>"""
    web = Web({"/": page, **{f"/own.json?{n}": "1" for n in range(100)}})
    assert '<p id="p">60</p>' in await shown(browser, web)
    monkeypatch.setattr(browser_page, "_MOST_BYTES", 5)
    assert '<p id="p">5</p>' in await shown(browser, web)


@needs_chromium
async def test_pages_without_end(monkeypatch: pytest.MonkeyPatch, browser: Browser) -> None:
    """One that never rests is taken as it is; one that never answers ends in time; and the next one
    is shown.
    """
    pages = {
        "/tick": "<p id=p>x</p><script>setInterval(() => { p.textContent += 'y'; "
        "fetch('/own.json') }, 20)</script>",
        "/loop": "<p>x</p><script>while (true) {}</script>",
        "/later": "<p>x</p><script>setTimeout(() => { while (true) {} }, 0)</script>",
        "/leave": "<p>still here</p><script>location = 'http://other.test/'</script>",
        "/reload": "<p>again</p><script>location.reload()</script>",
        "/own.json": "1",
        "/": "<p>fine</p>",
    }
    web = Web(pages)

    async def slow(url: str, within: Within | None) -> Page:
        await asyncio.sleep(60)
        return await web.fetch(url, within)

    await shown(browser, web)
    monkeypatch.setattr(fetch_browser, "_ENOUGH", 0.25)
    assert "xyyy" in await shown(browser, web, SITE + "/tick")
    assert "again" in await shown(browser, web, SITE + "/reload")
    assert "still here" in await shown(browser, web, SITE + "/leave")
    for path in ("/loop", "/later"):
        begun = time.monotonic()
        with pytest.raises(TransientError) as caught:
            await shown(browser, web, SITE + path, 2)
        assert caught.value.code == "timeout"
        assert (
            time.monotonic() - begun < 20
        )  # 2, and what a loaded machine takes to end and start a browser
    with pytest.raises(TransientError, match="not there within 1 seconds"):
        await browser.render(SITE + "/", slow, 1)
    assert "fine" in await shown(browser, web)


@needs_chromium
@pytest.mark.skipif(sys.platform != "linux", reason="processes are looked up in /proc")
async def test_no_process_is_left() -> None:
    """Not by a page that hangs, not by one that nobody waits for any more; and one that was killed
    is started anew.
    """
    before = below(os.getpid())
    web = Web({"/loop": "<script>while (true) {}</script>", "/": "<p>fine</p>"})
    async with Browser() as browser:
        await shown(browser, web)
        started = below(os.getpid()) - before
        assert started
        waiting = asyncio.create_task(shown(browser, web, SITE + "/loop", 60))
        await asyncio.sleep(1)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        chromium = {
            pid
            for pid in started
            if b"--type=" not in arguments(pid) and b"--host-resolver-rules" in arguments(pid)
        }
        assert len(chromium) == 1
        killed = browser._chromium
        assert killed is not None
        os.kill(chromium.pop(), signal.SIGKILL)
        await until(lambda: not killed.is_connected())
        assert "fine" in await shown(browser, web)
        with pytest.raises(TransientError):
            await shown(browser, web, SITE + "/loop", 2)
    await until(lambda: below(os.getpid()) - before == set())


async def until(so: Callable[[], bool]) -> None:
    """It may take its time on a loaded machine."""
    ends = time.monotonic() + 120
    while not so():
        assert time.monotonic() < ends
        await asyncio.sleep(0.1)


def arguments(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


ATTACK = """<!doctype html><link rel=preconnect href="TRAP"><link rel=dns-prefetch href="TRAP">
<link rel=prefetch href="TRAP/prefetch">
<link rel=preload as=script href="TRAP/preload"><link rel=prerender href="TRAP/prerender">
<link rel=modulepreload href="TRAP/module">
<link rel=stylesheet href="TRAP/style"><link rel=icon href="TRAP/icon">
<link rel=manifest href="TRAP/manifest">
<style>@import url("TRAP/import");
@font-face { font-family: f; src: url("TRAP/font") }
p { font-family: f; background: url("TRAP/bg") }</style>
<script type=speculationrules>{"prefetch": [{"urls": ["TRAP/speculation"]}],
"prerender": [{"urls": ["TRAP/speculation2"]}]}</script>
<p id=p>tried:</p><img src="TRAP/img"><img srcset="TRAP/srcset 1x">
<video src="TRAP/video" poster="TRAP/poster" autoplay></video>
<audio src="TRAP/audio" autoplay></audio><iframe src="TRAP/iframe"></iframe>
<object data="TRAP/object"></object>
<embed src="TRAP/embed">
<iframe
srcdoc="<img src='TRAP/srcdoc'><meta http-equiv=refresh content='0;url=TRAP/refresh'>"></iframe>
<iframe name=target></iframe><form id=form target=target method=post action="TRAP/form"></form>
<form id=form2 target=_blank action="TRAP/form2"></form>
<a id=a href="TRAP/click" ping="TRAP/ping" target=target>a</a>
<script src="TRAP/script"></script><script>
const say = what => { p.textContent += ' ' + what };
const go = (name, what) => { try { what(); say(name) } catch (error) { say('no-' + name) } };
const inside = `const it = () => 0; fetch('TRAP/w-fetch').catch(it);
    try { new WebSocket('SOCKET/w-socket') } catch { }
    try { const x = new XMLHttpRequest(); x.open('GET', 'TRAP/w-xhr', false); x.send() } catch { }
    try { importScripts('TRAP/w-import') } catch { }`;
go('fetch', () => { for (const mode of ['cors', 'no-cors'])
    fetch('TRAP/fetch', {mode}).catch(() => 0) });
go('post', () =>
    fetch('TRAP/post', {method: 'POST', mode: 'no-cors', body: 'x', keepalive: true})
    .catch(() => 0));
go('xhr', () => { const x = new XMLHttpRequest(); x.open('GET', 'TRAP/xhr'); x.send() });
go('image', () => { new Image().src = 'TRAP/image' });
go('socket', () => new WebSocket('SOCKET/socket'));
go('beacon', () => navigator.sendBeacon('TRAP/beacon', 'x'));
go('events', () => new EventSource('TRAP/events'));
go('worker', () => new Worker(URL.createObjectURL(new Blob([inside]))));
go('shared', () => new SharedWorker(URL.createObjectURL(new Blob([inside]))));
go('service', () => navigator.serviceWorker.register('/service.js').catch(() => 0));
go('rtc', () => { const c = new RTCPeerConnection({iceServers: [{urls: 'stun:127.0.0.1:PORT'}]});
    c.createDataChannel('x'); c.createOffer().then(offer => c.setLocalDescription(offer)) });
go('transport', () => new WebTransport('https://127.0.0.1:PORT/x'));
go('form', () => form.submit());
go('form2', () => form2.submit());
go('click', () => a.click());
go('open', () => window.open('TRAP/open'));
go('leave', () => setTimeout(() => { location = 'TRAP/leave' }, 300));
</script>"""


class Trap(asyncio.DatagramProtocol):
    """A server that nobody must reach. `seen`: what did."""

    def __init__(self) -> None:
        self.seen: list[str] = []
        self.url = ""
        self.udp = 0
        self.page = "<p>trap</p>"

    def datagram_received(self, data: bytes, addr: tuple[str | int, ...]) -> None:
        self.seen.append(f"udp {data[:20]!r}")

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.seen.append("a connection")
        try:
            line = await asyncio.wait_for(reader.readline(), 120)
            self.seen.append(line.decode("latin-1").strip())
            body = (
                self.page.encode() if line.startswith(b"GET / ") else b"<p>trap</p>"
            )  # else each frame would try all again
            writer.write(
                b"HTTP/1.1 200 OK\r\ncontent-type: text/html\r\nconnection: close\r\n\r\n" + body
            )
            await writer.drain()
        except (OSError, TimeoutError):
            self.seen.append("nothing said")
        finally:
            writer.close()

    def attack(self, host: str = "127.0.0.1") -> str:
        there = self.url.replace("127.0.0.1", host)
        return (
            ATTACK.replace("TRAP", there)
            .replace("SOCKET", there.replace("http", "ws"))
            .replace("PORT", str(self.udp))
        )


@asynccontextmanager
async def trapping() -> AsyncIterator[Trap]:
    trap = Trap()
    server = await asyncio.start_server(trap.handle, "127.0.0.1", 0)
    trap.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    transport, _ = await asyncio.get_running_loop().create_datagram_endpoint(
        lambda: trap, local_addr=("127.0.0.1", 0)
    )
    trap.udp = transport.get_extra_info("sockname")[1]
    try:
        yield trap
    finally:
        transport.close()
        server.close()
        await server.wait_closed()


@needs_chromium
async def test_nothing_is_reached_but_what_is_given() -> None:
    """Whatever a page tries, by name or by address, the server beside it sees no connection: all
    goes through `fetch`.
    """
    async with trapping() as trap, Browser() as browser:
        for home, host in (("http://site.test/", "127.0.0.1"), ("https://site.test/", "localhost")):
            web = Web({home: trap.attack(host), f"{home}service.js": "fetch('/x')"})
            html = await shown(browser, web, home)
            assert "tried: fetch post xhr image socket beacon events worker" in html
            assert "no-rtc" in html
            await asyncio.sleep(0.5)
            assert all(
                "site.test" in url or url.endswith(("/script", "/preload", "/module"))
                for url in web.asked
            ), web.asked
        assert trap.seen == []


@needs_chromium
async def test_nothing_is_reached_even_past_the_interception() -> None:
    """The browser by itself finds no host. In a Chromium without our switches the same page reaches
    the trap in many ways.
    """
    from playwright.async_api import Error, async_playwright

    async with trapping() as trap, Browser() as browser:
        context = await (await browser._ensure_running()).new_context()
        page = await context.new_page()
        await page.set_content(trap.attack(), wait_until="commit")
        await asyncio.sleep(3)
        with pytest.raises(Error):
            await page.goto(trap.url)
        assert trap.seen == []
    async with trapping() as trap, async_playwright() as playwright:
        sandbox = os.geteuid() != 0
        chromium = await playwright.chromium.launch(
            executable_path=find_chromium(), chromium_sandbox=sandbox
        )
        trap.page = trap.attack().replace(
            "}, 300)", "}, 5000)"
        )  # all has begun by then, on a busy machine too
        page = await chromium.new_page()
        wanted = {
            "/img",
            "/fetch",
            "/xhr",
            "/socket",
            "/beacon",
            "/iframe",
            "/w-fetch",
            "/w-socket",
            "/prefetch",
        }
        for n in range(600):
            if wanted <= reached(trap.seen) and any(line.startswith("udp") for line in trap.seen):
                break
            if n % 100 == 0:
                await page.goto(trap.url, wait_until="commit")
            await asyncio.sleep(0.1)
        await chromium.close()
        assert wanted <= reached(trap.seen), "within a minute"
        assert any(line.startswith("udp") for line in trap.seen)


def reached(seen: list[str]) -> set[str]:
    return {line.split(" ")[1] for line in seen if line.startswith(("GET", "POST"))}


async def test_what_is_missing_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """With what to install."""
    with pytest.raises(ConfigError, match="no-such-program") as caught:
        Browser("no-such-program")
    assert "apt install chromium" in caught.value.hint
    monkeypatch.setenv("PATH", str(tmp_path))
    assert find_chromium() == ""
    with pytest.raises(ConfigError, match="on this machine"):
        Browser()
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(ConfigError) as caught:
        Browser()
    assert "citewell[browser]" in caught.value.hint


async def test_a_program_that_is_no_browser(tmp_path: Path) -> None:
    """Is named, and leaves nothing behind."""
    fake = tmp_path / "chromium"
    fake.write_text("#!/bin/sh\nexit 3\n")
    fake.chmod(0o755)
    async with Browser(str(fake)) as browser:
        with pytest.raises(ConfigError, match="does not start"):
            await shown(browser, Web({"/": "<p>x</p>"}))
