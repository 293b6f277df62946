"""The command line as its own process: on a terminal, in other locales, with signals."""

from __future__ import annotations

import codecs
import json
import os
import pty
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable

import httpx
import pytest
from tests.interfaces.serving import PATIENCE

from citewell.interfaces.cli.output.terminal import strip_controls

# the command line with an agent that says half a draft and then waits for ever, or answers in two
# languages at once
DRIVER = """
import asyncio, sys
from citewell.types import Answer, Citation, Event, Sentence, Step
from citewell.interfaces.cli import main
from citewell.interfaces.cli.ask import ask, chat

TEXT = "灯塔建于一八五七年，塔身为红色，高三十米，\
每天夜里都亮着灯，为来往的船只指明方向，直到今天。"

async def stream(app, request):
    yield Event("step", Step(n=1, node="InputValidationNode", action="default", seconds=0.1))
    yield Event("step", Step(
        n=2, node="DocumentRetrievalNode", action="generate_answer", seconds=0.1,
        detail={"evidence": [
            {"title": "灯塔\\x1b[31m手册", "page": 3, "section": "灯塔手册 › 建造", "text": TEXT},
            {"title": "Lighthouses", "page": None, "section": "Lighthouses",
             "text": "Built [bold]in\\n1857."},
            {"title": "Third", "page": None, "section": "", "text": "x"},
            {"title": "Fourth", "page": None, "section": "", "text": "x"},
        ]}))
    if "search" in request.question:
        await asyncio.sleep(1)
    yield Event("token", "Draft of the answer")
    if "slow" in request.question:
        await asyncio.sleep(60)
    yield Event("answer", Answer(
        answer=TEXT + "[1]",
        sentences=[Sentence(text=TEXT, citations=[1], verdict="supported")],
        citations=[Citation(
            n=1, doc_id="d", title="灯塔手册", uri="/a", page=3,
            quote="灯塔建于一八五七年。", start=0, end=9)],
        status="answered", confidence=0.9, agent="qa", session_id="ses_1"))

ask.stream_answer = chat.stream_answer = stream
main()
"""


def command(*arguments: str, program: str = DRIVER) -> list[str]:
    """The driver is passed in ASCII, so that a process of any locale can read it."""
    escaped = "".join(letter if letter.isascii() else f"\\u{ord(letter):04x}" for letter in program)
    return [sys.executable, "-c", escaped, *arguments]


class Terminal:
    """A process on a pseudo-terminal of 60 columns."""

    def __init__(self, arguments: list[str], environ: dict[str, str]) -> None:
        self.fd, inner = pty.openpty()
        size = {"COLUMNS": "60", "LINES": "24"}
        self.process = subprocess.Popen(
            arguments,
            stdin=inner,
            stdout=inner,
            stderr=inner,
            env={**environ, **size},
            start_new_session=True,
            close_fds=True,
        )
        os.close(inner)
        self.unread = ""
        self.decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def until(self, words: str, seconds: float = PATIENCE) -> str:
        """Read until `words` are on the screen; the text since the last call, `words` included."""
        deadline = time.monotonic() + seconds
        while words not in self.unread:
            assert time.monotonic() < deadline, f"{words!r} did not come: {self.unread!r}"
            if select.select([self.fd], [], [], 0.1)[0]:
                try:
                    self.unread += self.decoder.decode(os.read(self.fd, 65536))
                except OSError:
                    break
        text, found, self.unread = self.unread.partition(words)
        assert found, text
        return text + found

    def write(self, text: str) -> None:
        os.write(self.fd, text.encode())

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(PATIENCE)
        os.close(self.fd)


@pytest.fixture
def terminal(environ: dict[str, str]) -> object:
    opened: list[Terminal] = []

    def start(*arguments: str, **changes: str) -> Terminal:
        opened.append(Terminal(command(*arguments), {**environ, **changes}))
        return opened[-1]

    yield start
    for each in opened:
        each.close()


def test_ctrl_c_ends_an_answer_but_not_the_chat(terminal: Callable[..., Terminal]) -> None:
    """The draft stops, the prompt is back, the next question is answered, Ctrl-D ends with 0."""
    chat = terminal("chat")
    chat.until("> ")
    chat.write("a slow question\n")
    chat.until("Draft")
    chat.process.send_signal(signal.SIGINT)
    chat.until("> ")
    chat.write("何时建成？\n")
    chat.until("来源")
    chat.until("> ")
    chat.write("\x04")
    assert chat.process.wait(PATIENCE) == 0


def test_ctrl_c_ends_ask_with_130(terminal: Callable[..., Terminal]) -> None:
    """One line, no traceback."""
    ask = terminal("ask", "a slow question")
    ask.until("Draft")
    ask.process.send_signal(signal.SIGINT)
    assert "Traceback" not in ask.until("stopped")
    assert ask.process.wait(PATIENCE) == 130


def test_sixty_columns_and_no_colour(terminal: Callable[..., Terminal]) -> None:
    """Chinese text is wrapped by its width, and NO_COLOR leaves no colours."""
    ask = terminal("ask", "何时建成？", NO_COLOR="1")
    text = ask.until("置信度")
    assert "\x1b[3" not in text
    lines = [
        line for line in text.replace("\r", "").split("\n") if "灯塔" in line and "\x1b" not in line
    ]
    assert lines
    assert all(
        sum(2 if ord(letter) > 0x2E80 else 1 for letter in line.rstrip()) <= 60 for line in lines
    )


def test_evidence_is_shown_as_soon_as_it_is_found(terminal: Callable[..., Terminal]) -> None:
    """Before the draft: title, page, heading and first words of the best three, a line each, cut to
    the window, then gone.
    """
    ask = terminal("ask", "search: 何时建成？", NO_COLOR="1")
    found = ask.until("Draft")
    lines = [line.strip() for line in strip_controls(found).splitlines()]
    [chinese] = {line for line in lines if line.startswith("灯塔手册 · 第 3 页 · 建造  灯塔建于")}
    assert chinese.endswith("…")
    assert 56 <= 2 + sum(2 if ord(letter) > 0x2E80 else 1 for letter in chinese) <= 60
    assert "Lighthouses  Built [bold]in 1857." in lines
    assert "Third  x" in lines
    assert "Fourth" not in found
    assert "\x1b[31m手册" not in found
    answer = ask.until("置信度")
    after = answer[answer.rindex("\x1b[2K") :]  # what is written once the live view is erased
    assert "来源" in after
    assert "Lighthouses" not in after


@pytest.mark.parametrize(
    "locale",
    [
        {"LANG": "C", "LC_ALL": "C"},
        {"LC_ALL": "POSIX", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    ],
)
def test_output_is_utf8_whatever_the_locale(
    environ: dict[str, str], locale: dict[str, str]
) -> None:
    """In a pipe, with a locale that knows no Chinese: UTF-8, unbroken lines, no escape codes."""
    done = subprocess.run(
        command("ask", "When?"),
        env={**environ, **locale},
        capture_output=True,
        check=False,
        timeout=60,
    )
    text = done.stdout.decode("utf-8")
    assert done.returncode == 0, done.stderr
    assert text.splitlines()[0].endswith("直到今天。[1] ✓")
    assert "\x1b" not in text


def wait_for_url(process: subprocess.Popen[bytes]) -> str:
    """The address that `serve --json` prints."""
    assert process.stdout is not None
    text = b""
    while not text.rstrip().endswith(b"}"):
        line = process.stdout.readline()
        assert line, process.stderr.read().decode() if process.stderr else ""
        text += line
    url: str = json.loads(text)["url"]
    return url


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_serve_stops_cleanly_with_an_open_stream(
    environ: dict[str, str], number: signal.Signals
) -> None:
    """Without a grace: within seconds, with exit 0 and nothing on standard error, the stream ended
    by an event.
    """
    imports = "from citewell.interfaces.cli.ask import ask, chat"
    of_http = (
        "from citewell.interfaces.cli.ask import chat\n"
        "from citewell.interfaces.http.routes import ask_routes as ask"
    )
    arguments = command("serve", "--port", "0", "--json", program=DRIVER.replace(imports, of_http))
    environ = environ | {"CITEWELL_STOP_SECONDS": "0"}
    with subprocess.Popen(
        arguments, env=environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        try:
            url = wait_for_url(process)
            headers = {"Accept": "text/event-stream"}
            with httpx.stream(
                "POST",
                f"{url}/api/ask",
                json={"question": "slow"},
                headers=headers,
                trust_env=False,
                timeout=PATIENCE,
            ) as reply:
                lines = reply.iter_lines()
                assert next(lines) == "event: step"
                process.send_signal(number)
                assert "stopping" in "".join(lines)
            assert process.wait(PATIENCE) == 0
            assert process.stderr is not None
            assert process.stderr.read() == b""
        finally:
            process.kill()


def test_port_in_use_is_told(environ: dict[str, str]) -> None:
    """One line with the port, and what to do."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        done = subprocess.run(
            command("serve", "--port", port),
            env=environ,
            capture_output=True,
            check=False,
            timeout=60,
        )
    assert done.returncode == 1
    assert port in done.stderr.decode()
    assert "--port" in done.stderr.decode()
    assert "Traceback" not in done.stderr.decode()
