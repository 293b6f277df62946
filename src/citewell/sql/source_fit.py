"""How well a question fits tables: which source is meant, and what of it comes nearest. Where two
sources have nearly as much of a question, nobody guesses: it is asked back which is meant.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from citewell.sql.column_label import split_name
from citewell.sql.engines.engine import Schema, Table
from citewell.sql.plan_types import Term
from citewell.sql.question_words import extract_content_words
from citewell.sql.values_in_question import find_stored_values
from citewell.text.tokens import tokenize_for_index, tokenize_query

CLEAR = 0.15  # by so much of the question's words the best source must lead, or be named
# Which source a question is about: the share of its words that the tables have by letters, plus
# LIKE times how near the tables are in meaning (`source_meaning.py`). Of 118 questions of text2sql
# over its six databases the right one comes first for all in English and 0.99 in Chinese, of the 50
# of `evals/sources.py` about tables, over three sources, for 47.
LIKE = 10.0
# share of the question's own words that the tables must have where they are plainly meant
MANY = 0.6
COLUMNS = 6  # of a table that are named
# A character of a script that parts its words: the name 库存 stands in 库存表, art not in part.
_SPACED = r"[^\W\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]"
# words that ask for a figure or a list and name nothing
_FIGURES = re.compile(
    r"\b(?:how (?:many|much)|number "
    r"of|total|sum|average|mean|median|count|most|least|highest|lowest|largest|smallest|top \d+|"
    r"per|percentage|share of|maximum|minimum)\b"
    r"|多少|几[个名位家种条]|总[数共和额]|平均|合计|最[高低多少大小]|排名|占比|前[\d一二三四五十]+",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Fit:
    """`share` of the question's own words that the tables have; `found`: those words, each with
    what has it; `values`: stored values that stand in the question whole.
    """

    share: float
    found: Mapping[str, str] = field(default_factory=dict)
    values: tuple[str, ...] = ()


Sources = Mapping[str, tuple[Schema, Sequence[Term]]]


def measure_fit(question: str, schema: Schema, glossary: Sequence[Term] = ()) -> Fit:
    """By letters alone. A stored value in the question counts once for each of its words."""
    words, held = extract_own_words(question), _index_words(schema, glossary)
    found = {
        word: held[stems[0]]
        for word in words
        if (stems := _split_stems(word)) and all(stem in held for stem in stems)
    }
    values = find_stored_values(question, schema)
    for value in values:
        found |= {
            word: f"{value.table}.{value.column} = {value.value}"
            for word in extract_own_words(value.value)
            if word in words
        }
    return Fit(
        len(found) / len(words) if words else 0.0, found, tuple(each.value for each in values)
    )


def extract_own_words(question: str) -> list[str]:
    """Those that name something, without those that only ask for a figure or a list."""
    return extract_content_words(question)


def measure_share(question: str, text: str) -> float:
    """The share of a question's own words that a text has: what `Fit.share` is of tables."""
    words, held = (
        extract_own_words(question),
        {_stem_word(word) for word in tokenize_for_index(text)},
    )
    return (
        sum(all(stem in held for stem in _split_stems(word)) for word in words) / len(words)
        if words
        else 0.0
    )


def is_figure_question(question: str) -> bool:
    """Whether a question wants something counted, added up, ranked or averaged."""
    return bool(_FIGURES.search(question))


def choose_sources(
    question: str, sources: Sources, likeness: Mapping[str, float] = MappingProxyType({})
) -> list[str]:
    """The source that is meant; several where they are equally likely. `likeness`: how near each is
    in meaning; by letters alone without it.
    """
    named = _find_named(question, list(sources))
    return (
        named if len(named) == 1 else _select_nearest(_score_sources(question, sources, likeness))
    )


def choose_next_source(
    question: str,
    sources: Sources,
    asked: str,
    likeness: Mapping[str, float] = MappingProxyType({}),
) -> str:
    """The likeliest other source; empty if the question names the one asked, or none is there."""
    others = {name: found for name, found in sources.items() if name != asked}
    if not others or asked in _find_named(question, list(sources)):
        return ""
    scores = _score_sources(question, others, likeness)
    return max(scores, key=lambda name: scores[name])


def _score_sources(
    question: str, sources: Sources, likeness: Mapping[str, float]
) -> dict[str, float]:
    """How likely each is meant: one figure over letters and meaning."""
    return {
        name: measure_fit(question, *each).share + LIKE * likeness.get(name, 0.0)
        for name, each in sources.items()
    }


def _select_nearest(shares: Mapping[str, float]) -> list[str]:
    highest = max(shares.values())
    return [name for name, share in shares.items() if share > highest - CLEAR]


def _find_named(question: str, names: Sequence[str]) -> list[str]:
    """The names that stand in the question; where one holds another, the longer."""
    text, found = question.casefold(), []
    for name in sorted(names, key=len, reverse=True):
        folded = name.casefold()
        before = f"(?<!{_SPACED})" if re.match(_SPACED, folded) else ""
        after = f"(?!{_SPACED})" if re.match(_SPACED, folded[-1:]) else ""
        pattern = f"{before}{re.escape(folded)}{after}"
        if len(name) > 1 and re.search(pattern, text):
            found.append(name)
            text = re.sub(pattern, " ", text)
    return found


def outline_schema(
    schema: Schema,
    most: int,
    question: str = "",
    glossary: Sequence[Term] = (),
    *,
    columns: int = COLUMNS,
) -> str:
    """`singer (name, country, age, …); concert (…)`: the tables nearest to the question, at most so
    many, and so many columns of each.
    """
    tables = sorted(
        schema.tables,
        key=lambda t: (
            -measure_fit(question, Schema(schema.dialect, (t,)), glossary).share if question else 0
        ),
    )
    return "; ".join(_format_table(table, columns) for table in tables[:most])


def _format_table(table: Table, most: int) -> str:
    columns = [column.name for column in table.columns]
    return f"{table.name} ({', '.join(columns[:most])}{', …' if len(columns) > most else ''})"


def _index_words(schema: Schema, glossary: Sequence[Term]) -> dict[str, str]:
    """Every word of the schema and the glossary, and what has it."""
    held: dict[str, str] = {}
    for term in glossary:
        _add_words(held, term.term, term.term)
    for table in schema.tables:
        _add_words(held, " ".join(split_name(table.name)), table.name)
        _add_words(held, " ".join((table.comment, *table.synonyms)), table.name)
        for column in table.columns:
            where = f"{table.name}.{column.name}"
            _add_words(held, " ".join(split_name(column.name)), where)
            _add_words(held, " ".join((column.comment, *column.synonyms)), where)
    for table in schema.tables:
        for column in table.columns:
            for value in column.values if column.kind == "text" else ():
                _add_words(held, value, f"{table.name}.{column.name} = {value}")
            for said, value in column.value_synonyms:
                _add_words(held, said, f"{table.name}.{column.name} = {value}")
    return held


def _add_words(held: dict[str, str], text: str, where: str) -> None:
    for word in tokenize_for_index(text):
        held.setdefault(_stem_word(word), where)


def _split_stems(word: str) -> list[str]:
    """A word as the index has it: one stem, or the parts of a Chinese word."""
    return [_stem_word(token) for token in tokenize_query(word)]


def _stem_word(word: str) -> str:
    """Singers and singer are one word; enough for English plurals, nothing else changes."""
    if not word.isascii() or len(word) < 4 or word.endswith("ss"):
        return word
    return word[:-3] + "y" if word.endswith("ies") else word.removesuffix("s")
