"""`/widget.js`: the chat element for pages of other sites, as one script that needs nothing else.
It is written as modules (web/widget/) and sent as one script: its parts in order, without their
imports, inside a function of their own, so that a page may load it as it likes and none of its
names becomes the page's.
"""

from __future__ import annotations

import hashlib
import re
from functools import lru_cache

import anyio.to_thread
from fastapi import APIRouter, Request, Response

from citewell.interfaces.http import etag
from citewell.interfaces.http.page.page_routes import KINDS, READING, WEB

router = APIRouter(include_in_schema=False)

FOLDER = WEB / "widget"
# each after what it imports
PARTS = ("dom", "words", "text", "line", "keep", "answer", "asking", "style", "chat", "start")
IMPORT = re.compile(r'^import \{[^}]*\} from "\./(\w+)\.js";\n', re.MULTILINE)
EXPORT = re.compile(r"^export (?=(?:async )?function|class|const)", re.MULTILINE)
HEADERS = {
    # for type=module and integrity=; it says nothing of anybody
    "Access-Control-Allow-Origin": "*",
    # pages load it often; a new version is there within minutes
    "Cache-Control": "public, max-age=300",
    "Cross-Origin-Resource-Policy": "cross-origin",
    "X-Content-Type-Options": "nosniff",
}


@router.api_route("/widget.js", methods=READING)
async def widget(request: Request) -> Response:
    """The script, or 304 for who has it."""
    body, tag = await anyio.to_thread.run_sync(load_script)
    headers = {**HEADERS, "ETag": tag}
    if etag.is_cached_by_client(request, tag):
        return Response(status_code=304, headers=headers)
    return Response(body, media_type=KINDS[".js"], headers=headers)


def load_script() -> tuple[bytes, str]:
    """The script and its ETag; read anew when a part changes."""
    return _join_parts(tuple(f"{(FOLDER / f'{part}.js').stat().st_mtime_ns}" for part in PARTS))


@lru_cache(maxsize=2)
def _join_parts(_changed: tuple[str, ...]) -> tuple[bytes, str]:
    parts = [
        EXPORT.sub("", IMPORT.sub("", (FOLDER / f"{part}.js").read_text("utf-8"))) for part in PARTS
    ]
    text = (
        '/* Citewell: docs/widget.md */\n(() => {\n"use strict";\n' + "\n".join(parts) + "})();\n"
    )
    body = text.encode()
    return body, f'"{hashlib.sha256(body).hexdigest()[:32]}"'
