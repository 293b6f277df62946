"""The words of the page: every one that a script asks for is in the catalogue, every one of the
catalogue is asked for by a script, and each has the same blanks in every language.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from citewell.messages.catalogue import LOCALE, list_languages, load_page_words, parse_po

WEB = Path(__file__).resolve().parents[2] / "src" / "citewell" / "interfaces" / "web"
SOURCES = [
    path
    for path in sorted(WEB.rglob("*.js"))
    if not {"node_modules", "vendor"}.intersection(path.relative_to(WEB).parts)
]
LANGUAGES = [each for each in list_languages() if each != "en"]
BLANK = re.compile(r"\{(\w+)")
HAN = re.compile(r"[一-鿿]")


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_word_is_translated(language: str) -> None:
    source = (LOCALE / language / "LC_MESSAGES" / "citewell.po").read_text("utf-8")
    translated = {(each.context, each.text) for each in parse_po(source) if each.translation}
    template = parse_po((LOCALE / "citewell.pot").read_text("utf-8"))
    english = {(each.context, each.text) for each in template}
    assert sorted(english - translated) == [], f"add them to locale/{language}"
    assert sorted({each for each in translated if each[0]} - english) == [], "take them out"


@pytest.mark.parametrize("language", LANGUAGES)
def test_blanks_are_those_of_english(language: str) -> None:
    english, other = load_page_words("en"), load_page_words(language)
    assert [
        key for key in english if set(BLANK.findall(other[key])) - set(BLANK.findall(english[key]))
    ] == []


def test_english_is_not_chinese() -> None:
    assert [
        key
        for key, text in load_page_words("en").items()
        if HAN.search(text) and not key.endswith(("_zh", ".zh"))
    ] == []


def test_every_word_asked_for_is_there() -> None:
    asked = {
        key
        for path in SOURCES
        for key in re.findall(r"\bt\(\s*\"([a-z_]+\.[\w.-]+)\"", path.read_text("utf-8"))
    }
    assert asked
    assert asked - set(load_page_words("en")) == set()


def test_no_word_is_left_that_no_script_asks_for() -> None:
    """Keys are written whole, or begin with what stands before a `${`."""
    code = "\n".join(path.read_text("utf-8") for path in SOURCES)
    whole = set(re.findall(r"[\"`']([a-z_]+\.[\w. -]+)[\"`']", code))
    begun = tuple(set(re.findall(r"[\"`]([a-z_]+\.[\w.-]*?)\$\{", code)))
    assert [
        key for key in load_page_words("en") if key not in whole and not key.startswith(begun)
    ] == []


def test_files_are_short() -> None:
    """No script of the page has more than 400 lines."""
    sizes = {
        str(path.relative_to(WEB)): len(path.read_text("utf-8").splitlines()) for path in SOURCES
    }
    assert {name: size for name, size in sizes.items() if size > 400} == {}
