"""Whatever a person types is a question, never an operator and never an error."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from citewell.store.index.adapters import INDEXES

if TYPE_CHECKING:
    from tests.store.conftest import Shelf


@pytest.fixture(params=sorted(INDEXES))
def database_url(request: pytest.FixtureRequest) -> str:
    """Every adapter, each on its own kind of database."""
    return "" if request.param == "sqlite" else str(request.getfixturevalue("home_url"))


HOSTILE = [
    "",
    " ",
    "\0",
    "a\0b",
    '"',
    '""""',
    "'; DROP TABLE chunks; --",
    "needle AND",
    "NEAR(needle cat, 2)",
    "NOT needle",
    "tokens : needle",
    "place : c_0",
    "-needle",
    "^needle",
    "needle*",
    "*",
    "((((",
    "{a b} : c",
    "+ - * / \\",
    "😀 needle 👩\u200d👩\u200d👧",
    "\ud800 needle",
    "\u202eneedle",
    "ﷺ",
    "需求 " * 200,
    "x" * 100_000,
    " ".join(f"w{i}" for i in range(5000)),
    "的" * 5000,
]


async def test_hostile_questions(shelf: Shelf) -> None:
    """No syntax error; where the needle is among the words, it is found, and nowhere else."""
    await shelf.put("a", "the needle in the hay", "AND OR NOT NEAR", embed=False)
    for text in HOSTILE:
        found = await shelf.worded(text)
        assert ("the needle in the hay" in found) == ("needle" in text), text[:40]


async def test_hostile_texts_are_kept(shelf: Shelf) -> None:
    """The same strings as a document's text, address, title and collection: stored, embedded, found
    by what is said in them.
    """
    plain = shelf.db.dialect == "sqlite"
    for n, text in enumerate(HOSTILE):
        # an entry of an index of PostgreSQL has 2.7 kB, and its text no NUL
        uri, collection = (text if plain else text[:800]), text.replace("\ud800", "")[:100] or "-"
        info = await shelf.put(uri, text, f"word{n}", collection=collection)
        assert (await shelf.catalog.find(info.collection, uri)) == info
        kept = f"{text}\nword{n}".replace("\ud800", "\ufffd")
        kept = kept if plain else kept.replace("\0", "\ufffd")
        assert (await shelf.catalog.content(info.doc_id)).text == kept
        assert f"word{n}" in await shelf.worded(f"word{n}")
        assert (await shelf.nearest(f"word{n}", 1)) == [f"word{n}"]


async def test_naughty_strings(shelf: Shelf, shared_data: Path) -> None:
    """The big list of naughty strings, as questions and as one document: no error, and each finds
    itself where it has words.
    """
    lines = (
        (shared_data / "robustness" / "naughty_strings.jsonl")
        .read_text(encoding="utf-8")
        .rstrip("\n")
        .split("\n")
    )
    texts = [str(json.loads(line)["text"]) for line in lines]
    await shelf.put("naughty", *texts, embed=False)
    missed = []
    for text in texts:
        found = await shelf.worded(text, 50)
        missed += [text] if found and text not in found else []
    assert missed == []
