"""Where a run may go: nothing outside the allowed domains is connected to, however a page words its
links.
"""

from __future__ import annotations

import ipaddress
from typing import TYPE_CHECKING, Any

import pytest

from citewell.fetch import ssrf_transport as guarded

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.website.conftest import Desk, Web

QUESTION = "What is the secret of the red lamp?"
SECRET = "The secret of the red lamp is a second wick."
WORDS = "The secret of the red lamp"
OUTSIDE = "127.0.0.2"


@pytest.fixture(autouse=True)
def connected(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Every address that a request was sent to."""
    there: list[str] = []
    plain = guarded._send_request

    async def sent(kept: Any, request: Any, found: Any) -> Any:
        there.extend(str(address) for address in found)
        return await plain(kept, request, found)

    monkeypatch.setattr(guarded, "_send_request", sent)
    return there


def home(web: Web, *hrefs: str, head: str = "", after: str = "") -> None:
    """A first page whose links all promise the answer, and one of its own that has nothing."""
    links = "".join(f'<p><a href="{href}">{WORDS}</a></p>' for href in (*hrefs, "/lamp"))
    main = f"<main><p>Lamps of all kinds.</p>{links}{after}</main>"
    web.page(
        "/", f"<html><head><title>Lamps</title>{head}</head><body>{main}</body></html>".encode()
    )
    web.page("/lamp", "<p>A red lamp stands here.</p>")


HOSTILE = [
    "file:///etc/passwd", "javascript:fetch('/secret')", "data:text/html,secret",
    "mailto:a@b.example", "ftp://127.0.0.1/secret", "http://169.254.169.254/latest/meta-data/",
    "http://2130706434/secret", "http://0x7f000002/secret", "http://0177.0.0.2/secret",
    "http://127.2/secret", "http://[::ffff:127.0.0.2]:{port}/secret",
    "http://[::ffff:a9fe:a9fe]/secret", "http://[::1]:{port}/secret",
    "http://127.0.0.1:x@127.0.0.2:{port}/secret", "http://127.0.0.1:{port}@127.0.0.2:{port}/secret",
    "//127.0.0.2:{port}/secret", "http:\\\\127.0.0.2:{port}\\secret",
    "http://127.0.0.1:{port}\\@127.0.0.2:{port}/secret", "http://127.0.0.1.evil.example/secret",
    "http://localhost:{port}/secret", "http://0.0.0.0:{port}/secret", "http://127.0.0.1:1/secret",
    "https://127.0.0.1/secret", "\x01http://127.0.0.2:{port}/secret",
    "http:/\n/127.0.0.2:{port}/secret", "http://127。0。0。2:{port}/secret",
    "http://metadata.google.internal/computeMetadata/v1/",
    "http://127.0.0.2:{port}/secret#@127.0.0.1", "http://user:pw@127.0.0.1:{port}/x",
]  # fmt: skip


async def test_links_that_lead_out(desk: Desk, web: Web, connected: list[str]) -> None:
    """All at once: only pages of the site's own host and port are asked for, and the site's own
    page is read.
    """
    home(web, *[href.format(port=web.port) for href in HOSTILE])
    web.page("/secret", f"<p>{SECRET}</p>")
    desk.knows(SECRET)
    answer = await desk.ask(QUESTION)
    assert answer.status == "refused"
    assert set(connected) == {"127.0.0.1"}
    assert (web.most[OUTSIDE], web.paths()) == (0, ["/", "/lamp"])
    assert {asked.host for asked in web.asked} == {f"127.0.0.1:{web.port}"}


async def test_links_that_lead_out_where_every_host_is_allowed(
    desk: Desk, web: Web, connected: list[str]
) -> None:
    """The rules of addresses still hold: nothing inside that the settings do not name, and no
    address in two readings.
    """
    home(web, *[href.format(port=web.port) for href in HOSTILE])
    web.otherwise = lambda path: web.made("<p>Sand.</p>") if path.startswith("/secret") else None
    answer = await desk.ask(
        QUESTION, allowed_domains=["*"], max_seconds=8, max_urls_per_iteration=40, max_iterations=1
    )
    assert answer.status == "refused"
    addresses = [ipaddress.ip_address(each) for each in connected]
    assert all((getattr(each, "ipv4_mapped", None) or each).is_loopback for each in addresses)
    # of those to 127.0.0.2, the plain one (written in four ways) and the one in IPv6 are read,
    # nothing else is
    assert {asked.host for asked in web.asked} <= {
        f"{host}:{web.port}" for host in ("127.0.0.1", OUTSIDE, "[::ffff:7f00:2]", "localhost")
    }
    assert {path for path in web.paths() if path not in {"/", "/lamp"}} == {"/secret"}
    assert len([asked for asked in web.asked if asked.path == "/secret"]) <= 3
    for inside in ("169.254.169.254", "[::ffff:a9fe:a9fe]", "0.0.0.0"):  # noqa: S104
        assert any(inside in warning and "refused" in warning for warning in answer.warnings), (
            inside,
            answer.warnings,
        )
    assert not any("pw@" in asked.head or "authorization" in asked.headers for asked in web.asked)


@pytest.mark.parametrize(("head", "after"), [
    ('<base href="http://127.0.0.2:{port}/">', ""),
    ('<meta http-equiv="refresh" content="0; url=http://127.0.0.2:{port}/secret">', ""),
    ("", '<iframe src="http://127.0.0.2:{port}/secret"></iframe>'), ("", ('<img '
    'src="http://127.0.0.2:{port}/secret">')),
    ("", '<form action="http://127.0.0.2:{port}/secret"><input name=q></form>'),
    ('<link rel="canonical" href="http://127.0.0.2:{port}/secret">', ""),
    (('<link rel="next" href="http://127.0.0.2:{port}/secret"><script '
    'src="http://127.0.0.2:{port}/secret"></script>'), ""),
])  # fmt: skip
async def test_other_ways_out_of_a_page(desk: Desk, web: Web, head: str, after: str) -> None:
    """What a page includes, where it says it stands, and where it sends its readers."""
    home(web, head=head.format(port=web.port), after=after.format(port=web.port))
    web.page("/secret", f"<p>{SECRET}</p>")
    desk.knows(SECRET)
    answer = await desk.ask(QUESTION)
    assert (answer.status, web.most[OUTSIDE]) == ("refused", 0)


@pytest.mark.parametrize("status", [301, 307])
async def test_a_redirect_that_leads_out(desk: Desk, web: Web, status: int) -> None:
    """A page of the site that sends its readers elsewhere is not followed there, and it is told."""
    home(web, "/away")
    web.leads("/away", web.at("/secret", OUTSIDE), status)
    web.page("/secret", f"<p>{SECRET}</p>")
    desk.knows(SECRET)
    answer = await desk.ask(QUESTION)
    assert answer.status == "refused"
    assert web.most[OUTSIDE] == 0
    assert any("/away" in warning for warning in answer.warnings)
    assert not [
        info for info in await desk.app.catalog.documents(answer.route) if OUTSIDE in info.uri
    ]


async def test_a_redirect_within_what_is_allowed(desk: Desk, web: Web) -> None:
    """From one allowed host to another: read under the address that it led to."""
    home(web, "/away")
    web.leads("/away", web.at("/secret", OUTSIDE))
    web.page("/secret", f"<p>{SECRET}</p>")
    desk.knows(SECRET)
    answer = await desk.ask(QUESTION, allowed_domains=["127.0.0.1", OUTSIDE])
    assert (answer.status, answer.citations[0].uri) == ("answered", web.at("/secret", OUTSIDE))


async def test_a_start_page_that_has_moved(desk: Desk, web: Web) -> None:
    """Within its host it is followed; its links are read where it led to."""
    web.leads("/", "/new/", 301)
    web.page("/new", f'<p>Lamps.</p><a href="red">{WORDS}</a>')
    web.page("/new/red", f"<p>{SECRET}</p>")
    desk.knows(SECRET)
    answer = await desk.ask(QUESTION)
    assert (answer.status, answer.citations[0].uri) == ("answered", web.at("/new/red"))
    assert web.paths() == ["/", "/new/", "/new/red"]


@pytest.mark.parametrize(("allowed", "followed"), [
    (None, False),
    (["127.0.0.1"], False),
    (["127.0.0.1", "127.0.0.2"], True),
    (["127.0.0.1", "127.0.0.2:{port}"], True),
    (["127.0.0.1", "127.0.0.2:1"], False),
    (["127.0.0.1", "http://127.0.0.2:{port}/x"], True),
    (["*"], True),
    ([], True),
])  # fmt: skip
async def test_allowed_domains(
    desk: Desk, web: Web, allowed: list[str] | None, followed: bool
) -> None:
    """A host that is not named is never connected to, robots.txt included; one that is, is part of
    the site.
    """
    home(web, web.at("/secret", OUTSIDE))
    web.page("/secret", f"<p>{SECRET}</p>")
    desk.knows(SECRET)
    options = (
        {}
        if allowed is None
        else {"allowed_domains": [each.format(port=web.port) for each in allowed]}
    )
    answer = await desk.ask(QUESTION, **options)
    assert (web.most[OUTSIDE] > 0) is followed
    assert answer.status == ("answered" if followed else "refused")


async def test_subdomains_only_with_a_star(
    desk: Desk, web: Web, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`example.com` is that host alone; `*.example.com` what is below it and not itself, nor what
    only ends like it.
    """
    asked: list[str] = []

    async def resolve(host: str, port: int) -> list[Any]:
        asked.append(host)
        return [ipaddress.ip_address("127.0.0.1")]

    monkeypatch.setattr("citewell.fetch.addresses.resolve", resolve)
    hosts = [
        "docs.lamp.example",
        "lamp.example",
        "evil-lamp.example",
        "lamp.example.evil.example",
        "a.b.lamp.example",
    ]
    home(web, *[f"http://{host}:{web.port}/lamp" for host in hosts])
    start = f"http://www.lamp.example:{web.port}/"
    await desk.ask(QUESTION, start_urls=[start])
    assert set(asked) == {"www.lamp.example"}
    await desk.ask(
        QUESTION, start_urls=[start], allowed_domains=["*.lamp.example"], collection="below"
    )
    assert set(asked) == {"www.lamp.example", "docs.lamp.example", "a.b.lamp.example"}
    asked.clear()
    await desk.ask(
        QUESTION,
        start_urls=[start],
        allowed_domains=["www.lamp.example", "lamp.example"],
        collection="two",
    )
    assert set(asked) == {"www.lamp.example", "lamp.example"}


async def test_pages_that_are_no_longer_allowed_do_not_answer(desk: Desk, web: Web) -> None:
    """What was read of another host under wider rules is not evidence under narrower ones."""
    home(web, web.at("/secret", OUTSIDE))
    web.page("/secret", f"<p>{SECRET}</p>")
    desk.knows(SECRET)
    assert (
        await desk.ask(QUESTION, allowed_domains=["*"], collection="lamps")
    ).status == "answered"
    assert (
        await desk.ask(QUESTION, allowed_domains=["127.0.0.1"], collection="lamps")
    ).status == "refused"


async def test_private_hosts_need_the_setting(web: Web, open_desk: Callable[..., Any]) -> None:
    """Without it the start page is refused before a byte is sent."""
    home(web)
    async with open_desk(allow_private_hosts=()) as strict:
        answer = await strict.ask(QUESTION)
    assert (answer.status, answer.stop_reason, web.asked) == ("refused", "unreachable", [])
    assert "allow_private_hosts" in " ".join(answer.warnings)
