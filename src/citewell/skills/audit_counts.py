"""What a number of a claim counts, held against what it counts in the source: 32 hidden units are not 32 parameters.

The one rule: only a counted noun that is known on both sides is compared, and only with the sentences nearest to the claim.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

import rjieba

from citewell.knowledge.words import STOP_EN, query_tokens
from citewell.skills.audit_pairs import SAME_WORDS
from citewell.skills.audit_words import Finding, Line, plain, tokens

_NUMBERS = "two three four five six seven eight nine ten eleven twelve"
_SPELT = {word: str(n) for n, word in enumerate(re.split(" ", _NUMBERS), 2)}
_SPELT |= {"两": "2"} | {c: str(n) for n, c in enumerate("三四五六七八九十", 3)}
_EN = re.compile(
    rf"(?<![\w.,-])(?P<n>\d{{1,3}}(?:,\d{{3}})+|\d+|{_NUMBERS.replace(' ', '|')})(?![\w,.%-])(?:\s+of)?(?:\s+the)?\s+"
    r"(?=(?P<noun>[a-z][a-z-]+(?:\s+[a-z][a-z-]+){0,2}))",
    re.IGNORECASE,
)
_CLASSIFIERS = "个名位条种项张台篇次轮组辆家座层类份句段块对步维"
_ZH = re.compile(
    rf"(?<![\d.第零一二三四五六七八九十百千万亿])(?P<n>\d+|[两三四五六七八九十])\s*(?P<by>[{_CLASSIFIERS}])\s*(?=(?P<noun>[\u4e00-\u9fff]{{0,8}}))"
)
_ITSELF = frozenset("次轮辆台层步维篇句段")  # they say what is counted without a noun
_END_WORDS = """
的 在 和 与 或 是 为 有 上 中 里 内 用 由 从 对 把 被 并 而 均 都 分别 后 前 时 进行 需要 使用 采用 达到 参与 用于 就 也 以 到
"""
_ENDS = frozenset(_END_WORDS.split())
_VERB_WORDS = """
is was has does shows uses yields gives needs takes reaches achieves gets outperforms improves reduces increases drops falls
rises costs adds makes lets leads means contains holds less plus versus as this thus its perhaps always times
"""
_VERBS = frozenset(_VERB_WORDS.split())  # in -s behind a number, and count nothing (layer 2 yields more)
_YEAR = re.compile(r"(?:19|20)\d\d")


@lru_cache(maxsize=4096)
def counts(text: str) -> tuple[tuple[str, frozenset[str], str], ...]:
    """Each whole number with the noun that it counts, as compared and as written, where that is plain to see."""
    found = []
    for m in _EN.finditer(text):
        noun = _plural(m["noun"])
        if noun and not _YEAR.fullmatch(m["n"]):
            found.append((_number(m["n"]), frozenset({(query_tokens(noun) or [noun])[-1]}), noun))
    for m in _ZH.finditer(text):
        words = _phrase(m["noun"])
        nouns = words | ({m["by"]} if m["by"] in _ITSELF else frozenset())
        if nouns:
            found.append((_number(m["n"]), nouns, _shown(m["noun"]) if m["by"] not in _ITSELF else m["by"]))
    return tuple(found)


def _number(written: str) -> str:
    return _SPELT.get(written.casefold(), written.replace(",", ""))


def _plural(phrase: str) -> str:
    """The first word that is more than one of something."""
    for word in phrase.casefold().split():
        if word in STOP_EN or word in _VERBS:
            return ""
        if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is", "ous")):
            return word
    return ""


def _phrase(text: str) -> frozenset[str]:
    """The words of a Chinese noun, up to what is no part of it."""
    return frozenset(word for word in _noun(text) if len(word) > 1)


def _shown(text: str) -> str:
    return "".join(_noun(text))


def _noun(text: str) -> list[str]:
    words = rjieba.cut(text)
    return words[: next((i for i, word in enumerate(words) if word in _ENDS or word in _CLASSIFIERS), len(words))][:3]


def miscounted(claim: str, evidence: Sequence[Line]) -> list[Finding]:
    """Numbers of the claim that count something else in the sentences nearest to it."""
    claim = plain(claim)
    words = tokens(claim)
    rows = [line.text for line in evidence if " | " not in line.text]
    found = []
    for number, nouns, shown in counts(claim):
        holding = [(len(words & tokens(text)), text) for text in rows if _holds(text, number)]
        most = max((n for n, _ in holding), default=0)
        judged = [_otherwise(number, nouns, shown, text) for n, text in holding if n == most]
        if judged and all(judged):
            found.append(next(each for each in judged if each))
    return [each for each in found if each]


def _holds(text: str, number: str) -> bool:
    return any(n == number for n, _, _ in counts(text)) or re.search(rf"(?<![\d.,]){number}(?![\d]|[.,]\d)", text) is not None


def _otherwise(number: str, nouns: frozenset[str], shown: str, text: str) -> Finding | None:
    """What a sentence counts with the number instead."""
    theirs = [(noun, written) for n, noun, written in counts(text) if n == number]
    if not theirs or any(_one(nouns, noun) for noun, _ in theirs):
        return None
    others = sorted(n for n, noun, _ in counts(text) if noun & nouns)
    what = theirs[0][1]
    if others:
        return Finding(f"the source counts {others[0]} {shown}, and {number} {what}")
    there = {stem for word in re.findall(r"[A-Za-z-]+", text) for stem in query_tokens(word)}
    if nouns & there or any(noun in text for noun in nouns if not noun.isascii()):
        return None
    return Finding(f"the source counts {number} {what}, not {shown}", fatal=False)


def _one(mine: frozenset[str], theirs: frozenset[str]) -> bool:
    """The same noun, or another word for it."""
    alike = any(mine & group and theirs & group for group in SAME_WORDS)
    return bool(mine & theirs) or alike or any(set(a) & set(b) for a in mine for b in theirs if not a.isascii())
