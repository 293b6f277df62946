"""Marked-up text, subtitles, calendars, and dates as files write them."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from citewell.config import IngestSettings
from citewell.ingest.markup import calendar as calendar_text
from citewell.ingest.markup import light_markup as outlined
from citewell.ingest.markup import subtitles
from citewell.text.timestamps import parse_timestamp

SETTINGS = IngestSettings()


@pytest.mark.parametrize(
    ("name", "text", "title", "wanted"),
    [
        (
            "a.tex",
            "\\title{On \\emph{it}}\n\\section{One}\nx $y^2$\n\\subsection*{Two}\nz",
            "On it",
            [(), ("One",), ("One", "Two")],
        ),
        (
            "a.adoc",
            "= Doc\n\n== One\n\ntext\n\n=== Two\n",
            "Doc",
            [("Doc",), ("Doc", "One"), ("Doc", "One", "Two")],
        ),
        (
            "a.org",
            "#+TITLE: My doc\n* One\ntext\n** Two\n",
            "My doc",
            [(), ("One",), ("One", "Two")],
        ),
        ("a.wiki", "lead\n== One ==\ntext\n=== Two ===\n", "a", [(), ("One",), ("One", "Two")]),
    ],
)
def test_markup_stays(name: str, text: str, title: str, wanted: list[tuple[str, ...]]) -> None:
    """The text is kept as it stands; headings make sections, and the file's own title is its
    title.
    """
    document = outlined.parse(text.encode(), name, SETTINGS)
    assert (document.text, document.title) == (text.strip("\n"), title)
    assert [section.heading_path for section in document.sections] == wanted


def test_subtitles() -> None:
    """Captions that run on make one paragraph with its time; a pause ends it; numbers and tags
    go.
    """
    text = (
        "1\n00:00:01,000 --> 00:00:03,000\n<i>We begin</i>\nwith this\n\n2\n00:00:03,100 --> "
        "00:00:05,000\nand go on.\n\n"
        "3\n01:02:03,000 --> 01:02:05,000\n后来\n呢？\n"
    )
    document = subtitles.parse(text.encode(), "a.srt", SETTINGS)
    assert document.text == "[00:00:01] We begin with this and go on.\n\n[01:02:03] 后来呢？"
    web = (
        "WEBVTT\n\nintro\n00:01.000 --> 00:02.000 align:start\nHello\n\n00:02.500 --> "
        "00:03.000\nthere.\n"
    )
    assert subtitles.parse(web.encode(), "a.vtt", SETTINGS).text == "[00:00:01] Hello there."


def test_calendars_and_cards() -> None:
    """Entries are sections; folded lines are joined, escapes undone, times readable, identifiers
    left out.
    """
    text = (
        "BEGIN:VCALENDAR\nVERSION:2.0\nBEGIN:VEVENT\nUID:1@x\nSUMMARY:Plan\\, part 2\n"
        "DTSTART;TZID=Europe/Paris:20240305T090000\n"
        "LOCATION:Third \n "
        "floor\nBEGIN:VALARM\nTRIGGER:-PT15M\nEND:VALARM\nEND:VEVENT\nEND:VCALENDAR\n"
    )
    document = calendar_text.parse(text.encode(), "a.ics", SETTINGS)
    assert (
        document.text == "summary: Plan, part 2\ndtstart: 2024-03-05 09:00\nlocation: Third floor"
    )
    assert document.sections[0].heading_path == ("Plan, part 2",)
    card = (
        "BEGIN:VCARD\nVERSION:2.1\nFN;CHARSET=UTF-8;"
        "ENCODING=QUOTED-PRINTABLE:=E7=8E=8B=E4=BA=94\nTEL;CELL:123\nEND:VCARD\n"
    )
    assert calendar_text.parse(card.encode(), "a.vcf", SETTINGS).text == "fn: 王五\ntel: 123"


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("2024-05-01", (2024, 5, 1)),
        ("2024-05-01T10:00:00+08:00", (2024, 5, 1)),
        ("Wed, 01 May 2024 10:00:00 +0800", (2024, 5, 1)),
        ("2024年5月1日", (2024, 5, 1)),
        ("2024/5/1 10:20", (2024, 5, 1)),
        ("May 2024", (2024, 5, 1)),
        ("5 May 2024", (2024, 5, 5)),
        ("1890", (1890, 1, 1)),
        ("soon", None),
        ("2024-13-45", None),
        ("01/02/2024", None),
    ],
)
def test_dates(text: str, day: tuple[int, int, int] | None) -> None:
    """Dates in the forms that files use; what is not sure is none."""
    when = parse_timestamp(text)
    found = None if when is None else datetime.fromtimestamp(when, UTC)
    assert (None if found is None else (found.year, found.month, found.day)) == day
