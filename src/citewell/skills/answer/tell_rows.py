"""Sentences that tell what came out of the tables, in the question's language. Every figure and
name in them is a cell of the rows, or counts them; nothing is concluded from what is not there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from citewell.messages import Text, translate
from citewell.sql.cell_text import format_cell, join_list
from citewell.sql.column_label import Label, label_columns
from citewell.sql.engines.engine import Rows, Value

LISTED = 10  # names of a list that are said
FIRST = 3  # rows of a wider table that are said
QUOTED = 20  # rows that the quote under a sentence shows at most
FEWEST_TO_MISS = 3  # figures, of which a reader may miss the highest
_TEXTS: Final[Mapping[str, Text]] = {
    "none": Text("No rows fit: the tables hold nothing that matches the question."),
    "no_value": Text("The tables give no value for {what}."),
    "zero": Text("The tables give 0 for {what}."),
    "one": Text("The {label} is {value}."),
    "named": Text("{label}: {value}."),
    "all": Text("There are {n}: {items}."),
    "values": Text("There are {n} values of {label}: {items}."),
    "some": Text("There are {n}; the first {k}: {items}."),
    "repeated": Text("There are {n} rows with {d} different values: {items}."),
    "repeated_some": Text("There are {n} rows with {d} different values; the first {k}: {items}."),
    "ranked_down": Text("By {y}, highest first: {items}."),
    "ranked_up": Text("By {y}, lowest first: {items}."),
    "paired": Text("{y} by {x}: {items}{top}."),
    "paired_some": Text("{y} by {x}, the first {k} of {n}: {items}{top}."),
    "top": Text("; the highest is {item}"),
    "ranked_down_some": Text("By {y}, highest first, {k} of {n}: {items}."),
    "ranked_up_some": Text("By {y}, lowest first, {k} of {n}: {items}."),
    "rows": Text("There are {n} rows{by}: {items}."),
    "rows_some": Text("There are {n} rows{by}; the first {k}: {items}."),
    "by": Text(", by {x}"),
    "more": Text("There are more rows: only the first {n} were read."),
    "pair": Text("{name} ({value})"),
    "same": Text("{n} rows say the same: {items}."),
}


@dataclass(frozen=True, slots=True)
class RowSentence:
    """A sentence, and how many of the first rows it rests on."""

    text: str
    rows: int


def describe_rows(rows: Rows, lang: str) -> list[RowSentence]:
    """At least one sentence, whatever the rows are."""
    known = label_columns(rows, lang)
    told = [_summarize_rows(rows, known, lang)]
    if rows.truncated:
        told.append(RowSentence(_format_message("more", lang, n=f"{len(rows.rows):,}"), 0))
    return told


def is_empty_result(rows: Rows) -> bool:
    """Whether a statement found nothing: no row, or one that counts none and holds no value."""
    if not rows.rows:
        return True
    return len(rows.rows) == 1 and all(
        value is None or (value == 0 and not isinstance(value, bool)) for value in rows.rows[0]
    )


def _summarize_rows(rows: Rows, known: Sequence[Label], lang: str) -> RowSentence:
    if not rows.rows:
        return RowSentence(_format_message("none", lang), 0)
    if len(rows.rows) == 1:
        return _describe_single_row(rows.rows[0], known, lang)
    if len(set(rows.rows)) == 1:
        items = _format_row(rows.rows[0], known, lang)
        return RowSentence(
            _format_message("same", lang, n=f"{len(rows.rows):,}", items=items), len(rows.rows)
        )
    if len(known) == 1:
        return _describe_list(rows, known[0], lang)
    if len(known) == 2 and (at := _find_quantity_column(known)) is not None:
        return _describe_pairs(rows, known, at, lang)
    return _describe_table(rows, known, lang)


def _describe_single_row(row: Sequence[Value], known: Sequence[Label], lang: str) -> RowSentence:
    if all(value is None for value in row):
        return RowSentence(
            _format_message(
                "no_value",
                lang,
                what=join_list([_format_label(label, lang) for label in known], lang),
            ),
            1,
        )
    if all(
        value == 0 and not isinstance(value, bool) and label.role == "quantity"
        for value, label in zip(row, known, strict=True)
    ):
        return RowSentence(
            _format_message(
                "zero", lang, what=join_list([_format_label(label, lang) for label in known], lang)
            ),
            1,
        )
    if len(row) == 1:
        figure = known[0].role == "quantity" and row[0] is not None
        words = _format_label(known[0], lang) if figure else _capitalize_first(known[0].words, lang)
        return RowSentence(
            _format_message(
                "one" if figure else "named",
                lang,
                label=words,
                value=format_cell(row[0], known[0], lang),
            ),
            1,
        )
    return RowSentence(
        _capitalize_first(_format_row(row, known, lang), lang) + ("。" if lang == "zh" else "."), 1
    )


def _format_row(row: Sequence[Value], known: Sequence[Label], lang: str, joint: str = "") -> str:
    """`name: Joe; age: 52`."""
    colon, between = ("：", "；") if lang == "zh" else (": ", "; ")
    return (joint or between).join(
        f"{label.words}{colon}{format_cell(v, label, lang)}"
        for v, label in zip(row, known, strict=True)
    )


def _describe_list(rows: Rows, label: Label, lang: str) -> RowSentence:
    different = list(dict.fromkeys(row[0] for row in rows.rows))
    if len(different) < len(rows.rows):
        items = join_list([format_cell(value, label, lang) for value in different[:LISTED]], lang)
        key = "repeated" if len(different) <= LISTED else "repeated_some"
        values = {"n": f"{len(rows.rows):,}", "d": f"{len(different):,}", "k": str(LISTED)}
        return RowSentence(_format_message(key, lang, items=items, **values), len(rows.rows))
    shown = rows.rows[:LISTED]
    items = join_list([format_cell(row[0], label, lang) for row in shown], lang)
    whole = len(shown) == len(rows.rows)
    key = "values" if whole and label.role == "quantity" else "all" if whole else "some"
    text = _format_message(
        key,
        lang,
        n=f"{len(rows.rows):,}",
        k=str(len(shown)),
        items=items,
        label=_format_label(label, lang),
    )
    return RowSentence(text, len(shown))


def _find_quantity_column(known: Sequence[Label]) -> int | None:
    """Which of two columns is the quantity, where the other one is none."""
    quantities = [at for at, label in enumerate(known) if label.role == "quantity"]
    return quantities[0] if len(quantities) == 1 else None


def _describe_pairs(rows: Rows, known: Sequence[Label], at: int, lang: str) -> RowSentence:
    name, figure = known[1 - at], known[at]
    shown = rows.rows[:LISTED]
    items = [
        _format_message(
            "pair",
            lang,
            name=format_cell(row[1 - at], name, lang),
            value=format_cell(row[at], figure, lang),
        )
        for row in shown
    ]
    way = 0 if name.role == "time" else _detect_direction([row[at] for row in rows.rows])
    key = {1: "ranked_up", -1: "ranked_down", 0: "paired"}[way]
    key += "" if len(shown) == len(rows.rows) else "_some"
    y, x = _format_label(figure, lang), _format_label(name, lang)
    y = _capitalize_first(y, lang) if key.startswith("paired") else y
    top = None if way or rows.truncated else _find_highest([row[at] for row in rows.rows])
    said = {"x": x, "y": y, "n": f"{len(rows.rows):,}", "k": str(len(shown)), "top": ""}
    if top is not None:
        row = rows.rows[top]
        item = _format_message(
            "pair",
            lang,
            name=format_cell(row[1 - at], name, lang),
            value=format_cell(row[at], figure, lang),
        )
        said["top"] = _format_message(
            "top", lang, item=" " * (lang == "zh" and item[:1].isascii()) + item
        )
    text = _format_message(
        key, lang, items="、".join(items) if lang == "zh" else ", ".join(items), **said
    )
    return RowSentence(text, max(len(shown), 0 if top is None else top + 1))


def _find_highest(values: Sequence[Value]) -> int | None:
    """Where the one highest of at least three figures is; None if shared, missing, unquoted."""
    figures = [
        value for value in values if isinstance(value, int | float) and not isinstance(value, bool)
    ]
    if len(figures) < max(len(values), FEWEST_TO_MISS) or figures.count(max(figures)) > 1:
        return None
    at = figures.index(max(figures))
    return at if at < QUOTED else None


def _detect_direction(values: Sequence[Value]) -> int:
    """1 where figures only go up, -1 where only down, 0 where neither or some are missing."""
    figures = [value for value in values if isinstance(value, int | float)]
    if len(figures) < len(values) or len(set(figures)) < 2:
        return 0
    return (
        1 if figures == sorted(figures) else -1 if figures == sorted(figures, reverse=True) else 0
    )


def _describe_table(rows: Rows, known: Sequence[Label], lang: str) -> RowSentence:
    """Each cell with the words of its column, but the first where it names the row."""
    shown, headed = rows.rows[:FIRST], known[0].role != "quantity"
    items = [
        _format_headed_row(row, known, lang)
        if headed
        else _format_row(row, known, lang, "，" if lang == "zh" else ", ")
        for row in shown
    ]
    key = "rows" if len(shown) == len(rows.rows) else "rows_some"
    by = _format_message("by", lang, x=_format_label(known[0], lang)) if headed else ""
    text = ("；" if lang == "zh" else "; ").join(items)
    return RowSentence(
        _format_message(key, lang, n=f"{len(rows.rows):,}", k=str(len(shown)), by=by, items=text),
        len(shown),
    )


def _format_headed_row(row: Sequence[Value], known: Sequence[Label], lang: str) -> str:
    """`T300 (returned: 6, orders: 25)`."""
    rest = _format_row(row[1:], known[1:], lang, "，" if lang == "zh" else ", ")
    return _format_message("pair", lang, name=format_cell(row[0], known[0], lang), value=rest)


def _format_label(label: Label, lang: str) -> str:
    """A label within a sentence: Chinese keeps Latin words apart by a space."""
    words = label.words
    if lang != "zh":
        return words
    return (" " if words[:1].isascii() else "") + words + (" " if words[-1:].isascii() else "")


def _capitalize_first(text: str, lang: str) -> str:
    return text if lang == "zh" else text[:1].upper() + text[1:]


def _format_message(key: str, lang: str, **values: str) -> str:
    return translate(_TEXTS[key].fill(**values), lang).strip()
