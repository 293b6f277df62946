"""More of SQuAD 2.0's train: paragraphs, and the questions that stand in other files without them.

Such a question has an id, and the ids of what one person wrote about one paragraph follow one
another. The one rule: what was asked of one paragraph, with and without an answer, is asked of one
window of it, as far as the answers lie near each other.
"""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from random import Random
from typing import NamedTuple

from mirrors import Texts
from prompts import place_answer, read_prompts
from qa import Question, join_question, make_window, read_questions, read_squad, read_told
from rows import Row
from text import Ranking, draw_window, fold, split_words

Names = dict[str, str]  # id of a question: its text, or its paragraph, folded
REACH = 900  # characters of a window that has several answers
SHORTEST = 16  # letters of a question that is known again by its text
SECOND, WRITER, COUNTER = slice(8), slice(8, 18), slice(18, 24)  # digits of an id
STEP, SECONDS = 2, 1  # from one id of a run to the next, at most
RARE = 200  # passages that hold a word which finds a paragraph
# Share of a run's words, rare ones counting more, that its paragraph holds, and how much more than
# the next one. Of 600 runs whose ids tell the paragraph 341 are found so, all on the right one;
# with their paragraphs taken away 3 are put on another.
COVERED, AHEAD = 0.55, 0.1


class Told(NamedTuple):
    """What a file says about a paragraph."""

    passage: str
    asked: str
    name: str = ""  # id
    placed: Question | None = None  # missing where nobody says where the answer is


class Bank(NamedTuple):
    """Questions without paragraphs."""

    answered: Names
    unanswered: Names
    twins: list[tuple[str, str]]  # of both kinds, on one paragraph


def convert_more(texts: Texts, chance: Random, held: Sequence[str]) -> Iterator[Row]:
    """`held`: files whose questions other sets hold, and so their twins."""
    first, second, written, *_ = texts.values()
    bank = read_bank(first, second, written)
    told = {path: [*read_file(path, text)] for path, text in [*texts.items()][3:]}
    everything = [item for items in told.values() for item in items]
    taken = {(fold(item.passage), fold(item.asked)) for path in held for item in told[path]}
    passages = {fold(item.passage): item.passage for item in reversed(everything)}
    asked = defaultdict[str, dict[str, Question]](dict)  # by paragraph and text, both folded
    for item in everything:
        passage, text = fold(item.passage), fold(item.asked)
        if item.placed and (passage, text) not in taken:
            asked[passage].setdefault(text, item.placed)
    places = place_ids(bank, everything)
    find_paragraphs(bank, places, passages)
    for name in find_unanswered(bank, places, taken):
        text = bank.unanswered[name]
        asked[places[name]].setdefault(fold(text), Question(text, -1, ""))
    for passage, questions in asked.items():
        yield from draw_windows(passages[passage], [*questions.values()], chance)


def read_bank(first: str, second: str, written: str) -> Bank:
    """`first`, `second`: twins, line by line; `written`: every question without an answer."""
    one, other = ([line.split("\t") for line in text.splitlines()] for text in (first, second))
    unanswered = (line.split("\t") for line in written.splitlines()[1:])
    return Bank(
        {name: join_question(text) for name, text, *_ in one},
        {name: join_question(text) for name, text, *_ in unanswered},
        [(answered[0], unanswered[0]) for answered, unanswered in zip(one, other, strict=True)],
    )


def read_file(path: str, text: str) -> Iterator[Told]:
    """Prompts, a list of passages, or a file in SQuAD's form; of Natural Instructions the
    paragraphs, since what is asked of them is another set's.
    """
    if path.rpartition("/")[2].startswith(("answerable", "unanswerable")):
        for passage, asked, answer in read_prompts(path, text):
            yield Told(passage, asked, placed=place_answer(passage, asked, answer))
    elif path.startswith("data/tasks/"):
        for item in json.loads(text)["Instances"]:
            yield Told(item["input"].rpartition(" Question: ")[0].strip(), "")
    elif text.startswith("["):
        for passage, asked, answer in read_told(text):
            yield Told(passage, asked, placed=place_answer(passage, asked, answer))
    else:
        for part in read_squad(text):
            for item in part["qas"]:
                placed = next(read_questions(part["context"], [item], str), None)
                yield Told(part["context"], item["question"], item["id"], placed)


def place_ids(bank: Bank, told: list[Told]) -> Names:
    """The paragraph (folded) of each question whose own is known: by its id, its text, its twin, or
    the run that its id is in.
    """
    texts = {item.name: item.asked for item in told if item.name} | bank.answered | bank.unanswered
    named = defaultdict[str, list[str]](list)
    for name, text in texts.items():
        named[fold(text)].append(name)
    places = {item.name: fold(item.passage) for item in told if item.name}
    for item in told:
        names = named[fold(item.asked)]
        if len(names) == 1 and len(fold(item.asked)) >= SHORTEST:
            places.setdefault(names[0], fold(item.passage))
    both_ways = [*bank.twins, *((other, one) for one, other in bank.twins), *bank.twins]
    for one, other in both_ways:
        if one in places:
            places.setdefault(other, places[one])
    for run in find_runs(texts):
        found = {places[name] for name in run if name in places}
        if len(found) == 1:
            places |= dict.fromkeys(run, *found)
    return places


def find_runs(names: Names) -> Iterator[list[str]]:
    """Ids that follow one another."""
    run = list[str]()
    for name in sorted(names, key=lambda name: int(name, 16)):
        if run and not is_next(run[-1], name):
            yield run
            run = []
        run.append(name)
    yield run


def find_paragraphs(bank: Bank, places: Names, passages: Names) -> None:
    """Places runs of several questions on the paragraph that holds their words."""
    names, texts = [*passages], bank.answered | bank.unanswered
    words = [set(split_words(passages[name])) for name in names]
    holders = defaultdict[str, list[int]](list)
    for at, held in enumerate(words):
        for word in held:
            holders[word].append(at)
    weights = {word: math.log(1 + len(names) / len(found)) for word, found in holders.items()}
    unknown = math.log(1 + len(names))
    for run in find_runs(texts):
        if len(run) > 1 and not any(name in places for name in run):
            asked = {word for name in run for word in split_words(texts[name])}
            whole = sum(weights.get(word, unknown) for word in asked)
            rare = [word for word in asked if len(holders.get(word, ())) <= RARE]
            shares = sorted(
                (sum(weights[word] for word in asked & words[at]) / whole, at)
                for at in {at for word in rare for at in holders.get(word, ())}
            )
            if shares and shares[-1][0] >= COVERED:
                second = shares[-2][0] if len(shares) > 1 else 0.0
                if shares[-1][0] - second >= AHEAD:
                    places |= dict.fromkeys(run, names[shares[-1][1]])


def is_next(one: str, other: str) -> bool:
    later, further = (int(other[part], 16) - int(one[part], 16) for part in (SECOND, COUNTER))
    return one[WRITER] == other[WRITER] and later <= SECONDS and 0 < further <= STEP


def find_unanswered(bank: Bank, places: Names, taken: set[tuple[str, str]]) -> Iterator[str]:
    """Ids of those on a known paragraph that no other set holds."""
    twins = {
        other
        for one, other in bank.twins
        if one in places and (places[one], fold(bank.answered[one])) in taken
    }
    for name, text in bank.unanswered.items():
        if name in places and name not in twins and (places[name], fold(text)) not in taken:
            yield name


def draw_windows(passage: str, questions: list[Question], chance: Random) -> Iterator[Row]:
    """One window for all, or as many as the answers need; without an answer in the one that is most
    like the question.
    """
    left = sorted((item for item in questions if item.start >= 0), key=lambda item: item.start)
    windows = list[str]()
    while left:
        begin, end = left[0].start, find_end(left[0])
        last = max(found for found in map(find_end, left) if found <= max(end, begin + REACH))
        low, high = draw_window(passage, begin, last, chance, 500, 1000)
        inside = [item for item in left if item.start >= low and find_end(item) <= high]
        for item in inside:
            yield make_window(item.text, passage[low:high], item.start - low, item.answer, "pos")
        windows.append(passage[low:high])
        left = [item for item in left if item not in inside]
    windows = windows or [passage[slice(*draw_window(passage, 0, 1, chance, 500, 1100))]]
    ranking = Ranking(windows)
    for item in questions:
        if item.start < 0:
            best = next(iter(ranking.rank(item.text, 1)), 0)
            yield make_window(item.text, windows[best], kind="human_na")


def find_end(question: Question) -> int:
    return question.start + len(question.answer)
