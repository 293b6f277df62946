"""What looks at earlier messages reads the longest one that a request may bring in one pass."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from tests.timing import cpu_seconds

from citewell.service.ask.run import LONGEST_MESSAGE
from citewell.skills.answer.draft import stream_texts
from citewell.skills.answer.question_parts import split_question
from citewell.skills.dialogue.reference import (
    build_readings,
    find_antecedents,
    is_follow_up,
    join_earlier_questions,
)
from citewell.skills.dialogue.route import strip_web_request
from citewell.skills.memory.remember import extract_stated_facts
from citewell.skills.proof.exact import check_equation
from citewell.text.dates import extract_dates
from citewell.text.entities import extract_entities
from citewell.text.facts import extract_facts, extract_names, strip_figures_and_negations
from citewell.types import Message

UNITS = [
    "A ",
    "a.",
    "<think>",
    "\n",
    " ",
    "(",
    "“",
    "1,",
    "may ",
    "may 1\n",
    "A和",
    "一",
    "I am ",
    "呢",
    "A-",
    "，",
]


def _history(text: str) -> list[Message]:
    return [Message(role="user", content=text), Message(role="assistant", content=text)]


READ: dict[str, Callable[[str], object]] = {
    "candidates": lambda text: find_antecedents("How much is it?", _history(text)),
    "readings": lambda text: build_readings("How much is it?", _history(text)),
    "joined": lambda text: join_earlier_questions("How much is it?", _history(text)),
    "depends": lambda text: is_follow_up(text, _history(text)),
    "facts": extract_facts.__wrapped__,
    "names": extract_names,
    "plain words": strip_figures_and_negations,
    "dates": extract_dates,
    "entities": extract_entities,
    "told": extract_stated_facts,
    "request": lambda text: strip_web_request(f"search online {text} search"),
    "questions": split_question,
    "equation": check_equation,
    "stream": lambda text: stream_texts(lambda _: None)(f'{{"sentences": [{{"text": "{text}'),
}


@pytest.mark.parametrize("reads", READ)
def test_in_one_pass(reads: str) -> None:
    """Far less than a second (all that took the square of it took seconds); 0.01 to 0.14 where they
    were measured.
    """
    for unit in UNITS:
        text = (unit * LONGEST_MESSAGE)[:LONGEST_MESSAGE]
        assert cpu_seconds(lambda text=text: READ[reads](text), tries=1) < 0.8, unit  # type: ignore[misc]


def test_an_earlier_question_is_read_from_its_beginning() -> None:
    before = [Message(role="user", content="A100 and B200: which is lighter? " + "x" * 10_000)]
    assert find_antecedents("How much does it cost?", before) == ["A100", "B200"]
    assert len(join_earlier_questions("And it?", before)) < 2_100


def test_endless_figures_are_a_number() -> None:
    assert extract_facts("一" * 5_000).numbers
