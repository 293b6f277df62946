"""Every way in takes strings that want to be run, written down, or obeyed: they are refused or
kept, and never a fault.

The one rule: what is kept comes back letter by letter; half characters, which no reply could carry,
are refused or replaced.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml
from mcp import Client
from tests.interfaces.fuzzing import Known, seed, serving
from tests.page.hostile import MARK, OURS, theirs

from citewell.config import Settings
from citewell.interfaces.cli.output.terminal import print_json, strip_controls
from citewell.interfaces.http.routes.document_routes import format_disposition

REFUSED = {400, 404, 409, 413, 422}
LONG = ("x" * 100_000, "字" * 100_000, "[" * 50_000 + "]" * 50_000, "<b>" * 30_000, "a " * 50_000)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[httpx.Client, Known]]:
    home = tmp_path_factory.mktemp("home")
    settings = Settings(
        home=home, cache=home / "cache", llm="scripted", embedder="scripted", reader="scripted"
    )
    with (
        serving(settings) as (url, token),
        httpx.Client(base_url=url, timeout=120, trust_env=False) as client,
    ):
        yield client, seed(url, token)


def ways(known: Known, text: str) -> Iterator[tuple[str, str, Any]]:
    """Every text that a program can send: method, path, body."""
    session, trace, paper = (
        known.kept["session_id"][0],
        known.kept["trace_id"][0],
        known.kept["papers"][0],
    )
    table = known.kept["sources"][0]
    chat = {"model": "citewell/qa:kept", "messages": [{"role": "user", "content": text}]}
    yield "POST", "/api/ask", {"question": text, "collection": "kept"}
    yield (
        "POST",
        "/api/ask",
        {"question": "When?", "history": [{"role": "user", "content": text}], "collection": "kept"},
    )
    yield (
        "POST",
        "/api/ask",
        {
            "question": "When?",
            "agent": text,
            "session_id": text,
            "collection": text,
            "resume": text,
        },
    )
    yield (
        "POST",
        "/api/ask",
        {"question": "When was it built?", "user_id": text, "collection": "kept"},
    )
    yield "POST", "/api/ask", {"question": text, "agent": "data", "options": {"source": table}}
    yield "POST", "/api/ask", {"question": text, "options": {text: text}}
    yield (
        "POST",
        "/api/search",
        {"query": text, "collection": "kept", "types": [text], "doc_ids": [text]},
    )
    yield "POST", "/api/collections", {"name": text}
    yield "PATCH", f"/api/sessions/{session}", {"title": text}
    yield "POST", "/api/feedback", {"trace_id": trace, "is_correct": False, "user_correction": text}
    yield "POST", "/api/feedback", {"trace_id": text, "is_correct": True, "user_id": text}
    yield (
        "PUT",
        f"/api/data/sources/{table}/description",
        {"text": text},
    )
    yield "POST", "/api/data/sources", {"url": text, "name": text}
    yield "POST", "/api/collections/kept/documents", {"url": text}
    yield "POST", f"/api/papers/{paper}/messages", {"text": text, "message_id": text[:100]}
    yield "POST", f"/api/papers/{paper}/plan", {"interest": text}
    yield "PATCH", f"/api/papers/{paper}", {"title": text}
    yield "PATCH", f"/api/papers/{paper}/plan", {"edits": [{"edit": text, "text": text}]}
    yield "POST", "/api/sign-in", {"token": text}
    yield "POST", "/v1/chat/completions", chat
    yield "POST", "/v1/chat/completions", {**chat, "model": text, "user": text}
    yield "POST", "/v1/embeddings", {"model": "scripted", "input": text}
    yield (
        "POST",
        f"/api/knowledge/rules/{text[:50]!r}".replace("/", "_").replace("?", "_").replace("#", "_"),
        {"state": "active", "reason": text},
    )


def send(client: httpx.Client, method: str, path: str, body: Any) -> httpx.Response:
    """As JSON in ASCII: so half characters can be sent, and control characters."""
    quoted = httpx.URL(path.encode("utf-8", "replace").decode())
    reply = client.request(
        method,
        quoted,
        content=json.dumps(body).encode(),
        headers={"Content-Type": "application/json"},
    )
    assert reply.is_success or reply.status_code in REFUSED, (
        f"{method} {path} {str(body)[:300]}: {reply.status_code} {reply.text[:300]}"
    )
    told = reply.json() if reply.content else {}
    assert reply.is_success or told["error"]["message"]
    return reply


def test_every_input(server: tuple[httpx.Client, Known]) -> None:
    client, known = server
    for text in OURS:
        for way in ways(known, text):
            send(client, *way)


def test_every_input_with_theirs(server: tuple[httpx.Client, Known], shared_data: Path) -> None:
    """Each string by a few of the ways, so that all ways have had many, and all strings were
    sent.
    """
    client, known = server
    for n, text in enumerate(theirs(shared_data)):
        for way in list(ways(known, text))[n % 8 :: 8]:
            send(client, *way)


@pytest.mark.parametrize("text", LONG, ids=["letters", "characters", "brackets", "tags", "words"])
def test_a_hundred_thousand_characters(text: str, server: tuple[httpx.Client, Known]) -> None:
    client, known = server
    for way in ways(known, text):
        if way[0] != "POST" or "rules" not in way[1]:
            send(client, *way)


def words(text: str) -> str:
    """Its beginning; lines may have become spaces, and control characters nothing."""
    return "".join(sign for sign in text if sign.isprintable() and sign != " ")[:40]


def test_what_is_kept_comes_back(server: tuple[httpx.Client, Known]) -> None:
    client, known = server
    session, table = known.kept["session_id"][0], known.kept["sources"][0]
    for text in OURS:
        whole = text.encode("utf-8", "replace").decode() == text
        reply = send(client, "PATCH", f"/api/sessions/{session}", {"title": text})
        if whole and reply.is_success:
            title = str(client.get(f"/api/sessions/{session}").json()["title"])
            assert words(title) == words(text)
        given = {"text": yaml.safe_dump({"terms": {MARK: text}}, allow_unicode=True)}
        there = f"/api/data/sources/{table}/description"
        if whole and send(client, "PUT", there, given).is_success:
            assert client.get(there).json()["text"] == given["text"]


def send_named(client: httpx.Client, n: int, name: str) -> str:
    """The job of a file of this name, "" where the name is refused."""
    path, text = f"/api/collections/names{n}/documents", f"# Quay {n}\n\nQuay {n} is long.\n"
    reply = client.post(path, files={"file": (name, text)})
    assert reply.status_code in {202, 422}, reply.text
    return str(reply.json()["job_id"]) if reply.status_code == 202 else ""


def test_names_and_headers(server: tuple[httpx.Client, Known]) -> None:
    """File names, header values and addresses; nothing of them becomes a header of a reply, or a
    line of its own.
    """
    client, _ = server
    names = [text.encode("utf-8", "replace").decode() for text in OURS]
    jobs = [send_named(client, n, name) for n, name in enumerate(names)]
    for n, (name, job) in enumerate(zip(names, jobs, strict=True)):
        if job:
            client.get(f"/api/jobs/{job}/events")
            told = client.get(f"/api/jobs/{job}").json()
            kept = client.get(f"/api/collections/names{n}/documents").json()
            assert "documents" in kept or told["result"]["files"][0]["reason"], told
            for each in kept.get("documents", []):
                file = client.get(f"/api/documents/{each['doc_id']}/file")
                assert "set-cookie" not in file.headers
                assert file.headers["content-disposition"].isascii()
        value = name.encode()
        if not any(sign < 32 or sign == 127 for sign in value):  # others no client sends
            said = [
                (each, value)
                for each in (
                    b"X-Request-Id",
                    b"Origin",
                    b"Authorization",
                    b"User-Agent",
                    b"Accept-Language",
                )
            ]
            assert client.get("/api/health", headers=said).status_code == 200
            assert (
                client.post("/api/ask", headers=said, json={"question": "When?"}).status_code == 403
            )


async def test_every_argument_of_every_tool(server: tuple[httpx.Client, Known]) -> None:
    """Over MCP: a result, or an error in words."""
    async with Client(f"{server[0].base_url}/mcp") as client:
        tools = (await client.list_tools()).tools
        assert len(tools) > 4
        for text in OURS:
            said = text.encode(
                "utf-8", "replace"
            ).decode()  # its client sends UTF-8, which half characters are not
            for tool in tools:
                fields = tool.input_schema["properties"]
                given = {
                    name: said
                    for name, each in fields.items()
                    if "string" in str(each) and name != "agent"
                }
                required = {
                    name: True for name, each in fields.items() if each.get("type") == "boolean"
                }
                result = await client.call_tool(tool.name, {**required, **given})
                told = " ".join(getattr(part, "text", "") for part in result.content)
                assert "internal error" not in told.lower(), (tool.name, text)
                assert "Traceback" not in told


def test_a_name_is_no_header() -> None:
    for text in OURS:
        header = format_disposition(f"upload:{text}")
        header.encode("ascii")
        assert not any(sign in header for sign in "\r\n\0")
        assert header.count('"') == 2


def test_deep_json(server: tuple[httpx.Client, Known]) -> None:
    client, _ = server
    for body in (
        b"[" * 100_000,
        b'{"question":' * 50_000,
        b'{"question": 1e999999}',
        b"\xff\xfe",
        b'{"question": "\\ud800"}',
        b"nul",
        b"",
    ):
        reply = client.post("/api/ask", content=body, headers={"Content-Type": "application/json"})
        assert reply.status_code in {400, 422}, (body[:30], reply.text[:200])
        assert reply.json()["error"]["message"]


def test_nothing_of_it_reaches_a_terminal() -> None:
    """What the command line prints went through `strip_controls`: no sequence, no control, no mark
    that turns the reading direction.
    """
    for text in (
        *OURS,
        "\x9b31m",
        "\x1bP1;2|x\x1b\\",
        "\x1b_x\x1b\\",
        "\x1b]0;t\x07",
        "\u061c\u200b\u2028\u2029",
        "a\rb",
        "\x1b[?1049h",
        "\x1bc",
    ):
        shown = strip_controls(text)
        assert not any(ord(sign) < 32 and sign not in "\n\t" for sign in shown), repr(shown)
        assert not any(
            sign in shown
            for sign in "\x7f\x9b\x90\x9d\u202e\u202a\u2066\u2069\u200e\u200f\u061c\u2028\u2029"
        ), repr(shown)
        shown.encode()


def test_nor_what_is_printed_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    print_json({"text": [*OURS, "\x9b31m\x7f\u061c"]})
    shown = capsys.readouterr().out
    assert not any(
        (ord(sign) < 32 and sign != "\n") or sign in "\x7f\x9b\u202e\u2066\u061c" for sign in shown
    )
    assert json.loads(shown)["text"][0] == OURS[0]
    assert json.loads(shown)["text"][-1] == "\x9b31m\x7f\u061c"
