"""docs/cli.md and docs/http.md name all that there is: every command, every path, every agent and
option of a question. docs/architecture.md leads to what there is.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from pydantic import BaseModel

from citewell.config import Settings
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


def define(node: ast.AST, within: str = "") -> Iterator[str]:
    """Names that a module defines, those of a class as `Class.name`."""
    for each in ast.iter_child_nodes(node):
        if isinstance(each, ast.ClassDef):
            yield each.name
            yield from define(each, f"{each.name}.")
        elif isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef):
            yield within + each.name
        elif isinstance(each, ast.Assign | ast.AnnAssign):
            targets = each.targets if isinstance(each, ast.Assign) else [each.target]
            yield from (within + name.id for name in targets if isinstance(name, ast.Name))


def test_links_to_the_source_lead_to_what_they_name() -> None:
    """Never to a line, which moves: to a file, and a name stands in the link or right before it."""
    text = (DOCS / "architecture.md").read_text("utf-8")
    link = re.compile(r"(?:`([\w.]+)`\s\(?)?\[([^\]]+)\]\((\.\./src/[^)]*)\)")
    links = [
        (target, re.search(r" `([\w.]+)`$", label), before)
        for before, label, target in link.findall(text)
    ]
    assert len(links) == text.count("](../src/") > 50
    for target, inside, before in links:
        file = DOCS / target
        assert file.is_file(), target
        name = inside[1] if inside else before
        assert name in set(define(ast.parse(file.read_text("utf-8")))), (target, name)


def list_anchors(page: Path) -> set[str]:
    """Of its headings, as Git hosts make them."""
    text = re.sub(r"```.*?```", "", page.read_text("utf-8"), flags=re.DOTALL)
    titles = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.strip().lower()).replace(" ", "-") for title in titles}


def test_links_lead_somewhere() -> None:
    """Every link of the pages into the repository names a file, and a heading of it where it names
    one.
    """
    root = DOCS.parent
    pages = [*root.glob("*.md"), *DOCS.glob("*.md")]
    lost = []
    for page in pages:
        for link in re.findall(r"\]\((?!https?:|mailto:)([^)\s]+)\)", page.read_text("utf-8")):
            name, _, heading = link.partition("#")
            there = page.parent / name if name else page
            named = heading in list_anchors(there) if heading and there.suffix == ".md" else True
            if not there.exists() or not named:
                lost.append(f"{page.name}: {link}")
    assert lost == []


def test_settings_that_are_named_are_there() -> None:
    """As variables, in the pages and in what builds a container."""
    root = DOCS.parent
    files = [*root.glob("*.md"), *DOCS.glob("*.md"), root / "Dockerfile", root / "compose.yaml"]
    text = "\n".join(file.read_text("utf-8") for file in files if file.name != "CHANGELOG.md")
    groups = {
        name: set(field.annotation.model_fields)
        for name, field in Settings.model_fields.items()
        if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel)
    }
    known = {"CITEWELL_CONFIG", "CITEWELL_FUZZ", "CITEWELL_PICTURES"}
    known |= {f"CITEWELL_{name.upper()}" for name in Settings.model_fields}
    known |= {f"CITEWELL_{name.upper()}__{key.upper()}" for name in groups for key in groups[name]}
    assert set(re.findall(r"CITEWELL_[A-Z_]*[A-Z]", text)) - known == set()
