"""Questions on a paragraph, with the range of the answer or without one.

A question without an answer was asked by people (`kind` human_na), or it is made here: the
sentences that hold the answer are taken out (removed), or the paragraph is another one of those
most like the question (near). Where question and paragraph are of two languages, the kind begins
with "x-". The one rule: a paragraph is cut to whole sentences; the hand-written items of `more/`
name these windows by their digest.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from random import Random
from typing import NamedTuple

from mirrors import Texts
from rows import Row
from text import (
    Ranking,
    cut_window,
    draw_window,
    drop_sentences,
    fold,
    join_tokens,
    make_question,
    split_words,
    tidy,
)

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
            questions = (
                []
                if len(passage) != len(part["context"])
                else list(read_questions(passage, part["qas"], convert))
            )
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


def read_questions(
    passage: str, items: list[Row], convert: Callable[[str], str]
) -> Iterator[Question]:
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


def convert_squad(
    texts: Texts, chance: Random, lang: str = "en", removed: float = 0.2, near: float = 0.25
) -> Iterator[Row]:
    """Sets in SQuAD's form. `removed`, `near`: shares of the questions that also stand without
    their answer.
    """
    yield from draw_windows(read_paragraphs(texts, lang), chance, lang, removed, near)


def convert_quoref(texts: Texts, chance: Random) -> Iterator[Row]:
    """Contrast sets, without the questions that have several answers."""
    articles = [article for text in texts.values() for article in json.loads(text)["data"]]
    for part in (part for article in articles for part in article["paragraphs"]):
        part["qas"] = [item for item in part["qas"] if len(item["answers"]) == 1]
    yield from convert_squad({"": json.dumps({"data": articles})}, chance, removed=0.1, near=0.1)


def convert_told(
    texts: Texts, chance: Random, removed: float = 0.15, near: float = 0.2
) -> Iterator[Row]:
    """Sets that tell the words of an answer and not its place."""
    yield from draw_windows(read_told_paragraphs(texts.values()), chance, "en", removed, near)


def read_told_paragraphs(texts: Iterable[str]) -> list[Paragraph]:
    """Paragraphs with the questions whose answer stands in them once."""
    found = dict[str, list[Question]]()
    for passage, question, answer in (item for text in texts for item in read_told(text)):
        if answer and passage.count(answer) == 1:
            found.setdefault(passage, []).append(Question(question, passage.index(answer), answer))
    return [Paragraph(*item) for item in found.items()]


def read_told(text: str) -> Iterator[tuple[str, str, str]]:
    """Passage, question and answer: of SQuAD's form (also cut off), of a list of passages, of
    Natural Instructions.
    """
    if text.startswith('{"data"'):
        for part in read_squad(text):
            asked = (item for item in part["qas"] if item["answers"])
            yield from (
                (part["context"], item["question"], item["answers"][0]["text"]) for item in asked
            )
        return
    data = json.loads(text)
    for part in data if isinstance(data, list) else ():
        yield from (
            (part["context"], item["question"], item["answer"].strip())
            for item in part.get("qas", part.get("questions"))
        )
    for item in data["Instances"] if isinstance(data, dict) else ():
        passage, _, question = item["input"].removeprefix("Passage: ").rpartition("\nQuestion: ")
        yield passage.strip(), question, item["output"][0].strip().removesuffix(".")


def convert_stories(
    texts: Texts, chance: Random, removed: float = 0.1, near: float = 0.2
) -> Iterator[Row]:
    """CMRC 2017: a Chinese story in tokens and a question that one word answers, which stands in
    the line most like it.
    """
    convert, (asked, told) = load_simplifier(), texts.values()
    answers = dict(line.split(" ||| ") for line in told.splitlines())
    paragraphs, story = list[Paragraph](), list[str]()
    for name, text in (line.split(" ||| ", 1) for line in asked.splitlines() if " ||| " in line):
        if not name.startswith("<"):
            story.append(convert(text.replace(" ", "")))
            continue
        question, answer = (convert(part.replace(" ", "")) for part in (text, answers[name]))
        if (start := find_in_lines(story, question, answer)) >= 0:
            paragraphs.append(Paragraph("".join(story), [Question(question, start, answer)]))
        story = []
    yield from draw_windows(paragraphs, chance, "zh", removed, near)


def find_in_lines(lines: list[str], question: str, answer: str) -> int:
    """Where the answer stands: in the line that shares most words with the question, there only
    once; -1: nowhere.
    """
    words = set(split_words(question))
    shared = [
        len(words.intersection(split_words(line))) if line.count(answer) == 1 else 0
        for line in lines
    ]
    best = max(range(len(lines)), key=shared.__getitem__)
    return sum(map(len, lines[:best])) + lines[best].index(answer) if shared[best] > 1 else -1


def convert_mlqa(
    texts: Texts, chance: Random, across: bool = False, removed: float = 0.12, near: float = 0.15
) -> Iterator[Row]:
    """Questions that people translated: on a passage of their own language, or of the other one
    (`across`).

    The like passages are found by the question in the passage's language.
    """
    asked, passages = read_mlqa(texts)
    for lang, other in (("en", "zh"), ("zh", "en")):
        own, wanted = asked[lang], asked[other if across else lang]
        known = own.keys() & wanted.keys()
        paragraphs = [
            Paragraph(
                passage,
                [Question(own[name], *place) for name, place in places.items() if name in known],
            )
            for passage, places in passages[lang].items()
        ]
        names = {tidy(question): name for name, question in own.items()}
        for row in draw_windows(paragraphs, chance, lang, removed, near):
            asked_as = (
                {"q": tidy(wanted[names[row["q"]]]), "kind": f"x-{row['kind']}"} if across else {}
            )
            yield row | asked_as | {"lang": lang}


def read_mlqa(
    texts: Texts,
) -> tuple[dict[str, dict[str, str]], dict[str, dict[str, dict[str, tuple[int, str]]]]]:
    """English and Chinese questions by name; places of the answers by passage and name of the
    question.
    """
    asked = dict[str, dict[str, str]](en={}, zh={})
    passages = dict[str, dict[str, dict[str, tuple[int, str]]]](en={}, zh={})
    for path, text in texts.items():
        _, _, lang, _, question_lang = path.removesuffix(".json").rsplit("/", 1)[-1].split("-")
        for part in read_squad(text):
            for item in part["qas"]:
                if question_lang in asked:
                    asked[question_lang][item["id"]] = item["question"]
                start, answer = item["answers"][0]["answer_start"], item["answers"][0]["text"]
                if (
                    lang in passages
                    and answer.strip()
                    and part["context"][start : start + len(answer)] == answer
                ):
                    passages[lang].setdefault(part["context"], {})[item["id"]] = start, answer
    return asked, passages


def draw_windows(
    paragraphs: list[Paragraph], chance: Random, lang: str, removed: float, near: float
) -> Iterator[Row]:
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
                others = [
                    other for other in alike if other != text and fold(answer) not in fold(other)
                ][:4]
                if others:
                    yield make_window(
                        question, cut_window(chance.choice(others), chance, 250, 750), kind="near"
                    )


def make_window(
    question: str, passage: str, start: int = -1, answer: str = "", kind: str = ""
) -> Row:
    """A row without the spaces around its passage."""
    shift = len(passage) - len(passage.lstrip()) if start >= 0 else 0
    return make_question(question, passage.strip(), start - shift, answer) | {"kind": kind}


def convert_pairs(texts: Texts, chance: Random) -> Iterator[Row]:
    """Twins by people whose paragraphs are in other files; both in lower case where nothing says
    how the second was written.
    """
    first, second, written, *others = texts.values()
    answered, unanswered = (
        [line.split("\t")[1] for line in text.splitlines()] for text in (first, second)
    )
    cased = {fold(text): text for text in (line.split("\t")[1] for line in written.splitlines())}
    twins = {fold(one): other for one, other in zip(answered, unanswered, strict=True)}
    for text, questions in read_told_paragraphs(others):
        for question, start, answer in questions:
            if twin := twins.get(fold(question)):
                low, high = draw_window(text, start, start + len(answer), chance, 300, 900)
                known = cased.get(fold(twin))
                yield make_window(
                    question if known else question.lower(),
                    text[low:high],
                    start - low,
                    answer,
                    "pos",
                )
                yield make_window(join_question(known or twin), text[low:high], kind="human_na")


def join_question(tokens: str) -> str:
    return re.sub(r"(?<=\d), (?=\d{3}\b)", ",", join_tokens(tokens))


def convert_unansq(texts: Texts, chance: Random) -> Iterator[Row]:
    """Twins by people: one paragraph, a question with and one without an answer; lower case, text
    out of tokens.
    """
    parts = ([line.split("\t") for line in text.splitlines()] for text in texts.values())
    for (passage, *_), answered, unanswered in zip(*parts, strict=True):
        words, first, last = (
            passage.split(" "),
            int(answered[2]),
            max(int(answered[2]), int(answered[3])),
        )
        begin, stop = len(" ".join([*words[:first], ""])), len(" ".join(words[: last + 1]))
        text, start, end = join_marked(passage, begin, stop)
        if start >= end:
            continue
        low, high = draw_window(text, start, end, chance, 300, 900)
        if low <= start and end <= high:
            yield make_window(
                join_tokens(answered[1]), text[low:high], start - low, text[start:end], "pos"
            )
            yield make_window(join_tokens(unanswered[1]), text[low:high], kind="human_na")


def convert_qed(
    texts: Texts, chance: Random, removed: float = 0.15, near: float = 0.25
) -> Iterator[Row]:
    """Natural Questions with the paragraph that answers them, where one answer does; text out of
    tokens.
    """
    found = dict[str, list[Question]]()
    for item in (json.loads(line) for text in texts.values() for line in text.splitlines()):
        if len(item["answer_spans"]) == 1:
            passage, start, end = join_marked(item["paragraph_text"], *item["answer_spans"][0])
            if start < end:
                found.setdefault(passage, []).append(
                    Question(join_tokens(item["question_text"]), start, passage[start:end])
                )
    yield from draw_windows(
        [Paragraph(*item) for item in found.items()], chance, "en", removed, near
    )


def join_marked(tokens: str, start: int, end: int) -> tuple[str, int, int]:
    """Text out of tokens, and the range in it that was `start` to `end` in them; an empty one where
    it is lost.
    """
    marked = join_tokens(f"{tokens[:start]}{MARK}{tokens[start:end]}{MARK}{tokens[end:]}")
    if marked.count(MARK) != 2:
        return "", 0, 0
    first, last, text = marked.index(MARK), marked.rindex(MARK) - 1, marked.replace(MARK, "")
    return text, first + len(text[first:last]) - len(text[first:last].lstrip(" ")), last
