"""In which language what is said now is shown. Whoever begins to serve a request says it
(`showing_in`); everywhere else it is English.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Final

from citewell.messages.catalogue import ENGLISH, list_languages, translate
from citewell.messages.text import Text

EVERY: Final = "*"  # all of them at once, for our page, whose reader may choose another at any time
_LANGUAGE: ContextVar[str] = ContextVar("citewell_language", default=ENGLISH)


@contextmanager
def showing_in(language: str) -> Iterator[None]:
    """Texts that are shown within are shown in this language, or in `EVERY` one."""
    before = _LANGUAGE.set(language)
    try:
        yield
    finally:
        _LANGUAGE.reset(before)


def choose_language(accepted: str) -> str:
    """Our language that an `Accept-Language` likes best (RFC 9110, 12.5.4), else English."""
    wishes: list[tuple[float, str]] = []
    for part in accepted.split(","):
        name, _, weight = part.strip().partition(";")
        wishes.append((_parse_weight(weight), name.strip().split("-")[0].lower()))
    wishes.sort(key=lambda wish: -wish[0])
    return next((name for q, name in wishes if q > 0 and name in list_languages()), ENGLISH)


def _parse_weight(weight: str) -> float:
    name, _, value = weight.replace(" ", "").partition("=")
    try:
        return float(value) if name == "q" else 1.0
    except ValueError:
        return 0.0


def show_text(text: str) -> Any:
    """A text of ours as JSON has it: a string in the language of now, or `{"texts": {language:
    string}}` with `EVERY` one. Any other string as it is.
    """
    language = _LANGUAGE.get()
    if not isinstance(text, Text):
        return text
    if language == EVERY:
        return {"texts": {each: translate(text, each) for each in list_languages()}}
    return translate(text, language)


def show_texts(value: Any) -> Any:
    """The same of every string in dicts, lists and tuples."""
    if isinstance(value, str):
        return show_text(value)
    if isinstance(value, dict):
        return {name: show_texts(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [show_texts(each) for each in value]
    return value
