"""Do two questions ask the same, do two answers say the same? Decided by rules, so that memories merge the same way each time.

The one rule: in doubt they do not. Two memories of one thing cost a line in a list; one memory of two things is a wrong answer.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

import rjieba

from citewell.ingest.sentences import language
from citewell.knowledge.words import STOP_EN, STOP_ZH, query_tokens
from citewell.skills.facts import Facts, facts, plain_words

# Measured with multilingual-e5-small on 74 pairs of questions (tests/skills/memory_pairs.py), half of them Chinese. The same in
# other words: 0.91 to 0.997 (0.85 across languages). Another question that differs in one word (the pump's guarantee, the
# battery's; install, remove): 0.88 to 0.973 where it is short, up to 0.984 where it is long, so meaning alone cannot tell them
# apart. Unrelated: 0.70 to 0.83. With these figures none of the 52 others passes, and 12 of the 22 same ones do.
SAME_MEANING = 0.975  # enough for short questions, one word of which may be another
SAME_WORDS_MEANING = 0.9  # enough where both have the same content words
SHORT = 3  # content words

# Words that say what kind of thing is asked for: "how long is the guarantee" and "the guarantee period" differ in them alone.
_ASKING_EN = """
long much many period duration year cost price amount steps way get find tell know explain give show exactly request days
address
"""
_ASKING_ZH = """
多长 多久 期限 时间 多少 多少钱 钱 价格 费用 年 一年 哪一年 何时 时候 几 天 几天 之内 地址 办理 申请
怎么 怎样 如何 步骤 方法 请问 告诉 一下 是 有 要 该 应该 可以 需要
"""
_ASKING = frozenset(query_tokens(_ASKING_EN)) | frozenset(_ASKING_ZH.split())


def same_question(one: str, other: str, cosine: float) -> bool:
    """Whether they ask the same of the same. `cosine`: of the two as embedded."""
    if same_words(one, other):
        return True
    mine, theirs = facts(one), facts(other)
    if mine.numbers != theirs.numbers or mine.dates != theirs.dates or bool(mine.negations) != bool(theirs.negations):
        return False
    if filled_in(one) != filled_in(other) or not (_named(mine, other) and _named(theirs, one)):
        return False
    one_words, other_words = _content(one), _content(other)
    if one_words == other_words:
        return bool(one_words) and cosine >= SAME_WORDS_MEANING
    short = max(len(one_words), len(other_words)) <= SHORT and len(one_words - other_words) <= 1 >= len(other_words - one_words)
    return short and cosine >= SAME_MEANING and bool(one_words & other_words)


def same_answer(one: str, other: str, question: str) -> bool:
    """Whether no figure, date, denial or name of one speaks against the other, and they have words in common."""
    mine, theirs = facts(one), facts(other)
    if not (_within(mine.numbers, theirs.numbers) and _within(mine.dates, theirs.dates)):
        return False
    if bool(mine.negations) != bool(theirs.negations):
        return False
    if same_words(one, other) or language(one) != language(other):
        return True
    if not (_named(mine, other) or _named(theirs, one)):
        return False
    own, others = (_words(text) - _words(question) for text in (one, other))
    return bool(own & others) or not (own and others) or bool(mine.numbers & theirs.numbers or mine.dates & theirs.dates)


def filled_in(question: str) -> frozenset[str]:
    """What stands in brackets: the user's own plan, say, where two questions differ in nothing else."""
    return frozenset(_folded(each) for each in re.findall(r"[(（]([^()（）]+)[)）]", question))


def same_words(one: str, other: str) -> bool:
    """Equal but for case, width, spaces and marks."""
    return _folded(one) == _folded(other)


def _within(one: frozenset[str], other: frozenset[str]) -> bool:
    return one <= other or other <= one


def _named(known: Facts, text: str) -> bool:
    there = unicodedata.normalize("NFKC", text).casefold()
    return all(name in there for name in known.names)


@lru_cache(maxsize=4096)
def _folded(text: str) -> str:
    return re.sub(r"[\W_]+", " ", unicodedata.normalize("NFKC", text).casefold()).strip()


@lru_cache(maxsize=4096)
def _words(text: str) -> frozenset[str]:
    plain = plain_words(text)
    return frozenset(query_tokens(plain)) if plain.strip() else frozenset()


@lru_cache(maxsize=4096)
def _content(text: str) -> frozenset[str]:
    """The words of a question but for those that only ask; Chinese ones as jieba cuts them, without the pairs of an index."""
    plain = unicodedata.normalize("NFKC", plain_words(text)).casefold()
    chinese = {word for word in rjieba.cut(plain) if not word.isascii() and word.isalnum()}
    english = {word for word in query_tokens(plain) if word.isascii()} if plain.strip() else set()
    return frozenset((chinese | english) - _ASKING - STOP_ZH - STOP_EN)
