"""`If-None-Match`, on every path that has tags."""

from __future__ import annotations

import httpx
import pytest


@pytest.mark.parametrize("path", ["/assets/said.js", "/widget.js", "/"])
async def test_who_has_it_gets_304(client: httpx.AsyncClient, path: str) -> None:
    """By its tag, among others, as a weak one, or by `*`; not by another one, nor by a star that is
    only part of the list.
    """
    accept = {"Accept": "text/html"}
    whole = await client.get(path, headers=accept)
    tag = whole.headers["etag"]
    assert (whole.status_code, bool(whole.content)) == (200, True)
    for known in (tag, f'"x", {tag}', f"W/{tag}", "*"):
        reply = await client.get(path, headers=accept | {"If-None-Match": known})
        assert (reply.status_code, reply.content, reply.headers["etag"]) == (304, b"", tag), known
    for known in ('"x"', "", '"*"', tag.strip('"')):
        assert (
            await client.get(path, headers=accept | {"If-None-Match": known})
        ).status_code == 200, known


async def test_the_page_is_as_safe_as_the_rest(client: httpx.AsyncClient) -> None:
    """The same headers, and those of its own."""
    page, api = (
        (await client.get("/assets/said.js")).headers,
        (await client.get("/api/health")).headers,
    )
    for name in (
        "Cross-Origin-Opener-Policy",
        "Permissions-Policy",
        "Referrer-Policy",
        "X-Frame-Options",
    ):
        assert page[name] == api[name], name
    assert page["Cache-Control"] == "no-cache"
