"""The words to know of a paper: abbreviations with what they stand for, and named things.
A term comes with the sentence in which the paper itself says what it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

import rjieba

from citewell.skills.guide.paper_name import OwnWork
from citewell.skills.guide.quotable import Line
from citewell.skills.paper.reading_context import OpenPaper
from citewell.text.language import HAN
from citewell.text.split_words import split_words

MOST = 8
LEAST_USED = 2
LONGEST_ZH = 12  # characters of a Chinese term
# candidates that are counted over all of the text, the first found: five papers have 2 to 12
MOST_COUNTED = 200

_ABBREVIATED = re.compile(
    r"(?P<long>[A-Za-z][\w'’-]*(?:[ -][\w'’-]+){0,9})\s+\((?P<short>[A-Z][A-Za-z0-9-]{1,11})\)"
)
_MIXED = r"(?P<name>[A-Z][A-Za-z0-9]*(?:[A-Z0-9]|-[A-Z])[A-Za-z0-9-]*)"
_NAMED = (  # a name beside what it is
    re.compile(
        rf"^{_MIXED}(?: \([^()]+\))? (?:is|are|was) "
        rf"(?:an?|the|one)\b|^{_MIXED.replace('name', 'zh')}是"
    ),
    re.compile(
        rf"\b(?:propose|present|introduce|describe|develop|collect|release|construct|define|"
        rf"framework|method|model|system),? {_MIXED},"
    ),
)
_ZH_BRACKET = re.compile(
    rf"(?P<long>[{HAN}A-Za-z0-9-]{{0,24}}[{HAN}A-Z][A-Za-z0-9-]{{0,16}}(?<=[{HAN}A-Z0-9]))"
    r"[（(](?P<inside>[A-Za-z][A-Za-z0-9 ,，@'’-]{1,60})[）)]"
)
_ZH_NAMED = re.compile(rf"(?:称为|称作|叫做|记为)[“]?(?P<term>[{HAN}]{{2,8}})[”]?[。，；]")
_ASCII_WORD = re.compile(r"[a-z0-9]")
_NOT_TERMS = split_words("et al eg ie ours see figure table all i ii iii iv a b")
_ZH_KEEP = split_words("n nz vn v a an b j l eng x m g ng ad i f k h")
_ZH_BREAK = split_words("是 有 提出 采用 使用 利用 包括 计算 为 用 即 引入 以 由 取 报告 结合 基于")


@dataclass(frozen=True, slots=True)
class KnownTerm:
    """`name` as shown, `key` as counted, `line` the sentence that explains it."""

    name: str
    key: str
    line: Line


def extract_terms(
    book: OpenPaper, lines: Sequence[Line], own: OwnWork, most: int = MOST
) -> list[KnownTerm]:
    """The terms that the paper uses most, best first; none is a part of another's name."""
    body = "\n".join(
        book.document.text[p.start : p.end] for p in book.paper.parts if p.role != "references"
    ).casefold()
    found: dict[str, KnownTerm] = {}
    for known in (known for line in lines for known in _find_terms(line)):
        held = found.setdefault(known.key.casefold(), known)
        told = (_has_explanation(each.line, known.key) for each in (known, held))
        name = max(known.name, held.name, key=len)  # with what it stands for
        line = known.line if tuple(told) == (True, False) else held.line
        found[known.key.casefold()] = KnownTerm(name, known.key, line)
    opening = [x for x in lines if own.named(x) and x.role in ("abstract", "introduction")]
    if opening:
        found.setdefault(own.name.casefold(), KnownTerm(own.name, own.name, opening[0]))
    used = {key: _count_uses(key, body) for key in islice(found, MOST_COUNTED)}
    ranked = sorted(used, key=lambda key: (-used[key], found[key].line.order))
    kept: list[KnownTerm] = []
    for each in (found[key] for key in ranked if used[key] >= LEAST_USED):
        if not any(each.name in other.name or other.name in each.name for other in kept):
            kept.append(each)
    return kept[:most]


def _count_uses(key: str, body: str) -> int:
    """How often it stands in the text, a Latin one as a word."""
    if not key.isascii():
        return body.count(key)
    count, at = 0, body.find(key) if key else -1
    while at >= 0:
        end = at + len(key)
        count += not _ASCII_WORD.match(body[at - 1 : at]) and not _ASCII_WORD.match(
            body[end : end + 1]
        )
        at = body.find(key, end)
    return count


def _has_explanation(line: Line, key: str) -> bool:
    """Whether the sentence says what it is, rather than only use it."""
    verbs = r"\)?,? (?:is|are|was|which|consists?|refers?)\b|[）)]?(?:是|指|为)"
    return bool(re.search(rf"{re.escape(key)}(?:{verbs})", line.quote))


def _find_terms(line: Line) -> Iterator[KnownTerm]:
    text = line.text
    if (line.part.appendix and line.role != "method") or line.dangling:
        return
    # the patterns of a bracket try every word of a sentence
    bracketed = "(" in text or "（" in text
    for match in _ABBREVIATED.finditer(text) if bracketed else ():
        long = expand_abbreviation(match["long"], match["short"])
        if long and match["short"].casefold() not in _NOT_TERMS:
            yield KnownTerm(f"{long} ({match['short']})", match["short"], line)
    for match in _ZH_BRACKET.finditer(text) if bracketed else ():
        inside = match["inside"].strip()
        name = _extract_latin_name(match["long"])
        if line.zh and (long := name or _extract_zh_noun_phrase(match["long"])):
            short = next((part for part in re.split(r"[,，]\s*", inside) if part.isupper()), "")
            yield KnownTerm(f"{long}（{inside}）", short or long, line)
    for named in _NAMED:
        if (said := named.search(text)) and (
            own_name := said["name"] or said.groupdict().get("zh")
        ):
            yield KnownTerm(own_name, own_name, line)
    if meant := _ZH_NAMED.search(text):
        yield KnownTerm(meant["term"], meant["term"], line)


def expand_abbreviation(long: str, short: str) -> str:
    """The words before a bracket that its abbreviation stands for, by Schwartz and Hearst (2003):
    read from the end, each letter must be found in turn, the first at the beginning of a word.
    Empty where they are not.
    """
    letters = [c for c in short.casefold() if c.isalnum()]
    if letters and letters[-1] == "s" and short.endswith("s") and short[:-1].isupper():
        letters.pop()  # a plural
    at, folded = len(long), long.casefold()
    for n in range(len(letters) - 1, -1, -1):
        at -= 1
        while at >= 0 and (
            folded[at] != letters[n] or (n == 0 and at > 0 and folded[at - 1].isalnum())
        ):
            at -= 1
        if at < 0:
            return ""
    found = long[at:].strip()
    words = found.split()
    fits = len(words) <= min(len(letters) + 5, 2 * len(letters)) and len(found) > len(short)
    return found if fits and found.casefold() != short.casefold() else ""


def _extract_zh_noun_phrase(run: str) -> str:
    """The noun phrase that a run of Chinese ends in."""
    kept: list[str] = []
    for word, tag in reversed(rjieba.tag(run)):
        if word in _ZH_BREAK or (tag not in _ZH_KEEP and not tag.startswith("n")):
            break
        kept.insert(0, word)
    phrase = "".join(kept)
    return phrase if 2 <= len(phrase) <= LONGEST_ZH else ""


def _extract_latin_name(name: str) -> str:
    """The Latin name that a Chinese term ends in, as `检索方法HLR`."""
    match = re.search(r"[A-Z][A-Za-z0-9-]+$", name)
    return match[0] if match else ""
