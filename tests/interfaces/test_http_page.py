"""The page's files: what is served and with which headers, what is not sent again, and what nobody
gets.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import re
from pathlib import Path

import httpx
import pytest

from citewell.errors import NotFound
from citewell.interfaces.http.page import page_modules, page_routes

HTML = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}


async def test_browsers_get_the_page_and_programs_words(client: httpx.AsyncClient) -> None:
    shown, told = await client.get("/", headers=HTML), await client.get("/")
    assert shown.headers["content-type"] == "text/html; charset=utf-8"
    assert '<div id="app">' in shown.text
    assert told.json()["openapi"] == "/api/openapi.json"
    assert (shown.headers["vary"], told.headers["vary"]) == ("Accept, Accept-Encoding", "Accept")


async def test_policy_lets_only_own_scripts_run(client: httpx.AsyncClient) -> None:
    """No `unsafe-` word, no other host; the import map, the one inline script, is allowed by its
    own hash.
    """
    shown = await client.get("/", headers=HTML)
    policy = dict(
        part.strip().split(" ", 1) for part in shown.headers["content-security-policy"].split(";")
    )
    inline = re.findall(r"<script(?![^>]*\bsrc=)[^>]*>(.*?)</script>", shown.text, re.DOTALL)
    assert len(inline) == 1
    digest = base64.b64encode(hashlib.sha256(inline[0].encode()).digest()).decode()
    assert policy["script-src"].split() == ["'self'", f"'sha256-{digest}'"]
    assert policy["default-src"] == policy["base-uri"] == policy["frame-ancestors"] == "'none'"
    assert policy["style-src"] == policy["connect-src"] == "'self'"
    assert "unsafe" not in shown.headers["content-security-policy"]
    assert not re.search(r"\son\w+=|\sstyle=|javascript:", shown.text)


KINDS = [
    ("app.js", "text/javascript; charset=utf-8"),
    ("styles/base.css", "text/css; charset=utf-8"),
    ("icons/citewell.svg", "image/svg+xml"),
    ("vendor/preact/preact.mjs", "text/javascript; charset=utf-8"),
    ("vendor/temml/Temml.woff2", "font/woff2"),
    ("vendor/pdfjs-dist/cmaps/UniGB-UCS2-H.bcmap", "application/octet-stream"),
]


async def test_files_have_their_kind_and_safe_headers(client: httpx.AsyncClient) -> None:
    for path, kind in KINDS:
        reply = await client.get(f"/assets/{path}")
        assert reply.headers["content-type"] == kind, path
        assert reply.content == (page_routes.WEB / path).read_bytes()
        assert reply.headers["x-content-type-options"] == "nosniff"
        assert reply.headers["x-frame-options"] == "DENY"
        assert reply.headers["referrer-policy"] == "no-referrer"
        assert reply.headers["cache-control"] == "no-cache"
        assert "script-src 'self';" in reply.headers["content-security-policy"], (
            "workers take the policy of their own file"
        )


async def test_what_is_known_is_not_sent_again(client: httpx.AsyncClient) -> None:
    tag = (await client.get("/assets/app.js")).headers["etag"]
    again = await client.get("/assets/app.js", headers={"If-None-Match": f'"other", W/{tag}'})
    assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", tag)
    assert (
        await client.get("/assets/app.js", headers={"If-None-Match": '"other"'})
    ).status_code == 200


async def test_files_come_packed_for_who_takes_it(client: httpx.AsyncClient) -> None:
    """The same bytes unpacked, under a tag of its own; who takes no gzip gets them plain, and small
    ones are never packed.
    """
    path, plain = "vendor/preact/preact.mjs", {"Accept-Encoding": "identity"}
    async with client.stream(
        "GET", f"/assets/{path}", headers={"Accept-Encoding": "br, gzip"}
    ) as reply:
        raw = b"".join([part async for part in reply.aiter_raw()])
    assert (reply.headers["content-encoding"], reply.headers["vary"]) == ("gzip", "Accept-Encoding")
    assert gzip.decompress(raw) == (page_routes.WEB / path).read_bytes()
    assert len(raw) < 0.6 * (page_routes.WEB / path).stat().st_size
    bare = await client.get(f"/assets/{path}", headers=plain)
    assert "content-encoding" not in bare.headers
    assert bare.headers["etag"] != reply.headers["etag"]
    for tag, headers in ((reply.headers["etag"], {}), (bare.headers["etag"], plain)):
        again = await client.get(f"/assets/{path}", headers={**headers, "If-None-Match": tag})
        assert (again.status_code, again.content) == (304, b"")
    wrong = await client.get(
        f"/assets/{path}", headers={**plain, "If-None-Match": reply.headers["etag"]}
    )
    assert wrong.status_code == 200
    for small in ("icons/citewell.svg", "vendor/temml/Temml.woff2"):
        assert "content-encoding" not in (await client.get(f"/assets/{small}")).headers


@pytest.mark.parametrize(
    ("accepted", "takes"),
    [
        ("gzip", True),
        ("deflate, GZIP;q=0.5", True),
        ("*", True),
        ("", False),
        ("identity", False),
        ("gzip;q=0", False),
        ("gzip; q=0.000, *", False),
        ("*;q=0", False),
        ("br", False),
    ],
)
def test_who_takes_gzip(accepted: str, takes: bool) -> None:
    assert page_routes.can_send_gzip(accepted) is takes


async def test_what_is_somebodys_is_never_packed(client: httpx.AsyncClient) -> None:
    """The size of a packed reply tells of what stands in it."""
    for path in ("/api/openapi.json", "/api/me", "/api/traces", "/api/collections", "/"):
        reply = await client.get(path, headers={"Accept-Encoding": "gzip, br"})
        assert "content-encoding" not in reply.headers, path


async def test_a_changed_file_is_sent(
    client: httpx.AsyncClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page_routes, "WEB", tmp_path)
    (tmp_path / "a.js").write_text("1", "utf-8")
    first = await client.get("/assets/a.js")
    (tmp_path / "a.js").write_text("1 + 1", "utf-8")
    second = await client.get("/assets/a.js", headers={"If-None-Match": first.headers["etag"]})
    assert (second.status_code, second.text) == (200, "1 + 1")


async def test_what_lies_below_a_version_is_kept(client: httpx.AsyncClient) -> None:
    """The page names a version; below it files are the same, and kept for good. Below another they
    are as they are now.
    """
    shown = (await client.get("/", headers=HTML)).text
    here = re.findall(r'<script type="module" src="(/assets/@[0-9a-f]{16}/)app\.js">', shown)[0]
    named = re.findall(r'"(/assets/[^"]*)"', shown)
    assert {address for address in named if not address.startswith(here)} == {
        "/assets/"
    }  # the map's way for who names none
    for path in ("app.js", "styles/base.css", "vendor/preact/preact.mjs"):
        kept, plain = await client.get(here + path), await client.get(f"/assets/{path}")
        assert (kept.status_code, kept.content) == (200, plain.content)
        assert (kept.headers["cache-control"], plain.headers["cache-control"]) == (
            page_routes.LASTING,
            "no-cache",
        )
    other = await client.get("/assets/@0123456789abcdef/app.js")
    assert (other.status_code, other.headers["cache-control"]) == (200, "no-cache")
    for path in (
        "@0123456789abcdef/",
        "@0123456789abcdef",
        f"{here}nowhere.js",
        f"{here}../../http/page/page_routes.py",
        f"{here}{here}app.js",
    ):
        assert (await client.get(f"/assets/{path.removeprefix('/assets/')}")).status_code == 404, (
            path
        )


async def test_modules_of_the_first_view_are_told(client: httpx.AsyncClient) -> None:
    """Each of them is there, once; those that one of them imports are among them; what is loaded on
    occasion is not.
    """
    shown = (await client.get("/", headers=HTML)).text
    told = [
        address.partition("/@")[2].partition("/")[2]
        for address in re.findall(r'"modulepreload" href="([^"]+)"', shown)
    ]
    assert len(told) == len(set(told)) > 50
    assert {
        "app.js",
        "views/ask.js",
        "ui/html.js",
        "vendor/preact/preact.mjs",
        "vendor/htm/htm.mjs",
    } <= set(told)
    assert not {
        "views/papers.js",
        "vendor/pdfjs-dist/build/pdf.min.mjs",
        "vendor/temml/temml.mjs",
    } & set(told)
    for path in told:
        assert (page_routes.WEB / path).is_file(), path
    assert shown.index("importmap") < shown.index(
        "modulepreload"
    )  # a map that comes later than a module is too late


async def test_words_are_served_whole_in_each_language(client: httpx.AsyncClient) -> None:
    english = await client.get("/assets/words/en.json")
    chinese = await client.get("/assets/words/zh.json")
    assert english.headers["content-type"] == "application/json"
    assert english.json()["ask.heading"] == "Ask"
    assert chinese.json().keys() == english.json().keys()
    assert (await client.get("/assets/words/xx.json")).status_code == 404


def test_another_file_is_another_version(tmp_path: Path) -> None:
    web = tmp_path / "web"
    (web / "ui").mkdir(parents=True)
    (web / "node_modules").mkdir()
    (web / "ui" / "a.js").write_text("1", "utf-8")
    first = page_modules.compute_version(web)
    assert page_modules.compute_version(web) == first
    (web / "node_modules" / "x.js").write_text("1", "utf-8")
    assert page_modules.compute_version(web) == first
    (web / "ui" / "a.js").write_text("1 + 1", "utf-8")
    second = page_modules.compute_version(web)
    (web / "ui" / "a.js").rename(web / "ui" / "b.js")
    assert len({first, second, page_modules.compute_version(web)}) == 3


def test_imports_are_read(tmp_path: Path) -> None:
    """One line or several, exports too, libraries by the map; not what is loaded on occasion, in a
    comment, or not there.
    """
    (tmp_path / "parts").mkdir()
    (tmp_path / "vendor").mkdir()
    first = """import {
      a,
      b,
    } from "./parts/b.js";
    """.replace("\n    ", "\n")
    first += (
        'import { lib } from "lib";\nimport "./parts/plain.js";\nexport { c } from '
        '"./parts/c.js";\n'
    )
    first += (
        '// import { x } from "./parts/x.js";\nconst later = () => '
        'import("./parts/x.js");\nimport y from "./nowhere.js";\n'
    )
    (tmp_path / "first.js").write_text(first, "utf-8")
    (tmp_path / "parts" / "b.js").write_text(
        'import { c } from "./c.js";\nimport { top } from "../first.js";\n', "utf-8"
    )
    for name in ("plain", "c", "x"):
        (tmp_path / "parts" / f"{name}.js").write_text("export const c = 1;\n", "utf-8")
    (tmp_path / "vendor" / "lib.js").write_text(
        'import{n as t}from"./more.js";const f="from";export{t};', "utf-8"
    )
    (tmp_path / "vendor" / "more.js").write_text("export const n=1;", "utf-8")
    found = page_modules.find_needed_modules("first.js", {"lib": "/assets/vendor/lib.js"}, tmp_path)
    assert found == [
        "first.js",
        "parts/b.js",
        "vendor/lib.js",
        "parts/plain.js",
        "parts/c.js",
        "vendor/more.js",
    ]


HOSTILE = [
    "../http/page/page_routes.py",
    "..%2f..%2fhttp%2fpage.py",
    "%2e%2e/%2e%2e/config/settings.py",
    "styles/../../http/page/page_routes.py",
    "styles/..%5c..%5chttp%5cpage.py",
    "/etc/passwd",
    "%2fetc%2fpasswd",
    "....//....//etc/passwd",
    "app.js%00.css",
    "app.js/",
    "app.js/.css",
    "",
    "styles",
    ".npmrc",
    "package.json",
    "package-lock.json",
    "vendor/vendor.toml",
    "types/libraries.d.ts",
    "node_modules/preact/dist/preact.mjs",
    "nowhere.js",
    "a" * 5000 + ".js",
]


async def test_nothing_else_is_served(client: httpx.AsyncClient) -> None:
    for path in HOSTILE:
        reply = await client.get(f"/assets/{path}")
        assert (reply.status_code, reply.json()["error"]["code"]) == (404, "not_found"), path


@pytest.mark.parametrize(
    "path", ["../http/page.js", "/etc/passwd.js", "a\\..\\b.js", "styles/../app.js", "a\0.js"]
)
def test_paths_that_a_client_would_tidy_are_refused_too(path: str) -> None:
    with pytest.raises(NotFound):
        page_routes.locate_file(path)


def test_a_link_that_leads_out_is_not_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "secret.js").write_text("secret", "utf-8")
    (tmp_path / "web").mkdir()
    (tmp_path / "web" / "linked.js").symlink_to(tmp_path / "secret.js")
    monkeypatch.setattr(page_routes, "WEB", tmp_path / "web")
    with pytest.raises(NotFound):
        page_routes.locate_file("linked.js")


async def test_the_page_changes_nothing(client: httpx.AsyncClient) -> None:
    assert (await client.post("/assets/app.js")).status_code == 405
    assert (await client.post("/")).status_code == 405
