"""Every text that the server's code holds for people has its Chinese on the page, and texts that
are gone have none.

The one rule: texts are found by reading the code (`server_texts.py`), so that a new one fails here
until `web/words/server/` has its entry.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from functools import lru_cache
from pathlib import Path

import pytest
from tests.interfaces.server_texts import numbered, texts

from citewell.service.ask.snapshot_words import REASONS

WEB = Path(__file__).resolve().parents[2] / "src" / "citewell" / "interfaces" / "web"
BLANK = re.compile(r"\{\d\}")
HAN = re.compile(r"[\u4e00-\u9fff]")

pytestmark = pytest.mark.skipif(
    not shutil.which("node"), reason="no Node.js on this machine: the words are not read"
)


@lru_cache
def chinese() -> dict[str, str]:
    """As the page joins them."""
    script = "import {CHINESE} from './words/server/index.js'; console.log(JSON.stringify(CHINESE))"
    done = subprocess.run(
        ["node", "--input-type=module", "-e", script], cwd=WEB, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr.decode()
    found: dict[str, str] = json.loads(done.stdout)
    return found


def reasons() -> dict[str, str]:
    """Why an agent was chosen: the server has their Chinese too, for the snapshots of answers."""
    return {
        numbered(re.sub(r"\(\.[+*]\)", "{}", pattern)): re.sub(
            r"\{(\d)\}", lambda n: f"{{{int(n[1]) + 1}}}", words
        )
        for pattern, words in REASONS.items()
    }


def test_the_code_is_read() -> None:
    """Texts of every kind are found: of errors and hints, put together, handed on, in tables,
    chosen by a condition.
    """
    found = texts()
    assert len(found) > 800
    for text in (
        "{1} is empty",
        "raise ingest.max_bytes, or split the file",
        "the chat model gave no usable answer, so the evidence itself is shown: {1}",
        "no Chromium on this machine",
        "is protected by a password",
        "the disk is full",
        "an old Word document (.doc)",
        "{1} has {2} pages; {3} are allowed",
        "the server is stopping and takes nothing new",
        "a 7-Zip archive",
    ):
        assert text in found


def test_every_text_has_its_chinese() -> None:
    missing = {text: place for text, place in texts().items() if text not in chinese()}
    assert missing == {}, "write their Chinese in src/citewell/interfaces/web/words/server/"


def test_no_chinese_is_left_of_texts_that_are_gone() -> None:
    assert sorted(set(chinese()) - set(texts()) - set(reasons())) == [], (
        "take them out of web/words/server/"
    )


def test_reasons_are_the_same_as_in_snapshots() -> None:
    assert {text: chinese().get(text) for text in reasons()} == reasons()


def test_chinese_has_the_blanks_and_the_marks_of_chinese() -> None:
    both = chinese()
    assert [
        text
        for text, words in both.items()
        if sorted(BLANK.findall(text)) != sorted(BLANK.findall(words))
    ] == []
    plain = {
        text: words
        for text, words in both.items()
        if not HAN.search(words) and not re.search(r"curl |@|://|=", words)
    }
    assert plain.keys() <= {"{1}: status {2}"}, "these are not in Chinese"
    han = r"[\u4e00-\u9fff]"
    marks = re.compile(rf"{han} ?[,;!?](?![\w./%-])|{han}:(?!//)|{han}\({han}| [，。；：？！]|  ")
    assert [words for words in both.values() if marks.search(words)] == []
