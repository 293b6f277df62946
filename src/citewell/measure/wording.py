"""An answer's words against the gold ones: exact match, F1, contains, right. English is compared by
words and Chinese by characters, so neither needs a segmenter and both can be done by hand.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence

_ARTICLES = re.compile(r"\b(?:a|an|the)\b")
_HAN = re.compile(r"[\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
# a figure with its sign and decimals, a run of letters (Chinese characters one by one, split
# beforehand; C is not C++), or a sign that means something
_TOKEN = re.compile(r"(?:(?<!\w)-)?\d+(?:\.\d+)*|[^\W\d_]+(?:\+\+|#)?|[%‰$€£¥°]")
_RAISED = re.compile(r"[⁰¹²³⁴-⁹]")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
ENOUGH = 0.8  # share of a long gold answer's words that makes an answer right
LONG = 5  # a gold answer of fewer words has to be there as it stands


def normalize_words(text: str) -> list[str]:
    """Words as the SQuAD evaluation compares them (Rajpurkar et al. 2016): lower case, no
    punctuation, no a/an/the. Chinese characters are words of their own, as in the evaluation of
    MLQA (Lewis et al. 2020); width does not count (NFKC).
    """
    text = unicodedata.normalize("NFKC", text).casefold()
    text = "".join(
        c for c in text if not unicodedata.category(c).startswith("P") and c not in "$+<=>^`|~"
    )
    return _HAN.sub(r" \g<0> ", _ARTICLES.sub(" ", text)).split()


def score_exact_match(said: str, gold: str) -> float:
    """1 where the words are the same in the same order, else 0; nothing said is never the same."""
    return float(bool(said.strip()) and normalize_words(said) == normalize_words(gold))


def compute_f1(said: str, gold: str) -> float:
    """2PR / (P + R) over words counted with repetition (Rajpurkar et al. 2016)."""
    mine, theirs = normalize_words(said), normalize_words(gold)
    if not mine or not theirs:
        return score_exact_match(said, gold)
    shared = sum((Counter(mine) & Counter(theirs)).values())
    return 2 * shared / (len(mine) + len(theirs))


def tokenize_text(text: str) -> list[str]:
    """Figures, words, single Chinese characters and signs such as % in order; case, width and
    commas of thousands aside.
    """
    text = unicodedata.normalize("NFKC", _RAISED.sub(r" \g<0>", text)).casefold()  # 10² is not 102
    text = _THOUSANDS.sub("", text.replace("−", "-"))
    return _TOKEN.findall(_HAN.sub(r" \g<0> ", text))


def contains_answer(said: str, gold: str) -> bool:
    """Whether gold tokens stand together in the answer: 2 is not in 2023; 125 kg is in 125kg."""
    hay, needle = tokenize_text(said), tokenize_text(gold)
    if not needle:
        return False
    return any(hay[at : at + len(needle)] == needle for at in range(len(hay) - len(needle) + 1))


def compute_recall(said: str, gold: str) -> float:
    """Share of the gold answer's words, counted with repetition, that the answer holds."""
    theirs = normalize_words(gold)
    return (
        sum((Counter(normalize_words(said)) & Counter(theirs)).values()) / len(theirs)
        if theirs
        else 0.0
    )


def is_answer_given(said: str, gold: str) -> bool:
    """Whether a gold answer is given as it stands, or if long, most words and all figures."""
    if contains_answer(said, gold):
        return True
    if len(normalize_words(gold)) < LONG or compute_recall(said, gold) < ENOUGH:
        return False
    figures = [token for token in tokenize_text(gold) if token[-1].isdigit()]
    return not Counter(figures) - Counter(tokenize_text(said))


def is_right(said: str, answers: Sequence[str], parts: Sequence[Sequence[str]] = ()) -> bool:
    """Whether any gold answer is given, or every part of it in one of its wordings."""
    if parts:
        return all(any(is_answer_given(said, wording) for wording in part) for part in parts)
    return any(is_answer_given(said, gold) for gold in answers)


def has_verbatim_answer(
    said: str, answers: Sequence[str], parts: Sequence[Sequence[str]] = ()
) -> bool:
    """Like `is_right`, but every gold answer has to be there as it stands."""
    if parts:
        return all(any(contains_answer(said, wording) for wording in part) for part in parts)
    return any(contains_answer(said, gold) for gold in answers)
