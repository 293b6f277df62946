"""Rows of tables as our parsers write them: `City: Oslo | Limit: €210`."""

from __future__ import annotations

from citewell.text.sentences import LONGEST_ROW

CELL = " | "


def is_row(text: str) -> bool:
    """Whether a sentence is a row of a table, which stands whole on its line."""
    return CELL in text and "\n" not in text.strip() and len(text) <= LONGEST_ROW
