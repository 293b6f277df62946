"""Where sentences end, in Chinese and English. Spans are in order, never overlap, carry no white
space at their ends, and together hold every character that is not white space. One pass: a megabyte
of dots costs no more than a megabyte of prose.
"""

from __future__ import annotations

import re
from typing import Final

from citewell.text.language import count_tokens, detect_language, is_cjk
from citewell.text.line_breaks import split_blocks


def _split_words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# a full stop after these never ends a sentence
NEVER_LAST: Final = _split_words("""
    mr mrs ms dr prof st messrs mme gen col lt sgt capt cmdr rev hon gov sen rep pres
    e.g i.e eg ie vs cf viz resp fig figs eq eqs sec secs tab thm lem def cor prop
    ref refs approx ca dept univ
""")
# after these it ends one only where the next word plainly opens a sentence
SELDOM_LAST: Final = _split_words("""
    etc al inc ltd co corp bros jr sr est ave blvd rd ext tel min max avg ed eds trans incl
    jan feb mar apr jun jul aug sep sept oct nov dec mon tue wed thu fri sat sun
""")
# after these it does not end one where a number follows
BEFORE_NUMBERS: Final = _split_words("no nos vol vols p pp ch chap art para app pt ver v n")
OPENERS: Final = _split_words("""
    the a an he she it they we i you in on at this that these those his her its their our my your
    but and so then thus however although moreover furthermore when while since after before
    for if as there to from with by what who how why where
""")

__all__ = ["count_tokens", "detect_language", "split_sentences"]

LONGEST_TITLE = 60  # characters
# characters of a table's row that is kept whole, for its cells say little without one another
LONGEST_ROW = 400
_STOPS = re.compile(r"[。！？；｡…!?.．]+")
_CLOSERS = re.compile(r"[\"'”’」』）)\]】》〉»］｝}]*(?:\[\d[\d,\s–-]{0,12}\])*[⁰¹²³⁴-⁹]*")
_CHINESE = frozenset("。！？；｡")
_GOES_ON = frozenset("，、,：:;")
_TOKEN = re.compile(r"[^\s(（\[【“‘\"'「《,，;/]*\Z")
_MARKER = re.compile(r"[(（\[]?(?:[\d.]{1,8}|[A-Za-z]|[ivxlIVXL]{1,6})")
_LETTERS = re.compile(r"[A-Za-z]{1,12}")
_SINGLE_LETTERS = re.compile(r"(?:[A-Za-z]\.)*[A-Za-z]|[A-Z]h\.D|M\.Sc|B\.Sc")


def split_sentences(text: str) -> list[tuple[int, int]]:
    """Spans of the sentences of `text`."""
    found: list[tuple[int, int]] = []
    for start, end in split_blocks(text):
        row = end - start <= LONGEST_ROW and text.find(" | ", start, end) >= 0
        found.extend([(start, end)] if row else _split_block(text, start, end))
    return found


def _split_block(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """The sentences of one block, whose edges are not white space."""
    spans: list[tuple[int, int]] = []
    quotes, counted, at = 0, start, start
    while match := _STOPS.search(text, at, end):
        quotes += text.count('"', counted, match.end())
        counted = match.end()
        at = _skip_closers(text, match.end(), end, quotes % 2 == 1)
        if at == end:
            break
        if _is_sentence_end(text, start, match, at, end):
            spans.append((start, at))
            start = _skip_space(text, at, end)
    if start < end:
        spans.append((start, end))
    return spans


def _skip_closers(text: str, at: int, end: int, quote_open: bool) -> int:
    """Where quotes and brackets close behind a stop; a straight quote closes an open one."""
    match = _CLOSERS.match(text, at, end)
    stop = match.end() if match else at
    if (
        stop > at
        and text[at] in "\"'"
        and not quote_open
        and stop < end
        and not text[stop].isspace()
    ):
        return at
    return stop


def _skip_space(text: str, at: int, end: int) -> int:
    while at < end and text[at].isspace():
        at += 1
    return at


def _is_sentence_end(text: str, start: int, match: re.Match[str], at: int, end: int) -> bool:
    """Whether the stops of `match`, closed at `at` (< `end`), end the sentence from `start`."""
    stops, following = match.group(), text[at]
    if _STOPS.match(following) or _is_in_title(text, start, match, end):
        return False  # as in `why?).`: the later stop decides
    if not _CHINESE.isdisjoint(stops):
        return following not in _GOES_ON
    before = text[match.start() - 1] if match.start() > start else " "
    if stops == "．":
        return not before.isdigit()
    if not following.isspace():
        return (
            is_cjk(following)
            and following not in _GOES_ON
            and (is_cjk(before) or stops[-1] in "!?")
        )
    opening = _skip_space(text, at, end)
    if text[opening] in _GOES_ON:
        return False
    if stops[-1] in "!?":
        return at == match.end() or not text[opening].islower()
    if text[opening].islower():
        return False
    return (
        len(stops) > 1 or stops == "…" or _is_final_full_stop(text, start, match.start(), opening)
    )


def _is_in_title(text: str, start: int, match: re.Match[str], end: int) -> bool:
    """Whether the stops stand in a title, as in 《CDTV！》, opened and closed nearby."""
    opened = text.rfind("《", max(start, match.start() - LONGEST_TITLE), match.start())
    closed = text.rfind("》", max(start, match.start() - LONGEST_TITLE), match.start())
    return (
        opened > closed and text.find("》", match.end(), min(end, match.end() + LONGEST_TITLE)) >= 0
    )


def _is_final_full_stop(text: str, start: int, dot: int, opening: int) -> bool:
    """Whether the full stop at `dot` ends a sentence, the next word starting at `opening`."""
    if dot - start <= 9 and _MARKER.fullmatch(text, start, dot):
        return False  # `1. First item`, `(a. ...`
    token = _TOKEN.search(text[max(start, dot - 24) : dot])
    word = token.group() if token else ""
    lower = word.lower()
    if lower in NEVER_LAST:
        return False
    if lower in BEFORE_NUMBERS:
        return not text[opening].isdigit()
    if lower in SELDOM_LAST or _SINGLE_LETTERS.fullmatch(word):
        following = _LETTERS.match(text, opening)
        return bool(following and following.group().lower() in OPENERS)
    return True
