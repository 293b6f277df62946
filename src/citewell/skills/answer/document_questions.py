"""Questions that a document's own sentences may answer, made by rule: statements turned round a
figure in them. These are proposals. Only what the pipeline answers from the very sentence is shown
to anybody, so a rule here may be plain, and what it makes of an odd sentence goes nowhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from citewell.text.sentences import detect_language, split_sentences
from citewell.types import Document

LONGEST_SAID = 6  # words between subject and figure that a question takes over
SHORTEST, LONGEST = 12, 110  # characters of a question
LONGEST_ZH = 40
LEAST_BEFORE_ZH = 4  # characters before a figure: who or what has it

_TIME = r"(?:seconds?|minutes?|hours?|(?:working |business |calendar )?days?|weeks?|months?|years?)"
_NUMBER = r"(?:\d[\d.,]*|one|two|three|four|five|six|seven|eight|nine|ten|twelve)"
_BOUND = r"(?:at least |at most |up to |no more than |not more than |about |only |exactly )?"
_DAY = (
    r"(?:\d{1,2}:\d\d|\d{1,2}(?:\.\d\d)? [ap]\.?m\b|\d{1,2}(?:st|nd|rd|th)\b|"
    r"\d{1,2} [A-Z][a-z]{2,}|[A-Z][a-z]+day)"
)
# what asks, and the preposition and figure that it stands for
_FIGURES = (
    ("How often", re.compile(rf"\bevery (?:{_NUMBER} )?{_TIME}\b")),
    ("How long", re.compile(rf"\bfor {_BOUND}{_NUMBER} {_TIME}\b")),
    ("When", re.compile(rf"\b(?:within|after|before) {_BOUND}{_NUMBER} {_TIME}\b")),
    ("When", re.compile(rf"\b(?:by|on|at|from|until) (?:the )?{_DAY}")),
)
_STATED = re.compile(
    r"^(?P<subject>[A-Z][\w'’-]*(?: [\w'’-]+){0,5}?) "
    r"(?P<aux>is|are|was|were|can|must|may|should|will) (?P<rest>.+)$"
)
_DEFINED = re.compile(r"^(?:An? |The )?(?P<name>[A-Z]?[\w'’-]+(?: [\w'’-]+){0,2}) is an? \w")
_HAVING = re.compile(
    rf"^(?P<subject>[A-Z][\w'’-]*(?: [\w'’-]+){{0,3}}?) (?:(?P<aux>can|must|may|should|will) )?"
    rf"(?P<verb>has|have) {_BOUND}{_NUMBER} (?P<noun>[a-z]+s)\b"
)
_CELL = re.compile(r"^(?P<column>[^:]{1,40}): (?P<value>.*\d.*)$")
# the name of a row: words, of which the last stands for itself
_LABEL = re.compile(r"^(?=.{2,40}$)[^\W\d][^:,;()]*(?<! of)(?<! for)(?<! each)(?<! at)(?<! most)$")
_DEPENDENT = re.compile(
    r"^(?:If|When|While|Where|Unless|Until|Although|Because|After|Before|It|This|That|These|Those|"
    r"They|He|She|We|You|My|Our|Your|Its|Their|There|Here|For|In|On|At|By|To|As|Note|And|But|Or)\b"
)
_HAN = re.compile(r"[\u4e00-\u9fff]")
_CLAUSE_ZH = re.compile(r"[^，。；！？：、\s]+")
_FIGURE_ZH = re.compile(
    r"(?<![\d.月年第])(?:\d[\d.,]*|[一二两三四五六七八九十百千]+)\s*"
    r"(个工作日|个月|个小时|小时|分钟|公里|天|(?<!\d{4})年(?!\d)|元|欧元|公斤|千克|位|次|人|米|周|秒|度|倍)半?"
)
_DEPENDENT_ZH = re.compile(r"(?:[的时后内前起间上下中者]|^请.*)$")
# what comes after the noun that a label names
_OF = re.compile(r" (?:of|in|on|at|a|an|per|for|from|to|with|without|by)\b.*")
_MANY = re.compile(r"(?<![sui])s$")


@dataclass(frozen=True, slots=True)
class Proposal:
    """`start`, `end`: the sentence it was made from, in its document."""

    question: str
    start: int
    end: int


def propose_questions(document: Document, most: int) -> list[Proposal]:
    """As many, spread over the document, rows of tables last; a question once."""
    text = document.text
    names = set(re.findall(r"(?<=[a-z,;] )[A-Z][\w'’-]*", text))  # capitals within a sentence
    found: dict[str, Proposal] = {}
    for start, end in split_sentences(text):
        sentence = " ".join(text[start:end].split())
        for question in _ask(sentence, names):
            found.setdefault(question.casefold(), Proposal(question, start, end))
    # what sentences say comes before figures of rows, which ask alike
    made = sorted(found.values(), key=lambda each: " | " in text[each.start : each.end])
    step = max(1.0, len(made) / most)
    return [made[int(n * step)] for n in range(min(most, len(made)))]


def _ask(sentence: str, names: AbstractSet[str]) -> Iterator[str]:
    """The questions that a sentence may answer."""
    chinese = detect_language(sentence) == "zh"
    if " | " in sentence:
        asked = _ask_row(sentence.split(" | "), "zh" if chinese else "en")
    else:
        asked = _ask_chinese(sentence) if chinese else _ask_english(sentence, names)
    shortest, longest = (SHORTEST // 2, LONGEST_ZH) if chinese else (SHORTEST, LONGEST)
    yield from (each for each in asked if shortest <= len(each) <= longest)


def _ask_english(sentence: str, names: AbstractSet[str]) -> Iterator[str]:
    if _DEPENDENT.match(sentence):
        return
    if stated := _STATED.match(sentence):
        subject = _lower(stated["subject"], names)
        for asks, pattern in _FIGURES:
            figure = pattern.search(stated["rest"])
            said = stated["rest"][: figure.start()].strip() if figure else ","
            if not re.search(r"[,;:(]", said) and len(said.split()) <= LONGEST_SAID:
                yield " ".join(filter(None, [asks, stated["aux"], subject, said])) + "?"
                return
    if having := _HAVING.match(sentence):
        does = having["aux"] or ("does" if having["verb"] == "has" else "do")
        yield f"How many {having['noun']} {does} {_lower(having['subject'], names)} have?"
    if defined := _DEFINED.match(sentence):
        yield f"What is {_lower(defined[0].rpartition(' is ')[0], names)}?"


def _ask_row(cells: Sequence[str], lang: str) -> Iterator[str]:
    """A figure of a row that has a name, by that and the name of its column, where it has two."""
    label, *others = cells
    figures = [cell for each in others if (cell := _CELL.match(each))]
    if not figures or not _LABEL.match(label):
        return
    column = figures[0]["column"] if len(others) > 1 else ""
    if lang == "zh":
        yield f"{column}的{label}是多少？" if column else f"{label}是多少？"
    else:
        verb = "are" if _MANY.search(_OF.sub("", label)) else "is"
        yield f"What {verb} the {_lower(label, set())}{f' for {column}' if column else ''}?"


def _lower(subject: str, names: AbstractSet[str]) -> str:
    """As it stands within a sentence: names keep their capitals."""
    first = subject.split(maxsplit=1)[0]
    if (first not in {"A", "An", "The"} and first in names) or first[1:].lower() != first[1:]:
        return subject
    return subject[0].lower() + subject[1:]


def _ask_chinese(sentence: str) -> Iterator[str]:
    """What is asked stands where its answer does, so the figure alone is replaced."""
    for clause in _CLAUSE_ZH.findall(sentence)[:1]:
        figure = _FIGURE_ZH.search(clause)
        asked = figure and _HAN.match(clause) and figure.start() >= LEAST_BEFORE_ZH
        if figure and asked and not _DEPENDENT_ZH.search(clause):
            unit = figure[1]
            asks = f"几{unit}" if unit.startswith("个") else f"多少{unit}"
            yield clause[: figure.start()] + asks + clause[figure.end() :] + "？"
