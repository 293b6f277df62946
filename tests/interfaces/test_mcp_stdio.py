"""`citewell mcp` in a process of its own, with the official client and with bare lines."""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import pytest
from mcp import Client, StdioServerParameters, stdio_client
from tests.interfaces.test_mcp_http import BEGIN
from tests.servers.forked import Forked

PATIENCE = 240  # seconds; a machine under load starts a process slowly
COMMAND = ("-m", "citewell", "mcp")
READY = {"jsonrpc": "2.0", "method": "notifications/initialized"}
NOISY = """
import os, subprocess, sys
from citewell.interfaces.mcp import tools
async def noisy(app):
    print("noise of a print")
    os.write(1, b"noise of native code\\n")
    subprocess.run(
        [sys.executable, "-c", "import sys; print('noise of a child', sys.stdin.read())"],
        check=True)
    return []
tools.list_collections = noisy
sys.argv = ["citewell", "mcp"]
from citewell.interfaces.cli import main
main()
"""


def request(number: int, tool: str, **arguments: Any) -> dict[str, Any]:
    return {
        "jsonrpc": "2.0",
        "id": number,
        "method": "tools/call",
        "params": {"name": tool, "arguments": arguments},
    }


class Server:
    """The process, spoken to in lines."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process
        assert process.stdin
        assert process.stdout
        self._to: IO[bytes] = process.stdin
        self._from: IO[bytes] = process.stdout

    def write(self, data: bytes) -> None:
        self._to.write(data)

    def send(self, *messages: dict[str, Any]) -> None:
        self.write("".join(json.dumps(message) + "\n" for message in messages).encode())

    def reply(self, number: int) -> dict[str, Any]:
        """The reply to a request; every line before it is of the protocol too."""
        while True:
            message: dict[str, Any] = json.loads(self._from.readline())
            assert message["jsonrpc"] == "2.0"
            if message.get("id") == number:
                return message

    def begin(self) -> None:
        self.send(BEGIN)
        assert self.reply(1)["result"]["serverInfo"]["name"] == "citewell"
        self.send(READY)

    def wait_for_step(self, node: str) -> None:
        while node.encode() not in (line := self._from.readline()):
            assert line, "it has ended"

    def ended(self) -> tuple[int, bytes, str]:
        """Exit code, and what came on either output until then."""
        out, err = self.process.communicate()
        return self.process.returncode, out, err.decode()


@contextmanager
def started(environ: dict[str, str], *command: str) -> Iterator[Server]:
    pipe = subprocess.PIPE
    process = Forked(
        [sys.executable, *(command or COMMAND)],
        bufsize=0,
        stdin=pipe,
        stdout=pipe,
        stderr=pipe,
        env=environ,
    )
    too_late = threading.Timer(PATIENCE, process.kill)
    too_late.start()
    try:
        yield Server(process)
    finally:
        too_late.cancel()
        process.kill()
        process.communicate()


async def test_the_tools_with_the_official_client(environ: dict[str, str], tmp_path: Path) -> None:
    """A file of this machine is added, asked, cited by its path, and voted on, without any
    server.
    """
    file = tmp_path / "Northgate 灯塔.md"
    file.write_text(
        "# Northgate\n\nThe Northgate lighthouse was built in 1857.\n", encoding="utf-8"
    )
    server = StdioServerParameters(
        command=sys.executable, args=list(COMMAND), env={**environ, "CITEWELL_LLM": "none"}
    )
    async with asyncio.timeout(PATIENCE), Client(stdio_client(server)) as client:
        [add] = [tool for tool in (await client.list_tools()).tools if tool.name == "add_document"]
        assert {"path", "url", "text", "title", "collection"} == set(add.input_schema["properties"])
        added: Any = (
            await client.call_tool("add_document", {"path": str(file)})
        ).structured_content
        assert added["files"][0]["status"] == "added"
        said: list[str | None] = []

        async def note(progress: float, total: float | None, message: str | None) -> None:
            said.append(message)

        question = {"question": "When was the Northgate lighthouse built?", "agent": "qa"}
        reply = await client.call_tool("ask", question, progress_callback=note)
        answer: Any = reply.structured_content
        assert answer["status"] == "answered"
        assert answer["citations"][0]["url"] == file.as_uri()
        assert f"1857.[[1]]({file.as_uri()})" in reply.content[0].text  # type: ignore[union-attr]
        assert said
        text = {"text": "# Harbour\n\nThe harbour opens at six.", "title": "Harbour"}
        assert (await client.call_tool("add_document", text)).structured_content["state"] == "done"
        vote = await client.call_tool(
            "give_feedback", {"trace_id": answer["trace_id"], "is_correct": True}
        )
        assert not vote.is_error
        listed: Any = (await client.call_tool("list_collections", {})).structured_content
        assert {each["name"]: each["documents"] for each in listed["collections"]}["default"] == 2
        missing = await client.call_tool("add_document", {"path": str(tmp_path / "none.pdf")})
        assert missing.is_error
        assert "none.pdf" in missing.content[0].text  # type: ignore[union-attr]


def test_nothing_but_the_protocol_on_standard_output(environ: dict[str, str]) -> None:
    """What is printed, by us, by native code or by a child, goes to standard error; a child finds
    no input. Broken lines are answered or left, and what comes after them is read.
    """
    with started(environ, "-c", NOISY) as server:
        server.begin()
        server.write(b"not json\n\xff\xfe\n[]\n")
        server.send(request(2, "nothing_of_that_name"))
        server.reply(2)
        server.send(request(3, "list_collections"))
        assert not server.reply(3)["result"].get("isError")
        code, out, err = server.ended()
    assert (code, out) == (0, b"")
    for what in ("a print", "native code", "a child"):
        assert f"noise of {what}" in err


@pytest.fixture
def slow(environ: dict[str, str], tmp_path: Path) -> dict[str, str]:
    """A chat model that takes for ever."""
    script = tmp_path / "script.json"
    script.write_text(json.dumps([{"reply": 3.0, "delay": 600}, {"reply": "x", "delay": 600}] * 3))
    return {**environ, "CITEWELL_SCRIPTED_REPLIES": str(script)}


def add_northgate(server: Server) -> None:
    server.begin()
    text = "# N\n\nThe Northgate lighthouse was built in 1857."
    server.send(request(2, "add_document", text=text, title="N"))
    assert not server.reply(2)["result"].get("isError")


def ask_something_slow(server: Server, number: int) -> None:
    """A question that is under way: its first steps are reported."""
    asking = request(number, "ask", question="When was the lighthouse built?", agent="qa")
    asking["params"]["_meta"] = {"progressToken": "p"}
    server.send(asking)
    server.wait_for_step("DocumentRetrievalNode")


def test_cancelling_stops_the_work(slow: dict[str, str]) -> None:
    """The model is free again: a later request is not behind it, and no answer of the first one
    comes. Closed input ends the process cleanly, also while a question is under way.
    """
    with started(slow) as server:
        add_northgate(server)
        ask_something_slow(server, 3)
        cancelled = {"method": "notifications/cancelled", "params": {"requestId": 3}}
        server.send({"jsonrpc": "2.0", **cancelled})
        server.send(request(4, "search", query="lighthouse"))
        assert "1857" in json.dumps(server.reply(4)["result"])
        ask_something_slow(server, 5)
        code, out, err = server.ended()
    assert code == 0, err
    assert "Traceback" not in err
    assert b'"id":3' not in out


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it(slow: dict[str, str], number: signal.Signals) -> None:
    """Cleanly, though its input is open and a question is under way."""
    with started(slow) as server:
        add_northgate(server)
        ask_something_slow(server, 3)
        server.process.send_signal(number)
        assert server.process.wait(PATIENCE) == 0
        assert server.process.stderr is not None
        assert b"Traceback" not in server.process.stderr.read()


def test_settings_that_are_wrong_are_told_on_standard_error(environ: dict[str, str]) -> None:
    """With exit code 1, and nothing on standard output."""
    with started({**environ, "CITEWELL_LLM": "nonsense"}) as server:
        code, out, err = server.ended()
    assert (code, out) == (1, b"")
    assert "llm" in err
