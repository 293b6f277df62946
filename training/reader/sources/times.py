"""Questions about a time: who held an office in a year, where somebody worked from one to another.

The one rule: pages are made text out of tokens before a window is cut, so that it ends where a
sentence does.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator
from random import Random

from mirrors import Texts
from qa import Question, join_marked, make_window
from rows import Row
from text import draw_window, fold, join_tokens

NEAR = 3  # characters that a place may be off
LONG_WORD = 4  # letters of a word by which an answer is known again


def convert_timeqa(texts: Texts, chance: Random, near: float = 0.6) -> Iterator[Row]:
    """Questions that people wrote, with one answer or none. `near`: share of them that are also
    asked of a window of the page that has no word of the answer.
    """
    pages = defaultdict[str, list[Row]](list)
    for item in (json.loads(line) for text in texts.values() for line in text.splitlines()):
        pages[item["context"].replace(" - ", " – ")].append(item)  # between the items of a list
    for tokens, items in pages.items():
        page, windows = join_tokens(tokens), list[str]()
        placed = [*read_placed(tokens, page, items)]
        for question, start, answer in placed:
            low, high = draw_window(page, start, start + len(answer), chance, 400, 1000)
            windows.append(page[low:high])
            yield make_window(question, page[low:high], start - low, answer, "pos")
        others = windows or [page[slice(*draw_window(page, 0, 1, chance, 500, 1000))]]
        for item in items:
            if item["targets"] == [""]:
                question = join_tokens(item["question"])
                yield make_window(question, chance.choice(others), kind="human_na")
        for question, _, answer in placed:
            far = [window for window in windows if not has_word(window, answer)]
            if far and chance.random() < near:
                yield make_window(question, chance.choice(far), kind="near")


def read_placed(tokens: str, page: str, items: list[Row]) -> Iterator[Question]:
    """The questions of a page that have one answer, and where it is in the text."""
    for item in items:
        if len(item["targets"]) == 1 and item["targets"] != [""]:
            answer, start = item["targets"][0], item["from"][0]
            if tokens[start : start + len(answer)] != answer:
                start = tokens.find(answer, max(0, start - NEAR))
            marked, first, last = join_marked(tokens, start, start + len(answer))
            answer = marked[first:last].strip()
            at = page.find(answer, max(0, first - NEAR))
            if start >= 0 and answer and 0 <= at <= first + NEAR:
                yield Question(join_tokens(item["question"]), at, answer)


def has_word(text: str, answer: str) -> bool:
    """Whether a text has the answer, or a longer word of it."""
    return fold(answer) in fold(text) or any(
        len(word) >= LONG_WORD and word in text for word in answer.split()
    )
