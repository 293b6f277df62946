"""Statements that people confirmed, put to a question like theirs: as they stand, or with other
parameters. A statement is followed without a model only where the questions ask the same of the
same stored values, or differ in nothing but stored values and figures, each of which stands in the
statement exactly once per mention.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from citewell.sql.engines.engine import Schema
from citewell.sql.values_in_question import find_stored_values
from citewell.store.confirmed.types import Confirmed, Known, Rule

_NUMBER = re.compile(r"(?<![A-Za-z0-9_.])\d+(?:\.\d+)?(?![A-Za-z0-9_%]|\.\d)")


@dataclass(frozen=True, slots=True)
class Pattern:
    """A question with its stored values and figures taken out: what is left, and what was taken in
    order, values as (kind of column or `number`, text).
    """

    rest: str
    parameters: tuple[tuple[str, str], ...]


def find_confirmed(
    question: str, schema: Schema, known: Sequence[Known]
) -> tuple[str, Known, str] | None:
    """(SQL, whose, `reused` or `adapted`) of the first confirmed item, or reviewed
    correction that is a statement, that fits; None where none does, or where they do not agree.
    What a reviewed correction calls wrong is not followed.
    """
    fits: list[tuple[str, Known, str]] = []
    wrong = {
        fold_sql(each.item.wrong)
        for each in known
        if isinstance(each.item, Rule) and each.item.wrong
    }
    for each in known:
        item = each.item
        if not item.logic or (
            isinstance(item, Confirmed) and (item.conflicts or fold_sql(item.logic) in wrong)
        ):
            continue
        if each.same and _extract_parameters(question, schema) == _extract_parameters(
            item.question, schema
        ):
            fits.append((item.logic, each, "reused"))
        elif (sql := adapt_statement(question, item.question, item.logic, schema)) is not None:
            fits.append((sql, each, "adapted"))
    if not fits:
        return None
    exact = [fit for fit in fits if fit[2] == "reused"] or fits
    return exact[0] if len({fold_sql(sql) for sql, _, _ in exact}) == 1 else None


def adapt_statement(question: str, before: str, sql: str, schema: Schema) -> str | None:
    """`sql` of `before` with the parameters of `question`; None where unclear which goes where."""
    asked, known = extract_pattern(question, schema), extract_pattern(before, schema)
    if (
        asked.rest != known.rest
        or not asked.parameters
        or len(asked.parameters) != len(known.parameters)
    ):
        return None
    swaps: dict[str, str] = {}
    for (kind, old), (new_kind, new) in zip(known.parameters, asked.parameters, strict=True):
        if kind != new_kind or swaps.get(old, new) != new:
            return None
        swaps[old] = new
    return _swap_literals(sql, {old: new for old, new in swaps.items() if old != new})


def extract_pattern(question: str, schema: Schema) -> Pattern:
    """What a question asks, whatever the values and figures in it."""
    text = " ".join(unicodedata.normalize("NFKC", question).casefold().split()).rstrip(" ?？.。!！")
    taken: list[tuple[int, int, str, str]] = []
    for found in find_stored_values(question, schema):
        for match in re.finditer(re.escape(" ".join(found.value.casefold().split())), text):
            if not any(start < match.end() and match.start() < end for start, end, _, _ in taken):
                taken.append(
                    (match.start(), match.end(), f"{found.table}.{found.column}", found.value)
                )
    for match in _NUMBER.finditer(text):
        if not any(start < match.end() and match.start() < end for start, end, _, _ in taken):
            taken.append((match.start(), match.end(), "number", match[0]))
    taken.sort()
    rest, at = "", 0
    for start, end, kind, _ in taken:
        rest, at = f"{rest}{text[at:start]}\0{'#' if kind == 'number' else '@'}\0", end
    return Pattern(rest + text[at:], tuple((kind, value) for _, _, kind, value in taken))


def _extract_parameters(question: str, schema: Schema) -> list[tuple[str, str]]:
    return sorted(extract_pattern(question, schema).parameters)


def _swap_literals(sql: str, swaps: dict[str, str]) -> str | None:
    """Literals replaced, all at once; None where one is no literal of the statement."""
    if not swaps:
        return sql
    missing = set(swaps)
    parts = re.split(r"('(?:[^']|'')*')", sql)
    for at, part in enumerate(parts):
        if at % 2:
            value = part[1:-1].replace("''", "'")
            if value in swaps:
                missing.discard(value)
                parts[at] = "'" + swaps[value].replace("'", "''") + "'"
            continue
        numbers = [old for old in swaps if _NUMBER.fullmatch(old)]
        if numbers:
            either = "|".join(sorted(map(re.escape, numbers), key=len, reverse=True))

            def replace_value(match: re.Match[str]) -> str:
                missing.discard(match[0])
                return swaps[match[0]]

            parts[at] = re.sub(rf"(?<![\w.]){'(?:' + either + ')'}(?![\w.])", replace_value, part)
    return None if missing else "".join(parts)


def has_same_shape(one: str, other: str) -> bool:
    """Whether two statements are the same but for literals, names' case and spaces."""
    return _strip_literals(one) == _strip_literals(other)


def _strip_literals(sql: str) -> str:
    return re.sub(
        r"\bt\d\b\.?", "", re.sub(r"'(?:[^']|'')*'|\b\d+(?:\.\d+)?\b", "?", fold_sql(sql))
    )


def fold_sql(sql: str) -> str:
    """What two writings of a statement share: case and spaces do not count."""
    return " ".join(sql.split()).rstrip("; ").casefold()
