"""docs/cli.md and docs/http.md name all that there is: every command, every path, every agent and
option of a question.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from citewell.interfaces.cli.commands import COMMANDS
from citewell.interfaces.http import create_app
from citewell.runtime.app import App
from citewell.service.ask.agent_runners import AGENTS
from citewell.service.ask.options import AskOptions, SearchOptions

DOCS = Path(__file__).parents[2] / "docs"
WHOLE = ("/api/", "/v1/", "/metrics")  # how a path begins that is not short for another


def rows(name: str) -> list[str]:
    """The lines of the page's tables, without their escapes."""
    text = (DOCS / name).read_text("utf-8").replace("\\|", "|")
    return [line for line in text.splitlines() if line.startswith("|")]


def test_every_command_is_in_the_page() -> None:
    """A group's commands stand in one row: `citewell data list|show NAME|remove NAME`."""
    groups: dict[str, set[str]] = {}
    for row in rows("cli.md"):
        for said in re.findall(r"`citewell ([^`]+)`", row):
            name, _, rest = said.partition(" ")
            groups.setdefault(name, set()).update(re.findall(r"(?:^|\|)([a-z]+)\b", rest))
    groups["trace"].add("show")  # `citewell trace TRACE_ID` is short for it
    missing = [name for name in COMMANDS if name not in groups]
    for name, place in COMMANDS.items():
        missing += [
            f"{name} {each}"
            for each in getattr(place.load(), "commands", {})
            if each not in groups.get(name, ())
        ]
    assert missing == []


def shape(path: str) -> str:
    """The path whatever its parameters are called, and without a query."""
    return re.sub(r"\{[^}]*\}", "{}", path.partition("?")[0])


def test_every_path_is_in_the_page(app: App) -> None:
    """Several of one resource stand in one row, in short: `.../confirm`, `/export`."""
    named: set[str] = set()
    for row in rows("http.md"):
        said = [shape(each) for each in re.findall(r"((?:/|\.\.\./)[a-z][^\s`,]*)", row)]
        whole = [each for each in said if each.startswith(WHOLE)]
        short = [each.removeprefix("...") for each in said if not each.startswith(WHOLE)]
        named |= {*whole, *(base + tail for base in whole for tail in short)}
        named |= {base.rpartition("/")[0] + tail for base in whole for tail in short}
    described = create_app(app).openapi()["paths"]
    assert len(described) > 30
    assert [path for path in described if shape(path) not in named] == []


@pytest.mark.parametrize(
    "what", [*AGENTS, *sorted(set(AskOptions.model_fields) - set(SearchOptions.model_fields))]
)
def test_what_a_question_may_say_is_in_the_page(what: str) -> None:
    asked = next(row for row in rows("http.md") if row.startswith("| `POST /api/ask`"))
    assert f"`{what}`" in asked
