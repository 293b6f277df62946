"""The words of the page: every one in both languages, with the same blanks, and every one that the
page asks for is there.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from functools import lru_cache
from pathlib import Path

import pytest

WEB = Path(__file__).resolve().parents[2] / "src" / "citewell" / "interfaces" / "web"
PARTS = sorted(
    path.stem
    for path in (WEB / "words").glob("*.js")
    if path.stem != "index" and "_" not in path.stem
)
SOURCES = [
    path
    for path in sorted(WEB.rglob("*.js"))
    if not {"node_modules", "vendor", "words"}.intersection(path.relative_to(WEB).parts)
]
BLANK = re.compile(r"\{(\w+)")
HAN = re.compile(r"[一-鿿]")

pytestmark = pytest.mark.skipif(
    not shutil.which("node"), reason="no Node.js on this machine: the words are not read"
)


@lru_cache
def words() -> dict[str, dict[str, str]]:
    """As the page joins them."""
    script = "import {WORDS} from './words/index.js'; console.log(JSON.stringify(WORDS))"
    done = subprocess.run(
        ["node", "--input-type=module", "-e", script], cwd=WEB, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr.decode()
    found: dict[str, dict[str, str]] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize("part", PARTS)
def test_both_languages_have_the_same_words(part: str) -> None:
    english, chinese = (
        {key for key in words()[lang] if key.startswith(f"{part}.")} for lang in ("en", "zh")
    )
    assert english, "the page does not join this part"
    assert english == chinese


def test_no_word_is_empty_and_blanks_are_the_same() -> None:
    english, chinese = words()["en"], words()["zh"]
    assert [
        key for lang in (english, chinese) for key, text in lang.items() if not text.strip()
    ] == []
    unknown = {
        key
        for key in english
        if set(BLANK.findall(chinese[key])) - set(BLANK.findall(english[key]))
    }
    assert unknown == set(), "a blank in Chinese that English does not have"


def test_english_is_not_chinese() -> None:
    assert [
        key
        for key, text in words()["en"].items()
        if HAN.search(text) and not key.endswith(("_zh", ".zh"))
    ] == []


def test_every_word_asked_for_is_there() -> None:
    asked = {
        key
        for path in SOURCES
        for key in re.findall(r"\bt\(\s*\"([a-z_]+\.[\w.-]+)\"", path.read_text("utf-8"))
    }
    assert asked
    assert asked - set(words()["en"]) == set()


def test_files_are_short() -> None:
    """No script of the page has more than 400 lines."""
    files = [*SOURCES, *(WEB / "words").rglob("*.js")]
    sizes = {
        str(path.relative_to(WEB)): len(path.read_text("utf-8").splitlines()) for path in files
    }
    assert {name: size for name, size in sizes.items() if size > 400} == {}
