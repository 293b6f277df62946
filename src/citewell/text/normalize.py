"""Normalizes what a user typed, without changing its meaning."""

from __future__ import annotations

import re
import unicodedata

_CONTROL = re.compile(
    r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff\ufff9"
    r"-\ufffb]"
)
_LONE_SURROGATE = re.compile(r"[\ud800-\udfff]")


def normalize_text(text: str) -> str:
    """Control and invisible direction characters, lone surrogates and needless white space removed;
    NFC.

    Zero-width joiners stay: they are part of emoji and of several scripts.
    """
    text = _LONE_SURROGATE.sub("", text)
    text = _CONTROL.sub("", unicodedata.normalize("NFC", text))
    return re.sub(r"\s+", " ", text).strip()
