"""Which tables, columns and stored values a question speaks of, and which of its words stand for
nothing in the schema.

Words are held against names by their letters (English stems) and by meaning (a multilingual
embedder, so that 歌手 finds `singer`); values by their letters. A link is a figure from a
comparison, never a word of a model's.
"""

from __future__ import annotations

from calendar import day_abbr, day_name, month_abbr, month_name
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from citewell.models.base import Embedder
from citewell.sql.engines.engine import Schema
from citewell.sql.name_likeness import (
    Nearness,
    list_targets,
    measure_nearness,
    score_by_letters,
    score_by_meaning,
)
from citewell.sql.question_words import GENERIC, extract_content_words, is_thing
from citewell.sql.values_in_question import Found, find_stored_values

# Log-odds that the tables hold what a question speaks of, by means over its words: how near each
# is in meaning to the nearest name; how much it stands out there (`Nearness.salience`); and by how
# much words whose letters stand nowhere are less near than ENOUGH. A stored value is near enough,
# and stands out by APART. Fitted (logistic) on 720 questions over ten databases of Spider, English
# and Chinese, each put to its own database and to another one.
WEIGHTS, BIAS = (115.47, -62.24, 159.49), 1.427
ENOUGH, APART = 0.08, 0.05
FITTED = "builtin:multilingual-e5-small"
# What a column of dates holds, whatever its days are.
DATE_WORDS = frozenset(
    name.casefold() for name in (*month_name, *month_abbr, *day_name, *day_abbr) if name
)
# With another embedder: a bias, and the weight of the share of words that stand for nothing.
OTHERWISE = (2.3, -5.0)


@dataclass(frozen=True, slots=True)
class Link:
    """A question's word, and the table (no `column`) or column it means; `score` 0 to 1."""

    word: str
    table: str
    column: str
    score: float


@dataclass(frozen=True, slots=True)
class Linked:
    """What was found. `missing`: content words that stand for nothing. `log_odds`: that the tables
    hold what the question speaks of, all words together; None where it has none that says so.
    `tables`: how much each is spoken of, 0 to 1.
    """

    links: tuple[Link, ...]
    values: tuple[Found, ...]
    missing: tuple[str, ...]
    words: tuple[str, ...]
    log_odds: float | None = None

    @property
    def tables(self) -> dict[str, float]:
        scores: dict[str, float] = {}
        for link in self.links:
            scores[link.table] = max(
                scores.get(link.table, 0.0), link.score if not link.column else 0.9 * link.score
            )
        for value in self.values:
            scores[value.table] = 1.0
        return scores

    @property
    def share_missing(self) -> float:
        """Of the content words; 0 where there are none."""
        return len(self.missing) / len(self.words) if self.words else 0.0


async def link_question(
    question: str, schema: Schema, embedder: Embedder, terms: Sequence[str] = ()
) -> Linked:
    """`terms`: words of the user's glossary, known whatever the schema calls them."""
    values = find_stored_values(question, schema)
    taken = {
        word
        for value in values
        for text in (value.value, value.said)
        for word in [*extract_content_words(text), text.casefold()]
    }
    if any(column.kind == "date" for table in schema.tables for column in table.columns):
        taken |= DATE_WORDS
    known = {
        word
        for term in terms
        if term.casefold() in question.casefold()
        for word in extract_content_words(term)
    }
    said = [word for word in extract_content_words(question) if word not in known]
    stored = [word for word in said if taken & {word, word.removesuffix("s")}]
    words = [word for word in said if word not in stored]
    targets = list_targets(schema)
    by_letters = score_by_letters(words, targets)
    near = await measure_nearness(words, targets, embedder)
    scores = np.maximum(by_letters, score_by_meaning(near.above))
    links = [
        Link(word, targets[at][0], targets[at][1], round(float(scores[row, at]), 3))
        for row, word in enumerate(words)
        for at in np.flatnonzero(scores[row] > 0)
    ]
    linked = {each.word for each in links}
    missing = tuple(
        word for word in words if word not in linked and word not in GENERIC and is_thing(word)
    )
    found = Linked(tuple(links), tuple(values), missing, (*words, *stored))
    if not found.words:
        return found
    if embedder.name != FITTED:
        bias, weight = OTHERWISE
        return replace(found, log_odds=bias + weight * found.share_missing)
    hits = [bool(row.any()) for row in by_letters]
    return replace(found, log_odds=_weigh_words(hits, len(stored), near))


def _weigh_words(by_letters: Sequence[bool], stored: int, near: Nearness) -> float:
    """`by_letters`: of each word that is not stored, whether its letters stand in the tables."""
    above = near.above.max(axis=1)
    lacking = [float(each) - ENOUGH for each, hit in zip(above, by_letters, strict=True) if not hit]
    sums = (
        float(above.sum()) + stored * ENOUGH,
        float(near.salience.sum()) + stored * APART,
        sum(lacking),
    )
    number = len(by_letters) + stored
    return BIAS + sum(w * each / number for w, each in zip(WEIGHTS, sums, strict=True))
