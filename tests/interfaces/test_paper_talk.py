"""`citewell paper` on a terminal: the conversation from the interest to the end of the input.

The one rule: a pseudo-terminal of 60 columns, and the test goes on when the prompt is there.
"""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.interfaces.terminal import Terminal

PAPER = next((Path(__file__).resolve().parents[2] / "samples" / "papers").glob("reserve-*.pdf"))
QUESTION = "Which data was the history network trained on?"
DRIVER = """
import asyncio
from citewell.interfaces.cli import main
from citewell.service.ask import ask_paper
whole = ask_paper.WORK["ask"]
async def ask(talk, stage):
    if "slow" in talk.run.request.question:
        print("it is slow now", flush=True)
        await asyncio.sleep(600)
    await whole(talk, stage)
ask_paper.WORK["ask"] = ask
main()
"""


class Talk(Terminal):
    """`citewell paper`; what is read is as people see it."""

    def until(self, words: str, *, bare: bool = True) -> str:
        return super().until(words, bare=bare)

    def line(self, text: str) -> None:
        """Typed at the prompt."""
        self.until("> ")
        self.write(text + "\n")


@pytest.fixture
def terminal(environ: dict[str, str]) -> Iterator[Talk]:
    opened = Talk(DRIVER, ("paper", str(PAPER)), environ)
    yield opened
    opened.close()


def test_a_conversation(terminal: Talk, tmp_path: Path) -> None:
    """Report, interest, route, question, marked words, ticks, another route, export; Ctrl-C ends an
    answer only.
    """
    report = terminal.until("(Enter alone: all of it)")
    assert "Contributions" in report
    body = report.partition("Contributions")[2].partition("Quotes")[0]
    assert 40 < max(len(line.rstrip()) for line in body.splitlines()) <= 60
    terminal.line("energy model")
    terminal.until("Interest: energy model")
    terminal.line(QUESTION)
    terminal.until("confidence")
    terminal.line("/done 1")
    terminal.until("1 [x]")
    terminal.line("/undo 1")
    terminal.until("1 [ ]")
    terminal.line("/quote history network")
    terminal.until("the next question is about these words")
    terminal.until("» ")
    terminal.write("What is slow about it?\n")
    terminal.until("it is slow now")
    terminal.process.send_signal(signal.SIGINT)
    terminal.until("stopped")
    terminal.until("» ")
    terminal.write("What is it?\n")
    terminal.until("refused · ")
    terminal.line("/explain history network")
    terminal.until("refused · ")
    terminal.line("/route")
    terminal.until("The paper in short.")
    terminal.line("/nonsense")
    terminal.until("/nonsense: no such command")
    terminal.line("/done 99")
    terminal.until("no step '99'")
    file = tmp_path / "notes.md"
    terminal.line(f"/export {file}")
    terminal.until("written to")
    terminal.line("/help")
    terminal.until("/export FILE")
    terminal.line("/report")
    terminal.until("Contributions")
    terminal.line("/quit")
    assert terminal.process.wait(120) == 0
    text = file.read_text("utf-8")
    assert QUESTION in text
    assert "slow" not in text.partition("## Conversation")[2]


def test_enter_alone_and_the_end_of_the_input(terminal: Talk) -> None:
    """The route through all of the paper; Ctrl-D ends well."""
    terminal.until("(Enter alone: all of it)")
    terminal.line("")
    terminal.until("The paper in short.")
    terminal.until("> ")
    terminal.write("\x04")
    assert terminal.process.wait(120) == 0
