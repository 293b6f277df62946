"""Markdown taken off a sentence, and sentences that are put into Markdown."""

from __future__ import annotations

import re

_LINK = re.compile(r"!?\[([^\]\n]*)\]\([^)\s]*\)")
_MARKUP = re.compile(r"\*\*|__|`+|^#+\s+|^\s*[-*•]\s+", re.MULTILINE)


def strip_markup(text: str) -> str:
    """Without emphasis, code, the marks of headings and lists, and the addresses of links."""
    return _MARKUP.sub("", _LINK.sub(r"\1", text)).strip()


def flatten_text(text: str) -> str:
    """One line in which nothing is a tag."""
    return " ".join(text.split()).replace("<", "&lt;")
