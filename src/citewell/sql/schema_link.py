"""Which tables, columns and stored values a question speaks of, and which of its words stand for
nothing in the schema.

Words are held against names by their letters (English stems) and by meaning (a multilingual
embedder, so that 歌手 finds `singer`); values by their letters. The one rule: a link is a figure
from a comparison, never a word of a model's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from citewell.models.base import Embedder
from citewell.sql.engines.engine import Schema, Table
from citewell.sql.name_likeness import list_targets, score_by_letters, score_by_meaning
from citewell.sql.question_words import GENERIC, extract_content_words, is_thing
from citewell.sql.values_in_question import Found, find_stored_values

SAID = (
    0.7  # a word with such a link to a table is said of that table, though another has a better one
)


@dataclass(frozen=True, slots=True)
class Link:
    """A word of the question, and the table (`column` empty) or column that it stands for; `score`
    from 0 to 1.
    """

    word: str
    table: str
    column: str
    score: float


@dataclass(frozen=True, slots=True)
class Linked:
    """What was found. `missing`: content words that stand for nothing. `leaning`: words without a
    link, verbs too, each with the table that comes nearest to it all the same. `tables`: how much
    each is spoken of, 0 to 1.
    """

    links: tuple[Link, ...]
    values: tuple[Found, ...]
    missing: tuple[str, ...]
    words: tuple[str, ...]
    leaning: tuple[tuple[str, str], ...] = ()

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

    def is_table_needed(self, table: Table, others: Sequence[Table]) -> bool:
        """Whether the question says something of `table` that it does not say of one of `others`.
        The column of a foreign key speaks of the table that it leads to.
        """
        known = {other.name.lower(): other for other in [table, *others]}
        held = {
            value.value.casefold()
            for value in self.values
            if value.table.lower() in {other.name.lower() for other in others}
        }
        if any(
            value.table.lower() == table.name.lower() and value.value.casefold() not in held
            for value in self.values
        ):
            return True
        if any(name.lower() == table.name.lower() for _, name in self.leaning):
            return True
        best: dict[str, list[float]] = {}
        for link in self.links:
            of = known.get(link.table.lower())
            if of is None and any(
                key.table.lower() == link.table.lower() for key in table.foreign_keys
            ):
                of = table  # `singer_in_concert` stands for the singers that are not there
            if of is not None and not any(link.column in key.columns for key in of.foreign_keys):
                scores = best.setdefault(link.word, [0.0, 0.0])
                scores[of is not table] = max(scores[of is not table], link.score)
        return any(own > theirs and theirs < SAID for own, theirs in best.values())

    @property
    def share_missing(self) -> float:
        """Of the content words; 0 where there are none."""
        return len(self.missing) / len(self.words) if self.words else 0.0


async def link_question(
    question: str, schema: Schema, embedder: Embedder, terms: Sequence[str] = ()
) -> Linked:
    """`terms`: words of the user's glossary, which are known whatever they are called in the
    schema.
    """
    values = find_stored_values(question, schema)
    taken = {
        word
        for value in values
        for word in [*extract_content_words(value.value), value.value.casefold()]
    }
    known = {
        word
        for term in terms
        if term.casefold() in question.casefold()
        for word in extract_content_words(term)
    }
    words = [
        word for word in extract_content_words(question) if word not in taken and word not in known
    ]
    targets = list_targets(schema)
    by_meaning, nearest = await score_by_meaning(words, targets, embedder)
    scores = np.maximum(score_by_letters(words, targets), by_meaning)
    links = [
        Link(word, targets[at][0], targets[at][1], round(float(scores[row, at]), 3))
        for row, word in enumerate(words)
        for at in np.flatnonzero(scores[row] > 0)
    ]
    linked = {each.word for each in links}
    missing = tuple(
        word for word in words if word not in linked and word not in GENERIC and is_thing(word)
    )
    leaning = [
        (word, targets[at][0])
        for word, at in zip(words, nearest, strict=False)
        if word not in linked | GENERIC
    ]
    shown = (*words, *sorted(taken & set(extract_content_words(question))))
    return Linked(tuple(links), tuple(values), missing, shown, tuple(leaning))
