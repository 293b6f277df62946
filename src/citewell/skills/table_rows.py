"""Rows of tables as our parsers write them (`City: Oslo | Limit: €210`): which of them says a figure, and of what alone.

The one rule: a row proves what it says of its own key; a sentence that names no part of the key says it of every row.
"""

from __future__ import annotations

from collections.abc import Iterator

from citewell.ingest.sentences import LONGEST_ROW, language
from citewell.knowledge.words import STOP_EN, STOP_ZH, index_tokens, query_tokens
from citewell.skills.facts import facts, plain_words

CELL = " | "


def is_row(text: str) -> bool:
    """Whether a sentence is a row of a table, which stands whole on its line."""
    return CELL in text and "\n" not in text.strip() and len(text) <= LONGEST_ROW


def holds_for(claim: str, question: str, row: str, around: str) -> str:
    """The key that the figures of `claim` stand under in `row`, where neither claim nor question names any word of it and other
    rows of the table in `around` give other figures; empty where the row proves them as they are said.
    """
    wanted, taken, key = _taken(claim, question, row)
    others = [other for other in beside(row, around) if _differs(cells(row), cells(other), taken)] if key else []
    theirs = [wanted & _figures(other) for other in others]
    whole = wanted <= _figures(row) and wanted not in theirs  # of all rows this one alone gives every figure
    if not others or (any(theirs) and not whole):
        return ""  # what tells the figures of several rows does not take one for all
    own = set(index_tokens(" ".join(key))) - {word for other in others for word in index_tokens(other)}
    own = own - STOP_EN - STOP_ZH or own  # group A has no other name
    named = own & set(index_tokens(f"{claim}\n{question}"))
    return "" if named or not own else CELL.join(key)


def of_another(claim: str, question: str, row: str, there: str) -> str:
    """The key of a row that gives figures of `claim`, where neither claim nor question names any word of it, and both speak of
    something that is neither in the row nor in `there` (the passages with their headings); empty else.
    """
    key = _taken(claim, question, row)[2]
    own = {word for word in index_tokens(" ".join(key)) if not word.isdecimal()} - STOP_EN - STOP_ZH
    if not own or own & set(index_tokens(f"{claim}\n{question}")):
        return ""
    subject = set(_subject(claim)) & set(_subject(question))
    return CELL.join(key) if subject - set(index_tokens(f"{row}\n{there}")) else ""


def _taken(claim: str, question: str, row: str) -> tuple[frozenset[str], set[int], list[str]]:
    """The figures that the claim adds to its question, the cells of the row that have them, and what these stand under; nothing
    where the row gives none, or is of another language, whose words cannot be compared.
    """
    wanted = _figures(claim) - _figures(question)
    if not is_row(row) or language(claim) != language(row):
        return wanted, set(), []
    own = cells(row)
    taken = {n for n, (_, value) in enumerate(own) if wanted & _figures(value)}
    key = [value for n, (_, value) in enumerate(own[: min(taken, default=0)]) if n == 0 or not _figures(value)]
    return wanted, taken, key


def _subject(text: str) -> list[str]:
    plain = plain_words(text)
    return query_tokens(plain) if plain.strip() else []


def _figures(text: str) -> frozenset[str]:
    known = facts(text)
    return known.numbers | known.dates


def cells(row: str) -> list[tuple[str, str]]:
    """Label and value of each; a row's first cell may have no label."""
    parts = [part.partition(": ") for part in row.strip().split(CELL)]
    return [(label, value) if sign else ("", label) for label, sign, value in parts]


def beside(row: str, around: str) -> Iterator[str]:
    """The other rows of its table: with the same labels, and no line of another kind between."""
    lines = [line.strip() for line in around.splitlines() if line.strip()]
    if row.strip() not in lines:
        return
    at, labels = lines.index(row.strip()), [label for label, _ in cells(row)]
    for way in (-1, 1):
        n = at + way
        while 0 <= n < len(lines) and [label for label, _ in cells(lines[n])] == labels:
            yield lines[n]
            n += way


def _differs(cells: list[tuple[str, str]], other: list[tuple[str, str]], taken: set[int]) -> bool:
    """In a column that the claim takes its figures from, with a figure of its own."""
    return any(other[n][1] != cells[n][1] and _figures(other[n][1]) for n in taken)
