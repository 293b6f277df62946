"""Calendars (.ics) and address cards (.vcf): an entry a block of `key: value` lines. Keys are said
as the file has them, values without their escapes; times of machines (stamps, identifiers) go.
"""

from __future__ import annotations

import quopri
import re
from contextlib import suppress
from datetime import datetime
from typing import Final

from citewell.config import IngestSettings
from citewell.ingest.assemble import Assembly, clean_text
from citewell.text.charset import decode_text
from citewell.text.split_words import split_words
from citewell.types import Document

_FOLD = re.compile(r"\n[ \t]")
_SOFT = re.compile(r"=\n")
_LINE = re.compile(
    r"(?:[\w-]+\.)?(?P<key>[\w-]+)(?P<parameters>(?:;(?:[^;:\"\n]|\"[^\"\n]*\")*)*):(?P<value>.*)",
    re.DOTALL,
)
_ESCAPE = re.compile(r"\\([nN,;\\])")
_MACHINES: Final = split_words(
    "uid dtstamp created last-modified sequence prodid version calscale method transp rev photo"
)
_OUTER: Final = frozenset({"vcalendar", "vtimezone", "standard", "daylight", "valarm"})
_TITLES: Final = ("summary", "fn", "n")


def parse(data: bytes, name: str, settings: IngestSettings) -> Document:  # noqa: ARG001 the form of every parser
    """A calendar or a file of address cards."""
    raw, warnings = decode_text(data, name)
    assembly = Assembly()
    entry: list[tuple[str, str]] = []
    kinds: list[str] = []
    for line in _FOLD.sub("", _SOFT.sub("", clean_text(raw))).split("\n"):
        match = _LINE.match(line)
        if match is None:
            continue
        key, value = match["key"].lower(), _decode_value(match["value"], match["parameters"])
        if key == "begin":
            kinds.append(value.lower())
        elif key == "end":
            if kinds and kinds.pop() not in _OUTER:
                _add_entry(entry, assembly)
                entry = []
        elif (
            kinds
            and kinds[-1] not in _OUTER
            and key not in _MACHINES
            and not key.startswith("x-")
            and value
        ):
            entry.append((key, value))
    media_type = "text/vcard" if name.lower().endswith(".vcf") else "text/calendar"
    return assembly.document(name, media_type, warnings=warnings)


def _add_entry(entry: list[tuple[str, str]], assembly: Assembly) -> None:
    title = next((value for wanted in _TITLES for key, value in entry if key == wanted), "")
    assembly.begin(1, " ".join(title.split()) or "#")
    assembly.block("\n".join(f"{key}: {value}" for key, value in entry))


def _decode_value(value: str, parameters: str) -> str:
    if "quoted-printable" in parameters.lower():
        value = decode_text(quopri.decodestring(value.encode("utf-8", "replace")), "a card")[0]
    if "encoding=b" in parameters.lower():
        return ""
    text = _ESCAPE.sub(lambda match: "\n" if match[1] in "nN" else match[1], value).strip()
    for form, shown in (
        ("%Y%m%dT%H%M%SZ", "%Y-%m-%d %H:%M UTC"),
        ("%Y%m%dT%H%M%S", "%Y-%m-%d %H:%M"),
        ("%Y%m%d", "%Y-%m-%d"),
    ):
        if text[:8].isdecimal():
            with suppress(ValueError):
                return datetime.strptime(text, form).strftime(shown)  # noqa: DTZ007 - shown as it is written
    return text
