"""How like the words of a question are to the names of a schema: by their letters (English stems)
and by meaning (a multilingual embedder, so that 歌手 finds `singer`). A likeness is a figure from a
comparison, never a word of a model's.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from citewell.models.base import Embedder, Vector
from citewell.sql.engines.engine import Column, Schema, Table
from citewell.text.tokens import tokenize_query

KEPT = 20_000  # vectors of names kept in this process, 1.5 kB each
# A word's nearest name by meaning counts as its link where it stands out by this much from how near
# the word is to names that most tables might have. Cosines of multilingual-e5-small between single
# words are 0.78 to 0.86 whatever they mean. Chosen among 0.03 to 0.05 on 110 questions of the
# text2sql set and the 40 that other databases cannot answer; `evals/text2sql.py --links` prints
# what it gives on all of them.
STANDS_OUT = 0.05
SURE = 0.07
HUB = 0.5
# What names of columns are usually shortened to; the words behind them are part of the name.
SHORT = {
    "acct": "account",
    "addr": "address",
    "amt": "amount",
    "avg": "average",
    "cat": "category",
    "cnt": "count",
    "cust": "customer",
    "dept": "department",
    "desc": "description",
    "dob": "date of birth",
    "dt": "date",
    "emp": "employee",
    "fname": "first name",
    "inv": "invoice",
    "lname": "last name",
    "loc": "location",
    "mgr": "manager",
    "msg": "message",
    "num": "number",
    "ord": "order",
    "org": "organisation",
    "pct": "percent",
    "pos": "position",
    "prod": "product",
    "qty": "quantity",
    "sal": "salary",
    "tel": "telephone",
    "yr": "year",
}
_COMMON = """
    name date year city country price weight colour age size status type address phone_number email
    title author language distance speed temperature height department student teacher employee
    customer order product invoice hospital patient doctor school airport flight car film song book
    restaurant hotel team player match score bank account salary tax insurance weather animal plant
    disease machine software law election newspaper
"""
COMMON = tuple(word.replace("_", " ") for word in _COMMON.split())
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|_+|[\s.\-/]+")
_vectors: OrderedDict[tuple[str, str], Vector] = OrderedDict()


def to_phrase(name: str) -> str:
    """A name as words: `Song_release_year` and `songReleaseYear` are `song release year`."""
    return " ".join(part.lower() for part in _HUMP.split(name) if part)


def list_targets(schema: Schema) -> list[tuple[str, str, str]]:
    """(table, column or empty, words) of everything that has a name, one more for each of its
    synonyms; a comment counts as part of the name.
    """
    return [
        (table.name, column.name if column else "", words)
        for table in schema.tables
        for column in [None, *table.columns]
        for words in [
            _get_words(column or table),
            *(to_phrase(each) for each in (column or table).synonyms),
        ]
    ]


def _get_words(named: Table | Column) -> str:
    name = " ".join(
        SHORT.get(word, word) for word in to_phrase(named.name.rpartition(".")[2]).split()
    )
    dated = "year month day" if isinstance(named, Column) and named.kind == "date" else ""
    return " ".join(f"{name} {named.comment.lower()[:80]} {dated}".split())


def score_by_letters(words: Sequence[str], targets: Sequence[tuple[str, str, str]]) -> Vector:
    scores = np.zeros((len(words), len(targets)), np.float32)
    stems = [_stem_words(text) for _, _, text in targets]
    for row, word in enumerate(words):
        own = _stem_words(word)
        for at, theirs in enumerate(stems):
            if own and own <= theirs:
                scores[row, at] = 0.6 + 0.4 / len(theirs)
            elif own and any(_is_part_of(one, other) for one in own for other in theirs):
                scores[row, at] = 0.5
    return scores


def _is_part_of(word: str, name: str) -> bool:
    """`town` of `hometown`: an English word that a longer one begins or ends with."""
    long_enough = word.isascii() and len(word) >= 4 and len(name) >= len(word) + 3
    return long_enough and (name.startswith(word) or name.endswith(word))


@cache
def _stem_words(text: str) -> frozenset[str]:
    return frozenset(tokenize_query(text))


@dataclass(frozen=True, slots=True)
class Nearness:
    """How near words are in meaning to names (cosines). `above`, shape (words, names): above what a
    word is to names that most tables might have, and a name to most words. `salience`, one a word:
    how much nearer it is to one name than to the names at large. A Chinese word is near to all
    Chinese names, whatever they mean: that it is near says nothing, only that one of them stands
    out.
    """

    above: Vector
    salience: Vector


async def measure_nearness(
    words: Sequence[str], targets: Sequence[tuple[str, str, str]], embedder: Embedder
) -> Nearness:
    if not words or len(targets) < 2:
        return Nearness(
            np.zeros((len(words), max(1, len(targets))), np.float32),
            np.zeros(len(words), np.float32),
        )
    texts = [text for _, _, text in targets]
    names = await embed_texts(list(dict.fromkeys(texts)), embedder)
    asked = await embed_texts(words, embedder)
    theirs = np.stack([names[text] for text in texts])
    mine = np.stack([asked[word] for word in words])
    common = np.stack(list((await embed_texts(COMMON, embedder)).values())).mean(axis=0)
    # some words and some names are near everything: that is taken out, measured on names that most
    # tables might have
    hub = theirs @ common
    near = mine @ theirs.T - HUB * (hub - float(hub.mean()))[None, :]
    above = near - (mine @ common)[:, None]
    return Nearness(
        above.astype(np.float32), (near.max(axis=1) - near.mean(axis=1)).astype(np.float32)
    )


def score_by_meaning(above: Vector) -> Vector:
    """Of each word and name how much the nearest name stands out, 0 to 1."""
    close = (above >= STANDS_OUT) & (above >= above.max(axis=1, keepdims=True) - 0.01)
    scores = np.clip(0.5 + 0.5 * (above - STANDS_OUT) / (SURE - STANDS_OUT), 0.0, 1.0)
    return np.where(close, scores, 0.0).astype(np.float32)


async def embed_texts(texts: Sequence[str], embedder: Embedder) -> dict[str, Vector]:
    """Vectors of short texts, kept for the next question."""
    new = [text for text in texts if (embedder.name, text) not in _vectors]
    if new:
        for text, vector in zip(new, await embedder.passages(new), strict=True):
            _vectors[(embedder.name, text)] = vector
    found = {text: _vectors[(embedder.name, text)] for text in texts}
    while len(_vectors) > KEPT:
        _vectors.popitem(last=False)
    return found
