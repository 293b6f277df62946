"""Every text in the code has its translation in every language, and none is left of texts that are
gone: `Text(...)` is found by reading the code.
"""

from __future__ import annotations

import ast
import gc
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from string import Formatter

import pytest

import citewell
from citewell.messages.catalogue import LOCALE, list_languages, load_catalogue, parse_po

ROOT = Path(citewell.__file__).parent
HAN = r"[\u4e00-\u9fff]"
LANGUAGES = [each for each in list_languages() if each != "en"]


@pytest.fixture(autouse=True, scope="module")
def uncollected() -> Iterator[None]:
    """Trees hold no circles, and looking for some takes four fifths of the time."""
    gc.disable()
    yield
    gc.enable()


@cache
def templates() -> dict[str, str]:
    """Template -> where it stands."""
    found: dict[str, str] = {}
    for path in sorted(ROOT.rglob("*.py")):
        source = path.read_text("utf-8")
        if "from citewell.messages import" not in source or not _imports_text(ast.parse(source)):
            continue
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Text":
                place, template = f"{path.relative_to(ROOT)}:{node.lineno}", node.args[0]
                assert isinstance(template, ast.Constant), f"{place}: no literal"
                found.setdefault(str(template.value), place)
    return found


def _imports_text(tree: ast.Module) -> bool:
    return any(
        isinstance(node, ast.ImportFrom)
        and node.module == "citewell.messages"
        and any(alias.name == "Text" for alias in node.names)
        for node in tree.body
    )


def fields(template: str) -> list[str]:
    """The names of its values; those of values that go by their place are empty."""
    try:
        named = [name for _, name, _, _ in Formatter().parse(template) if name is not None]
        return sorted("" if name.isdigit() else name for name in named)
    except ValueError:  # braces that stand for themselves
        return []


def test_the_code_is_read() -> None:
    assert len(templates()) > 1000
    assert "{name} is empty" in templates()


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_text_is_translated(language: str) -> None:
    known = load_catalogue(language)
    missing = {text: place for text, place in templates().items() if text not in known}
    assert missing == {}, f"add them to locale/{language}/LC_MESSAGES/citewell.po"
    assert sorted(known.keys() - templates().keys()) == [], "take them out of the .po file"


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_translation_has_the_values_of_its_text(language: str) -> None:
    known = load_catalogue(language)
    assert [
        text for text, words in known.items() if not set(fields(words)) <= set(fields(text))
    ] == []
    assert [text for text, words in known.items() if len(fields(words)) != len(fields(text))] == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_text_stands_twice(language: str) -> None:
    entries = parse_po((LOCALE / language / "LC_MESSAGES" / "citewell.po").read_text("utf-8"))
    keys = Counter((each.context, each.text) for each in entries)
    assert [key for key, number in keys.items() if number > 1] == []


def test_chinese_has_the_marks_of_chinese() -> None:
    marks = re.compile(rf"{HAN} ?[,;!?](?![\w./%-])|{HAN}:(?!//)|{HAN}\({HAN}| [，。；：？！]|  ")
    assert [words for words in load_catalogue("zh").values() if marks.search(words)] == []


def test_the_format_of_po_files() -> None:
    source = """
# a comment
msgid ""
msgstr "Language: zh\\n"

msgid "one \\"two\\""
msgstr ""
"一"
"二"

msgid "not yet"
msgstr ""

msgctxt "ask.heading"
msgid "Ask"
msgstr "提问"

msgctxt "ask.to"
msgid "Ask"
msgstr "问"

msgid "Ask"
msgstr "询问"
"""
    assert parse_po(source) == [
        ("", 'one "two"', "一二"),
        ("", "not yet", ""),
        ("ask.heading", "Ask", "提问"),
        ("ask.to", "Ask", "问"),
        ("", "Ask", "询问"),
    ]


# these are told in English: other channels than page and API, what runs before there is a server,
# and what only developers see
ENGLISH_ONLY = (
    "config/", "evaluate/", "graph.py", "interfaces/cli/", "interfaces/http/openai/",
    "interfaces/mcp/", "interfaces/spans.py", "measure/", "models/builtin/download",
    "models/recorded.py", "models/script_lines.py", "retrieve/confidence.py",
    "service/admin/backup", "service/evaluate/", "service/knowledge/exchange_files.py",
    "store/confirmed/exchange.py", "store/copies.py", "tools.py",
)  # fmt: skip
SAID = {"hint", "reason", "problem", "why", "warning"}  # keywords whose value people read
LISTS = {"warnings", "notes", "problems"}


def test_what_is_said_is_a_text() -> None:
    """Errors, hints, reasons and warnings: no plain English that nobody could translate."""
    trees = {
        str(path.relative_to(ROOT)): ast.parse(path.read_text("utf-8"))
        for path in sorted(ROOT.rglob("*.py"))
    }
    kinds = _list_errors(list(trees.values()))
    plain = [
        f"{path}:{part.lineno}"
        for path, tree in trees.items()
        if not path.startswith(ENGLISH_ONLY)
        for call in ast.walk(tree)
        if isinstance(call, ast.Call)
        for said in _list_said(call, kinds)
        for part in ([said.body, said.orelse] if isinstance(said, ast.IfExp) else [said])
        if _has_words(part)
    ]
    assert plain == [], 'write Text("...", name=value)'


def _list_errors(trees: list[ast.Module]) -> set[str]:
    """The names of our classes of errors."""
    kinds = {"CitewellError"}
    classes = [each for tree in trees for each in ast.walk(tree) if isinstance(each, ast.ClassDef)]
    for _ in range(4):
        kinds |= {each.name for each in classes if kinds & set(map(_name_of, each.bases))}
    return kinds


def _list_said(call: ast.Call, kinds: set[str]) -> list[ast.expr]:
    said = [each.value for each in call.keywords if each.arg in SAID]
    if _name_of(call.func) in kinds:
        said += call.args
    if isinstance(call.func, ast.Attribute) and call.func.attr == "append":
        said += call.args if _name_of(call.func.value).strip("_") in LISTS else []
    return said


def _name_of(node: ast.expr) -> str:
    return str(getattr(node, "id", getattr(node, "attr", "")))


def _has_words(node: ast.expr) -> bool:
    parts = node.values if isinstance(node, ast.JoinedStr) else [node]
    text = "".join(
        str(part.value) if isinstance(part, ast.Constant) and isinstance(part.value, str) else "x"
        for part in parts
    )
    return " " in text and len(re.findall(r"[A-Za-z]{2,}", text)) >= 2
