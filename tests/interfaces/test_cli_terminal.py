"""The command line as its own process: on a terminal, in other locales, with signals."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
from collections.abc import Callable

import pytest
from tests.interfaces.serving import PATIENCE
from tests.interfaces.terminal import Terminal
from tests.servers.forked import run_forked

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
        await asyncio.sleep(600)
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


ASCII_ONLY = {"LC_ALL": "POSIX", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}


def command(*arguments: str) -> list[str]:
    """The driver is passed in ASCII, so that a process of any locale can read it."""
    escaped = "".join(letter if letter.isascii() else f"\\u{ord(letter):04x}" for letter in DRIVER)
    return [sys.executable, "-c", escaped, *arguments]


@pytest.fixture
def terminal(environ: dict[str, str]) -> object:
    opened: list[Terminal] = []

    def start(*arguments: str, **changes: str) -> Terminal:
        opened.append(Terminal(DRIVER, arguments, {**environ, **changes}))
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


def test_evidence_is_shown_as_soon_as_it_is_found(terminal: Callable[..., Terminal]) -> None:
    """Before the draft: title, page, heading and first words of the best three, a line each, cut to
    the window, then gone. Chinese text is wrapped by its width, and NO_COLOR leaves no colours.
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
    assert "\x1b[3" not in found + answer
    written = [line.rstrip() for line in strip_controls(after).splitlines() if "灯塔" in line]
    assert written
    for line in written:
        assert sum(2 if ord(letter) > 0x2E80 else 1 for letter in line) <= 60


def test_output_is_utf8_whatever_the_locale(environ: dict[str, str]) -> None:
    """In a pipe, with a locale that knows no Chinese: UTF-8, unbroken lines, no escape codes."""
    done = subprocess.run(
        command("ask", "When?"),
        env={**environ, **ASCII_ONLY},
        capture_output=True,
        check=False,
        timeout=60,
    )
    text = done.stdout.decode("utf-8")
    assert done.returncode == 0, done.stderr
    assert text.splitlines()[0].endswith("直到今天。[1] ✓")
    assert "\x1b" not in text


def test_port_in_use_is_told(environ: dict[str, str]) -> None:
    """One line with the port, and what to do."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        done = run_forked(command("serve", "--port", port), environ, text=True)
    assert done.returncode == 1
    assert port in done.stderr
    assert "--port" in done.stderr
    assert "Traceback" not in done.stderr
