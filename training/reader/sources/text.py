"""What the sets have in common: tidy text, sentences, windows of a passage, the passages most like
a question, and rows.

The one rule: whatever is drawn is drawn from the generator that is handed in, so a set gives the
same rows every time.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from itertools import pairwise
from random import Random

from rows import CJK, Row

COMMON = 2000  # passages that hold a word; a more frequent one finds nothing
CHINESE = 0.4  # length of a Chinese window beside an English one
_MARKS = {
    "-LRB-": "(",
    "-RRB-": ")",
    "-LSB-": "[",
    "-RSB-": "]",
    "-COLON-": ":",
    "`` ": '"',
    " ''": '"',
    "``": '"',
    "''": '"',
}
_SPACING = (
    (r"\s+([,.;:?!%)\]])", r"\1"),
    (r"([(\[])\s+", r"\1"),
    (r"\s+(n't|'s|'re|'ve|'ll|'d|'m)\b", r"\1"),
    (r"\s+'(?=\s)", "'"),
    (r"(?<=\w) - (?=\w)", "-"),
    (" -- ", " – "),
)
_END = re.compile(
    r"[。！？；]+[”’」』）]?|(?<![A-Z])(?<!\b[A-Z][a-z])(?<!\b(?:St|Mr|Dr|"
    r"vs))[.!?]+[\"”’)]*(?=\s+[\"“(A-Z0-9])",
)


def tidy(text: str) -> str:
    return re.sub(r"[ \t\u00a0]+", " ", text).strip()


def fold(text: str) -> str:
    """Letters and digits in lower case: two texts that differ in spaces and marks only are the
    same.
    """
    return re.sub(r"[\W_]+", "", text.lower())


def join_tokens(text: str) -> str:
    """Text out of Penn Treebank tokens."""
    for mark, plain in _MARKS.items():
        text = text.replace(mark, plain)
    for pattern, plain in _SPACING:
        text = re.sub(pattern, plain, text)
    return tidy(text)


def is_chinese(text: str) -> bool:
    return len(CJK.findall(text)) > 0.2 * max(1, len(text))


def make_claim(claim: str, evidence: str, label: int) -> Row:
    return {"task": "sup", "q": tidy(claim), "p": evidence, "y": label}


def make_question(question: str, passage: str, start: int = -1, answer: str = "") -> Row:
    end = start + len(answer) if start >= 0 else -1
    return {"task": "qa", "q": tidy(question), "p": passage, "s": start, "e": end}


def find_sentences(text: str) -> list[tuple[int, int]]:
    found, start = [], 0
    for end in _END.finditer(text):
        if end.end() - start > 8:
            found.append((start, end.end()))
            start = end.end()
    return [*found, (start, len(text))] if text[start:].strip() else found


def drop_sentences(text: str, answer: str) -> str:
    """The text without the sentences that hold the answer."""
    return "".join(
        text[i:j] for i, j in find_sentences(text) if fold(answer) not in fold(text[i:j])
    ).strip()


def draw_window(
    text: str, start: int, end: int, chance: Random, low: int = 150, high: int = 750
) -> tuple[int, int]:
    """Whole sentences around a range, `low` to `high` characters of them."""
    wanted = chance.uniform(low, high) * (CHINESE if is_chinese(text) else 1)
    parts = find_sentences(text)
    first = next((n for n, (i, j) in enumerate(parts) if i <= start < j), 0)
    last = max(first, next((n for n, (i, j) in enumerate(parts) if i < end <= j), first))
    while parts[last][1] - parts[first][0] < wanted and (first > 0 or last < len(parts) - 1):
        if first > 0 and (last == len(parts) - 1 or chance.random() < 0.5):
            first -= 1
        else:
            last += 1
    return parts[first][0], parts[last][1]


def cut_window(text: str, chance: Random, low: int, high: int) -> str:
    """A window somewhere in the text."""
    at = chance.randrange(len(text))
    start, end = draw_window(text, at, at + 1, chance, low, high)
    return text[start:end]


class Ranking:
    """BM25 over some passages, with pairs of Chinese characters for words."""

    def __init__(self, passages: list[str]) -> None:
        self.counts = [Counter(split_words(passage)) for passage in passages]
        self.places: dict[str, list[int]] = defaultdict(list)
        for at, words in enumerate(self.counts):
            for word in words:
                self.places[word].append(at)
        self.lengths = [sum(words.values()) for words in self.counts]
        self.mean = sum(self.lengths) / max(1, len(passages))

    def rank(self, query: str, most: int) -> list[int]:
        scores: dict[int, float] = defaultdict(float)
        for word in sorted(set(split_words(query))):
            places = self.places.get(word, [])
            if len(places) > COMMON:
                continue
            rarity = math.log(1 + (len(self.counts) - len(places) + 0.5) / (len(places) + 0.5))
            for at in places:
                count = self.counts[at][word]
                scores[at] += (
                    rarity
                    * count
                    * 2.2
                    / (count + 1.2 * (0.25 + 0.75 * self.lengths[at] / self.mean))
                )
        return sorted(scores, key=lambda at: (-scores[at], at))[:most]


def split_words(text: str) -> list[str]:
    words = re.findall(r"[\u3400-\u9fff]{1}|[a-z0-9]+", text.lower())
    return words + [one + two for one, two in pairwise(words) if CJK.match(one) and CJK.match(two)]
