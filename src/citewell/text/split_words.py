"""Word lists written as one text."""

from __future__ import annotations


def split_words(text: str) -> frozenset[str]:
    """The words between white space."""
    return frozenset(text.split())
