"""Prompts that were made of other sets: a passage, a question, and the answer's words, or none.

The one rule: an answer whose words stand in the passage once, as whole words, is told; another one
is not looked for.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from random import Random

from mirrors import Texts
from qa import Question, make_window
from rows import Row
from text import Ranking, draw_window

APART = 400  # characters between two windows of which the one most like the question is taken
_PROMPT = re.compile(r"Passage: (.*)\n\s*Question: (.*?)\s*\n\s*Answer: $", re.DOTALL)


def read_prompts(path: str, text: str) -> Iterator[tuple[str, str, str]]:
    """Passage, question and answer; an empty one where the passage has none, as the file's name
    says.
    """
    answerable = not path.rpartition("/")[2].startswith("unanswerable")
    for item in json.loads(text):
        found, answer = _PROMPT.search(item["instruction"]), item["gt_answer"].strip()
        if found and (answer or not answerable):
            passage = found[1].replace("_BALANCED_", "").strip()
            yield passage, found[2].strip(), answer if answerable else ""


def place_answer(passage: str, question: str, answer: str) -> Question | None:
    """None where the words of an answer stand there never or more than once."""
    if not answer:
        return Question(question, -1, "")
    words = re.escape(answer.removesuffix("."))
    found = [*re.finditer(rf"(?<!\w){words}(?!\w)", passage, re.IGNORECASE)]
    return Question(question, found[0].start(), found[0][0]) if len(found) == 1 else None


def convert_prompts(texts: Texts, chance: Random) -> Iterator[Row]:
    """A window around the answer, or the one most like the question, so that it is no easy
    refusal.
    """
    asked = (item for path, text in texts.items() for item in read_prompts(path, text))
    for passage, question, answer in asked:
        placed = place_answer(passage, question, answer)
        if not placed:
            continue
        kind, end = "pos" if answer else "human_na", placed.start + len(placed.answer)
        if answer:
            low, high = draw_window(passage, placed.start, end, chance, 400, 1100)
            yield make_window(question, passage[low:high], placed.start - low, placed.answer, kind)
        else:
            yield make_window(question, find_nearest(passage, question, chance), kind=kind)


def find_nearest(passage: str, question: str, chance: Random) -> str:
    """The window of a passage that is most like a question."""
    places = {
        draw_window(passage, at, at + 1, chance, 500, 1100): None
        for at in range(0, len(passage), APART)
    }
    windows = [passage[low:high] for low, high in places]
    return windows[next(iter(Ranking(windows).rank(question, 1)), 0)]
