"""The texts in other languages: one gettext file each, `locale/LANGUAGE/LC_MESSAGES/citewell.po`.
English needs none: the texts of the server stand in the code and are the keys, those of the page
stand in `locale/citewell.pot` (msgctxt: the key by which a script asks for it, such as
`ask.placeholder`; msgid: the English). A text that a language lacks is shown in English.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from string import Formatter
from typing import NamedTuple

from citewell.messages.text import Text, Value

LOCALE = Path(__file__).parent / "locale"
ENGLISH = "en"
_WIDE = re.compile(r"[\u3000-\u303f\u4e00-\u9fff\uff00-\uffef“”]")  # no space stands beside these
_FIELD = re.compile(r'(msgctxt|msgid|msgstr) ("(?:.*)")|(".*")')


@cache
def list_languages() -> tuple[str, ...]:
    """English first, then those that have a file."""
    return (ENGLISH, *sorted(path.parts[-3] for path in LOCALE.glob("*/LC_MESSAGES/citewell.po")))


class Entry(NamedTuple):
    """One of a .po file. `context`: the key of a text of the page, empty for one of the server."""

    context: str
    text: str
    translation: str


@cache
def load_catalogue(language: str) -> dict[str, str]:
    """English text of the server -> the same in that language; empty for one without a file."""
    return {
        entry.text: entry.translation
        for entry in _read_entries(language)
        if entry.translation and not entry.context
    }


@cache
def load_page_words(language: str) -> dict[str, str]:
    """The page's texts by key; English where the language lacks one, or has an outdated one."""
    translated = {
        (entry.context, entry.text): entry.translation
        for entry in _read_entries(language)
        if entry.translation
    }
    english = parse_po((LOCALE / "citewell.pot").read_text("utf-8"))
    return {
        entry.context: translated.get((entry.context, entry.text), entry.text) for entry in english
    }


def _read_entries(language: str) -> Iterator[Entry]:
    if language != ENGLISH and language in list_languages():
        path = LOCALE / language / "LC_MESSAGES" / "citewell.po"
        yield from parse_po(path.read_text("utf-8"))


def parse_po(source: str) -> list[Entry]:
    """The entries of a .po file, without its header.

    What of gettext's format this catalogue uses: `msgctxt`, `msgid` and `msgstr` in this order,
    each of one or more quoted lines, and comments.
    """
    entries: list[dict[str, str]] = []
    keyword = ""
    for line in source.splitlines():
        found = _FIELD.fullmatch(line)
        if found is None:
            continue
        if found[1]:
            begins = found[1] == "msgctxt" or (found[1] == "msgid" and keyword != "msgctxt")
            keyword = found[1]
            if begins:
                entries.append({})
        entry = entries[-1]
        entry[keyword] = entry.get(keyword, "") + json.loads(found[2] or found[3])
    return [
        Entry(entry.get("msgctxt", ""), entry["msgid"], entry["msgstr"])
        for entry in entries
        if entry["msgid"]
    ]


def translate(text: str, language: str) -> str:
    """A text of ours in that language, with the texts among its values; any other as it is."""
    if language == ENGLISH or not isinstance(text, Text):
        return str.__str__(text)
    translated = load_catalogue(language).get(text.template)
    if not text.values:
        return translated or text.template
    values = {name: _translate_value(value, language) for name, value in text.values.items()}
    return _fill(translated, values) if translated else text.template.format(**values)


def _translate_value(value: Value, language: str) -> Value:
    return translate(value, language) if isinstance(value, str) else value


def _fill(template: str, values: dict[str, Value]) -> str:
    """As `str.format`, but no space is left beside a value where Chinese would meet Chinese."""
    filled = ""
    for literal, name, spec, conversion in Formatter().parse(template):
        filled = _join_words(filled, literal)
        if name is None:
            break
        field = f"{{{name}{'!' + conversion if conversion else ''}{':' + spec if spec else ''}}}"
        filled = _join_words(filled, field.format(**values))
    return filled


def _join_words(before: str, after: str) -> str:
    """Without the space where they meet, if a Chinese character or mark stands on both sides."""
    spaced, joined = before + after, before.rstrip(" ") + after.lstrip(" ")
    at = len(before.rstrip(" "))
    meets = 0 < at < len(joined) and _WIDE.match(joined[at - 1]) and _WIDE.match(joined[at])
    return joined if meets else spaced
