"""`/` for browsers, the page's files under `/assets`, and its texts as `words/LANGUAGE.json` there.
A file is served only if its kind is in `KINDS`, it lies in the page's folder, and it is no part of
what builds it; and no reply of the page runs a script that is not its own. What lies below a
version (page_modules.py) is kept by browsers and never asked for again; all else is asked for each
time.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import re
from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import NamedTuple

import anyio.to_thread
from fastapi import APIRouter, Request, Response

from citewell.errors import NotFound
from citewell.interfaces.http import etag
from citewell.interfaces.http.page.page_modules import VERSION, compute_version, render_page
from citewell.interfaces.http.routes.status_routes import Root
from citewell.interfaces.http.security.guard import SAFE
from citewell.messages import LOCALE, Text, list_languages, load_page_words

router = APIRouter(include_in_schema=False)

WEB = Path(__file__).resolve().parents[2] / "web"
KINDS = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".mjs": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".woff2": "font/woff2",
    ".ttf": "font/ttf",
    ".pfb": "application/octet-stream",  # pdf.js's standard fonts
    ".bcmap": "application/octet-stream",  # and its tables of characters
}
# no part of it empty, hidden, or a way up
PATH = re.compile(r"[\w@][\w@.-]*(?:/[\w@][\w@.-]*)*", re.ASCII)
PACKED = frozenset(
    {".html", ".js", ".mjs", ".css", ".svg", ".ttf", ".json"}
)  # what gzip makes smaller
WORDS = re.compile(r"words/([a-z]{2,3})\.json", re.ASCII)
SMALL = 600  # bytes that are not worth it
LONGEST = 200
READING = ["GET", "HEAD"]
BUILDING = frozenset({"node_modules"})
# of a version's files: where one changes, the page names another version
LASTING = "public, max-age=31536000, immutable"
# The versions that pages of this process name; what lies below another is asked for anew each time.
shown: set[str] = set()
INLINE = re.compile(r'<script type="importmap">(.*?)</script>', re.DOTALL)
POLICY = (
    "default-src 'none'; script-src 'self'{inline}; style-src 'self'; img-src 'self' data: "
    "blob:; font-src 'self'; "
    "connect-src 'self'; worker-src 'self'; frame-src 'self' blob:; frame-ancestors 'none'; "
    "base-uri 'none'; form-action 'self'"
)
ANEW = "no-cache"  # asked for anew each time, sent again only when it changed


@router.api_route("/", methods=READING)
async def front(request: Request) -> Response:
    """The page for who takes HTML, a few words of JSON for programs."""
    if "text/html" not in request.headers.get("accept", ""):
        return Response(
            Root().model_dump_json(), media_type="application/json", headers={"Vary": "Accept"}
        )
    response = send_file(request, await anyio.to_thread.run_sync(_load_front), ".html")
    response.headers["Vary"] = "Accept, Accept-Encoding"
    return response


@router.api_route("/assets/{path:path}", methods=READING)
async def asset(request: Request, path: str) -> Response:
    """A file, by its own path or below a version. Raises NotFound."""
    versioned = VERSION.fullmatch(path)
    path = versioned[2] if versioned else path
    response = send_file(
        request, await anyio.to_thread.run_sync(_read_file, path), PurePosixPath(path).suffix
    )
    if versioned and versioned[1] in shown:
        response.headers["Cache-Control"] = LASTING
    return response


def send_file(request: Request, file: Loaded, suffix: str) -> Response:
    """A file of the page, packed for who takes it so, or 304 for who has it. Only what is the same
    for everybody is packed: the size of a packed reply tells of what stands in it.
    """
    packed = bool(file.packed) and can_send_gzip(request.headers.get("accept-encoding", ""))
    tag = f'"{file.digest}-gz"' if packed else f'"{file.digest}"'
    headers = {
        **SAFE,
        "Cache-Control": ANEW,
        "ETag": tag,
        "Content-Security-Policy": file.policy,
        "Vary": "Accept-Encoding",
    }
    if etag.is_cached_by_client(request, tag):
        return Response(status_code=304, headers=headers)
    if packed:
        headers["Content-Encoding"] = "gzip"
    body = file.packed if packed else file.body
    return Response(body, media_type=KINDS.get(suffix, "application/json"), headers=headers)


def can_send_gzip(accepted: str) -> bool:
    """Whether an `Accept-Encoding` allows it, as RFC 9110 reads it: `*` means what is not named,
    `q=0` means not.
    """
    said: dict[str, bool] = {}
    for part in accepted.lower().split(","):
        name, _, weight = part.partition(";")
        said[name.strip()] = not re.fullmatch(r"q=0(\.0*)?", weight.replace(" ", ""))
    return said.get("gzip", said.get("*", False))


class Loaded(NamedTuple):
    """A file of the page. `packed`: by gzip; empty where that is not worth it."""

    body: bytes
    packed: bytes
    digest: str
    policy: str


def _read_file(path: str) -> Loaded:
    if (words := WORDS.fullmatch(path)) and words[1] in list_languages():
        return _load_words(words[1])
    file = locate_file(path)
    about = file.stat()
    return _load_file(file, about.st_mtime_ns, about.st_size)


def locate_file(path: str) -> Path:
    """The file of a path below `/assets`. Raises NotFound for one that is not served."""
    plain = (
        PATH.fullmatch(path) and len(path) <= LONGEST and not BUILDING.intersection(path.split("/"))
    )
    if plain and PurePosixPath(path).suffix in KINDS:
        file = WEB / path
        if file.is_file() and file.resolve().is_relative_to(WEB):
            return file
    raise NotFound(Text("the page has no file {path!r}", path=path[:200]))


@lru_cache(maxsize=512)
def _load_file(file: Path, _changed: int, _size: int) -> Loaded:
    """A file as it is now; read and packed anew when it changes."""
    return _prepare_file(file.read_bytes(), file.suffix)


@lru_cache
def _load_words(language: str) -> Loaded:
    return _prepare_file(
        json.dumps(load_page_words(language), ensure_ascii=False).encode(), ".json"
    )


def _load_front() -> Loaded:
    """The page itself, as it is now."""
    version = compute_version(WEB, LOCALE)
    shown.add(version)
    return _render_front(WEB, version)


@lru_cache(maxsize=2)
def _render_front(web: Path, version: str) -> Loaded:
    page = (web / "index.html").read_text("utf-8")
    return _prepare_file(render_page(page, web, version, list_languages()).encode(), ".html")


def _prepare_file(body: bytes, suffix: str) -> Loaded:
    inline = (
        "".join(f" 'sha256-{compute_csp_hash(text)}'" for text in INLINE.findall(body.decode()))
        if suffix == ".html"
        else ""
    )
    packed = gzip.compress(body, 9, mtime=0) if suffix in PACKED and len(body) >= SMALL else b""
    return Loaded(body, packed, hashlib.sha256(body).hexdigest()[:32], POLICY.format(inline=inline))


def compute_csp_hash(text: str) -> str:
    """As a content security policy wants the hash of an inline script."""
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
