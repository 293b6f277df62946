"""`/api/docs`: the description for people, without scripts."""

from __future__ import annotations

import re

import httpx

from citewell.interfaces.http.page.api_page import format_kind, format_prose


async def test_every_operation_is_shown(client: httpx.AsyncClient) -> None:
    """With its parameters, body, reply and statuses; and every link leads somewhere on the page."""
    page = (await client.get("/api/docs")).text
    described = (await client.get("/api/openapi.json")).json()
    names = [said["operationId"] for each in described["paths"].values() for said in each.values()]
    assert [name for name in names if f'id="{name}"' not in page] == []
    places = set(re.findall(r'id="([^"]+)"', page))
    assert set(re.findall(r'href="#([^"]+)"', page)) - places == set()
    assert len(re.findall(r' id="', page)) == len(places)
    asked = page.partition('<div id="ask">')[2].partition("</details>")[0]
    assert '<a href="#AskRequest">AskRequest</a> as <code>application/json</code>' in asked
    assert '<a href="#Answer">Answer</a>' in asked
    assert "The body cannot be read." in asked


async def test_nothing_runs_and_nothing_comes_from_elsewhere(client: httpx.AsyncClient) -> None:
    """The policy of the page itself; no script, no style in the text, no other host."""
    shown = await client.get("/api/docs")
    policy = shown.headers["content-security-policy"]
    assert "unsafe" not in policy
    assert "script-src 'self';" in policy
    assert not re.search(r"<script|\son\w+=|\sstyle=|(?:src|href)=\"(?:https?:)?//", shown.text)
    for path in re.findall(r'href="(/[^"]*)"', shown.text):
        assert (await client.get(path)).status_code == 200


def test_kinds_in_words() -> None:
    """Links to shapes, lists, choices with their default; and nothing of a description is HTML."""
    several = {"anyOf": [{"type": "array", "items": {"$ref": "#/components/schemas/Message"}}]}
    assert format_kind(several) == 'list of <a href="#Message">Message</a>'
    choice = {"enum": ["a", "b"], "default": "a"}
    assert format_kind(choice) == "<code>a</code>, <code>b</code> (<code>&#34;a&#34;</code>)"
    assert format_prose("A `b`\nc.\n\n<i>") == "<p>A <code>b</code> c.</p><p>&lt;i&gt;</p>"
