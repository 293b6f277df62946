"""Stored values in a question, by their letters; no figures, which fit any column."""

from __future__ import annotations

import re
from dataclasses import dataclass

from citewell.sql.engines.engine import Schema
from citewell.sql.question_words import ASKS_EN, ASKS_ZH, is_all_capitals

LONGEST_VALUE = 60  # characters of a stored value that is looked for in a question


@dataclass(frozen=True, slots=True)
class Found:
    """A stored value that stands in the question, or what people call it (`said`)."""

    table: str
    column: str
    value: str
    said: str = ""


def find_stored_values(question: str, schema: Schema) -> list[Found]:
    """Stored values in the question by letters, longest first; contained ones dropped."""
    text = " ".join(question.casefold().split())
    found = [
        Found(table.name, column.name, value)
        for table in schema.tables
        for column in table.columns
        for value in column.values
        if column.kind == "text" and (_is_in_text(value, text) or _is_in_capitals(value, question))
    ]
    found.sort(key=lambda each: -len(each.value))
    kept: list[Found] = []
    for each in found:
        inside = [
            other
            for other in kept
            if each.value != other.value and each.value.casefold() in other.value.casefold()
        ]
        if not inside or text.count(each.value.casefold()) > len({other.value for other in inside}):
            kept.append(each)
    return kept + [
        Found(table.name, column.name, value, said)
        for table in schema.tables
        for column in table.columns
        for said, value in column.value_synonyms
        if _is_in_text(said, text)
        and not any((k.table, k.column, k.value) == (table.name, column.name, value) for k in kept)
    ]


def _is_in_capitals(value: str, question: str) -> bool:
    """IT, HR, US: words that would only ask in small letters."""
    own = (
        value.isascii()
        and value.isupper()
        and len(value) > 1
        and value.lower() in ASKS_EN
        and not is_all_capitals(question)
    )
    return (
        own
        and re.search(rf"(?<![A-Za-z0-9]){re.escape(value)}(?![A-Za-z0-9])", question) is not None
    )


def _is_in_text(value: str, text: str) -> bool:
    folded = " ".join(value.casefold().split())
    if (
        not folded
        or len(folded) > LONGEST_VALUE
        or folded in ASKS_EN
        or folded in ASKS_ZH
        or folded not in text
    ):
        return False
    if re.search(r"[\u3400-\u9fff]", folded):
        return len(folded) > 1
    if len(folded) < 2 and not folded.isalpha():
        return False
    if folded.replace(".", "").isdigit():
        return False  # a figure may be of any column
    return re.search(rf"(?<![a-z0-9]){re.escape(folded)}(?:s|es)?(?![a-z0-9])", text) is not None
