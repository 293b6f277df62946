"""Questions on a paragraph, with the range of the answer or without one.

A question without an answer was asked by people (`kind` human_na), or it is made here: the sentences that hold the answer
are taken out (removed), or the paragraph is another one of those most like the question (near).
The one rule: a paragraph is cut to whole sentences; the hand-written items of `more/` name these windows by their digest.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from random import Random
from typing import NamedTuple

from mirrors import Texts
from rows import Row
from text import Ranking, cut_window, draw_window, drop_sentences, fold, join_tokens, make_question

SHORTEST = {"en": 0, "zh": 30}  # characters of a paragraph
SHORTEST_REST = {"en": 150, "zh": 50}  # of one that lost its answer
MARK = "\u241f"


class Question(NamedTuple):
    text: str
    start: int  # -1: the paragraph does not answer it
    answer: str


class Paragraph(NamedTuple):
    text: str
    questions: list[Question]


def load_simplifier() -> Callable[[str], str]:
    """Traditional characters into simplified ones."""
    from opencc import OpenCC

    convert: Callable[[str], str] = OpenCC("t2s").convert
    return convert


def read_paragraphs(texts: Texts, lang: str) -> list[Paragraph]:
    """All paragraphs of files in SQuAD's form; those of DRCD in simplified characters."""
    found = list[Paragraph]()
    for path, text in texts.items():
        convert = load_simplifier() if "DRCD" in path else str
        for part in read_squad(text):
            passage = convert(part["context"])
            questions = [] if len(passage) != len(part["context"]) else list(read_questions(passage, part["qas"], convert))
            if questions and len(passage) >= SHORTEST[lang]:
                found.append(Paragraph(passage, questions))
    return found


def read_squad(text: str) -> Iterator[Row]:
    """The paragraphs of a file, also of one that is cut off."""
    try:
        yield from (part for article in json.loads(text)["data"] for part in article["paragraphs"])
    except json.JSONDecodeError:
        decoder, end = json.JSONDecoder(), 0
        for found in re.finditer(r'\{"context": ', text):
            if found.start() >= end:
                try:
                    part, end = decoder.raw_decode(text, found.start())
                except json.JSONDecodeError:
                    return
                yield part


def read_questions(passage: str, items: list[Row], convert: Callable[[str], str]) -> Iterator[Question]:
    for item in items:
        question = convert(item["question"]).strip()
        if item.get("is_impossible"):
            yield Question(question, -1, "")
        elif item["answers"]:
            first = item["answers"][0] if isinstance(item["answers"], list) else item["answers"]
            start, answer = first["answer_start"], convert(first["text"])
            if passage[start : start + len(answer)] != answer:
                start = passage.find(answer)
            if start >= 0 and answer.strip():
                yield Question(question, start + len(answer) - len(answer.lstrip()), answer.strip())


def convert_squad(texts: Texts, chance: Random, lang: str = "en", removed: float = 0.2, near: float = 0.25) -> Iterator[Row]:
    """Sets in SQuAD's form. `removed`, `near`: shares of the questions that also stand without their answer."""
    yield from draw_windows(read_paragraphs(texts, lang), chance, lang, removed, near)


def convert_quoref(texts: Texts, chance: Random) -> Iterator[Row]:
    """Contrast sets, without the questions that have several answers."""
    articles = [article for text in texts.values() for article in json.loads(text)["data"]]
    for part in (part for article in articles for part in article["paragraphs"]):
        part["qas"] = [item for item in part["qas"] if len(item["answers"]) == 1]
    yield from convert_squad({"": json.dumps({"data": articles})}, chance, removed=0.1, near=0.1)


def draw_windows(paragraphs: list[Paragraph], chance: Random, lang: str, removed: float, near: float) -> Iterator[Row]:
    ranking = Ranking([paragraph.text for paragraph in paragraphs])
    for text, questions in paragraphs:
        for question, start, answer in questions:
            if start < 0:
                first, end = draw_window(text, 0, 1, chance, 500, 1100)
                yield make_window(question, text[first:end], kind="human_na")
                continue
            first, end = draw_window(text, start, start + len(answer), chance)
            yield make_window(question, text[first:end], start - first, answer, "pos")
            drawn = chance.random()
            if drawn < removed:
                rest = drop_sentences(text, answer)
                if len(rest) > SHORTEST_REST[lang]:
                    yield make_window(question, cut_window(rest, chance, 250, 750), kind="removed")
            elif drawn < removed + near:
                alike = (paragraphs[at].text for at in ranking.rank(question, 8))
                others = [other for other in alike if other != text and fold(answer) not in fold(other)][:4]
                if others:
                    yield make_window(question, cut_window(chance.choice(others), chance, 250, 750), kind="near")


def make_window(question: str, passage: str, start: int = -1, answer: str = "", kind: str = "") -> Row:
    """A row without the spaces around its passage."""
    shift = len(passage) - len(passage.lstrip()) if start >= 0 else 0
    return make_question(question, passage.strip(), start - shift, answer) | {"kind": kind}


def convert_unansq(texts: Texts, chance: Random) -> Iterator[Row]:
    """Twins by people: one paragraph, a question with and one without an answer; lower case, text out of tokens."""
    parts = ([line.split("\t") for line in text.splitlines()] for text in texts.values())
    for (passage, *_), answered, unanswered in zip(*parts, strict=True):
        words, start, end = passage.split(" "), int(answered[2]), max(int(answered[2]), int(answered[3]))
        words[start] = MARK + words[start]
        words[end] += MARK
        marked = join_tokens(" ".join(words))
        if marked.count(MARK) != 2:
            continue
        start, end, text = marked.index(MARK), marked.rindex(MARK) - 1, marked.replace(MARK, "")
        start += len(text[start:end]) - len(text[start:end].lstrip(" "))
        if start >= end:
            continue
        low, high = draw_window(text, start, end, chance, 300, 900)
        if low <= start and end <= high:
            yield make_window(join_tokens(answered[1]), text[low:high], start - low, text[start:end], "pos")
            yield make_window(join_tokens(unanswered[1]), text[low:high], kind="human_na")
